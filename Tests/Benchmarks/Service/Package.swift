// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// A notes service for the script `service`: the same sources with Coffer and encrypted files, or with GRDB
/// and plaintext files, if COFFER_BENCH_SERVICE is `grdb`.
let isGRDB = ProcessInfo.processInfo.environment["COFFER_BENCH_SERVICE"] == "grdb"

let package = Package(
    name: "NotesService",
    dependencies: [
        isGRDB
            ? .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0")
            : .package(name: "Coffer", path: "../../..", traits: []),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    ],
    targets: [
        .executableTarget(
            name: "NotesService",
            dependencies: [
                .product(name: "GRDB", package: isGRDB ? "GRDB.swift" : "Coffer"),
                .product(name: "Hummingbird", package: "hummingbird"),
            ],
            swiftSettings: isGRDB ? [.define("PLAINTEXT")] : [])
    ],
    swiftLanguageModes: [.v6]
)
