// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Minimal",
    dependencies: [.package(name: "Coffer", path: "../../..")],
    targets: [.executableTarget(name: "Minimal", dependencies: [.product(name: "Coffer", package: "Coffer")])]
)
