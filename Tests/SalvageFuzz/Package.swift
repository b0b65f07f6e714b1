// swift-tools-version: 6.2
import PackageDescription

// A separate package, because it is built with the address sanitizer: see Tests/salvage-fuzz.
let package = Package(
    name: "SalvageFuzz",
    dependencies: [.package(name: "Coffer", path: "../..")],
    targets: [
        .executableTarget(
            name: "SalvageFuzz", dependencies: [.product(name: "Coffer", package: "Coffer")], path: "Sources")
    ],
    swiftLanguageModes: [.v6]
)
