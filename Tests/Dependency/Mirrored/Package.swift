// swift-tools-version: 6.0
import PackageDescription

/// A package that depends only on GRDB. The URL of GRDB is mirrored to Coffer.
let package = Package(
    name: "Mirrored",
    dependencies: [.package(url: "https://github.com/groue/GRDB.swift", from: "7.6.0")],
    targets: [
        .executableTarget(
            name: "Mirrored",
            dependencies: [
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ])
    ]
)
