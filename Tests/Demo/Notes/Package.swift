// swift-tools-version: 6.2
import PackageDescription

/// A service with an encrypted database for each of its tenants.
let package = Package(
    name: "Notes",
    dependencies: [
        .package(name: "Coffer", path: "../../..", traits: ["Services"]),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .target(
            name: "Notes",
            dependencies: [
                .product(name: "Coffer", package: "Coffer"),
                .product(name: "CofferServices", package: "Coffer"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),
        .executableTarget(
            name: "NotesServer",
            dependencies: [
                "Notes", .product(name: "Coffer", package: "Coffer"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "NotesTests",
            dependencies: [
                "Notes", .product(name: "Coffer", package: "Coffer"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
