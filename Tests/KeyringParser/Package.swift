// swift-tools-version: 6.2
import PackageDescription

/// What `Tests/keyring-parser` builds with the sanitizer of addresses: a package of its own, so that only the
/// library is built so.
let package = Package(
    name: "KeyringParser",
    dependencies: [.package(name: "Coffer", path: "../..")],
    targets: [
        .executableTarget(name: "KeyringParser", dependencies: [.product(name: "Coffer", package: "Coffer")])
    ],
    swiftLanguageModes: [.v6]
)
