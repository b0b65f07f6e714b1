// swift-tools-version: 6.0
import PackageDescription

/// A package for GRDB that leaves plaintext, so that `Tests/clients --self-test` can check that it is found.
let package = Package(
    name: "Leaky",
    dependencies: [.package(url: "https://github.com/groue/GRDB.swift", from: "7.6.0")],
    targets: [
        .executableTarget(name: "Leaky", dependencies: [.product(name: "GRDB", package: "GRDB.swift")])
    ]
)
