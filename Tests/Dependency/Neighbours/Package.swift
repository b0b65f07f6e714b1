// swift-tools-version: 6.2
import PackageDescription

/// Programs that combine Coffer with a plain libsqlite3, in both link orders, and with direct calls to its
/// own engine.
let package = Package(
    name: "Neighbours",
    dependencies: [.package(name: "Coffer", path: "../../..")],
    targets: [
        .target(name: "Proof", dependencies: [.product(name: "Coffer", package: "Coffer")]),
        .target(name: "Neighbour"),
        .systemLibrary(name: "PlainSQLite"),
        // A library that a target requests is linked after the libraries that its modules request.
        .executableTarget(
            name: "CofferFirst", dependencies: ["Proof", "Neighbour"],
            linkerSettings: [.linkedLibrary("sqlite3")]),
        // The modules of the executable itself come first.
        .executableTarget(name: "PlainFirst", dependencies: ["PlainSQLite", "Neighbour", "Proof"]),
        .executableTarget(
            name: "RawEngine",
            dependencies: [
                .product(name: "Coffer", package: "Coffer"), .product(name: "CSQLCipher", package: "Coffer"),
            ]),
    ]
)
