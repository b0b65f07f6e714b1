// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Demo",
    dependencies: [.package(name: "Coffer", path: "../..")],
    targets: [
        .executableTarget(name: "Demo", dependencies: [.product(name: "Coffer", package: "Coffer")]),
        // Three tasks observe a file while another one writes.
        .executableTarget(name: "Leaderboard", dependencies: [.product(name: "Coffer", package: "Coffer")]),
    ],
    swiftLanguageModes: [.v6]
)
