// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// The benchmark: the same work on the same encrypted files by a C loop, by Coffer, and by GRDB.
///
/// It is a separate package, so that users of Coffer do not resolve GRDB. Each runner is a separate process,
/// because a process can contain only one SQLite: the GRDB runner links SQLCipher before the plain library,
/// and prints which of them is in use.
///
/// With `COFFER_BENCH_WITHOUT_PEER` in the environment, the package does not depend on GRDB and needs no
/// network.
let package = Package(
    name: "Benchmarks",
    dependencies: [.package(name: "Coffer", path: "../..")],
    targets: [
        .target(name: "BenchKit"),
        .target(name: "Loops"),
        .executableTarget(
            name: "bench-c",
            dependencies: ["BenchKit", "Loops", .product(name: "CSQLCipher", package: "Coffer")],
            path: "Sources/BenchC"),
        // This runner and the GRDB runner compile the sources in Workloads, through a symbolic link in their
        // folder.
        .executableTarget(
            name: "bench-coffer", dependencies: ["BenchKit", .product(name: "Coffer", package: "Coffer")],
            path: "Sources/BenchCoffer"),
        .executableTarget(name: "bench", dependencies: ["BenchKit"], path: "Sources/Bench"),
    ],
    swiftLanguageModes: [.v6]
)

if ProcessInfo.processInfo.environment["COFFER_BENCH_WITHOUT_PEER"] == nil {
    package.dependencies.append(.package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"))
    package.targets.append(
        .executableTarget(
            name: "bench-grdb",
            // Loops defines the functions of zstd to which a static libcrypto refers.
            dependencies: [
                "BenchKit", "Loops", .product(name: "CSQLCipher", package: "Coffer"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Sources/BenchGRDB", swiftSettings: [.define("GRDB")]))
}

// The same calls of all areas with both libraries: see the script `compare`, which sets the variable.
if ProcessInfo.processInfo.environment["COFFER_COMPARE"] != nil {
    package.targets += [
        .executableTarget(
            name: "compare-coffer", dependencies: [.product(name: "Coffer", package: "Coffer")],
            path: "Sources/CompareCoffer"),
        .executableTarget(
            name: "compare-grdb",
            dependencies: ["SQLCipherKey", .product(name: "GRDB", package: "GRDB.swift")],
            path: "Sources/CompareGRDB", swiftSettings: [.define("GRDB")]),
        .target(
            name: "SQLCipherKey",
            // Linked before the plain library that GRDB links: see Coffer's Architecture article.
            linkerSettings: [
                .linkedLibrary(":libsqlcipher.a"), .linkedLibrary(":libcrypto.a"), .linkedLibrary("m"),
                .linkedLibrary("z"),
            ]),
    ]
}
