// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// Returns the version in a pkg-config file, such as [3, 53, 4]; nil if the file does not exist.
func version(in description: String) -> [Int]? {
    guard let text = try? String(contentsOfFile: description, encoding: .utf8) else { return nil }
    let line = text.split(separator: "\n").first { $0.hasPrefix("Version: ") }
    return line?.dropFirst("Version: ".count).split(separator: ".").compactMap { Int($0) }
}

/// Returns the engine installed by `Scripts/build-engine --system`, if it is newer than the distribution's.
func installedEngine() -> String? {
    let description = "/opt/coffer-engine/lib/pkgconfig/coffer-engine.pc"
    guard let own = version(in: description) else { return nil }
    let folders = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? []
    let others = folders.compactMap { version(in: "/usr/lib/\($0)/pkgconfig/sqlcipher.pc") }
    return others.contains { !$0.lexicographicallyPrecedes(own) } ? nil : description
}

/// The folder of an engine installed by `Scripts/build-engine`, which replaces the system's: the folder in
/// COFFER_ENGINE, or the standard location. If COFFER_ENGINE names a folder without an engine, the build
/// fails, so that it never uses a different engine than the requested one. An empty COFFER_ENGINE means the
/// distribution's.
let engine: String? = {
    guard let folder = Context.environment["COFFER_ENGINE"] else { return installedEngine() }
    guard !folder.isEmpty else { return nil }
    let description = folder + "/lib/pkgconfig/coffer-engine.pc"
    guard FileManager.default.fileExists(atPath: description) else {
        fatalError(
            "COFFER_ENGINE names \(folder), where there is no engine. Run Scripts/build-engine, or unset it.")
    }
    return description
}()

/// The settings of every Swift target; see the article Contributing.
let rules: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
    .treatWarning("StrictMemorySafety", as: .error),
]

/// False if another package depends on this one by its URL: SwiftPM then reads the manifest from a
/// repository, and later from a checkout.
let isWorkedOn =
    FileManager.default.fileExists(atPath: Context.packageDirectory + "/Package.swift")
    && !Context.packageDirectory.contains("/checkouts/")

let package = Package(
    name: "Coffer",
    products: [
        .library(name: "Coffer", targets: ["Coffer"]),
        .library(name: "CofferCombine", targets: ["CofferCombine"]),
        .library(name: "CofferServices", targets: ["CofferServices"]),
        .library(name: "CSQLCipher", targets: ["CSQLCipher"]),
        .executable(name: "coffer", targets: ["CofferTool"]),
    ],
    // SwiftPM fetches a package only if an enabled trait needs it: packages that use the library fetch none.
    traits: [
        .trait(name: "Combine", description: "Publishers in CofferCombine, by means of OpenCombine."),
        .trait(
            name: "Services",
            description: "Services, metrics, logs and spans in CofferServices, by means of four packages."),
        .trait(name: "Tool", description: "The command-line tool, by means of swift-argument-parser."),
        .default(enabledTraits: isWorkedOn ? ["Combine", "Tool"] : []),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/OpenCombine/OpenCombine.git", exact: "0.14.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // The system's pkg-config file is not used, because it would select the shared library. The module
        // map links the static libraries, and finds those in `engine` first.
        .systemLibrary(
            name: "CSQLCipher", pkgConfig: engine, providers: [.apt(["libsqlcipher-dev", "libssl-dev"])]),
        // The line editor of the tool's shell. Packages that only use the library build without it.
        .systemLibrary(name: "CEditLine", providers: [.apt(["libedit-dev"])]),
        .target(name: "SystemCalls", swiftSettings: rules),
        .target(name: "KeyMaterial", dependencies: ["SystemCalls"], swiftSettings: rules),
        // HMAC-SHA512 and AES-256-CBC of several pages at once. Its functions declare the instructions that
        // they need, so no compiler flag is required.
        .target(name: "CPageLanes"),
        // The page provider that the engine calls, a cache of authenticated pages, and their protection while
        // the process exits.
        .target(name: "CPageProvider", dependencies: ["CSQLCipher"]),
        .target(
            name: "SQLCipherBridge",
            dependencies: ["CPageLanes", "CPageProvider", "CSQLCipher", "KeyMaterial", "SystemCalls"],
            swiftSettings: rules),
        .target(
            name: "Coffer", dependencies: ["SQLCipherBridge", "KeyMaterial", "SystemCalls"],
            swiftSettings: rules),
        .target(
            name: "CofferCLI",
            dependencies: [
                "CEditLine", "Coffer", "KeyMaterial", "SQLCipherBridge", "SystemCalls",
                .product(
                    name: "ArgumentParser", package: "swift-argument-parser",
                    condition: .when(traits: ["Tool"])),
            ],
            swiftSettings: rules),
        // Not "coffer": on a case-insensitive file system, its folders would be the same as the library's.
        .executableTarget(name: "CofferTool", dependencies: ["CofferCLI"], swiftSettings: rules),
        .target(
            name: "CofferCombine",
            dependencies: [
                "Coffer",
                .product(
                    name: "OpenCombine", package: "OpenCombine", condition: .when(traits: ["Combine"])),
                .product(
                    name: "OpenCombineDispatch", package: "OpenCombine",
                    condition: .when(traits: ["Combine"])),
            ],
            swiftSettings: rules),
        .target(
            name: "CofferServices",
            dependencies: [
                "Coffer",
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Services"])),
                .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Services"])),
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle",
                    condition: .when(traits: ["Services"])),
                .product(
                    name: "Tracing", package: "swift-distributed-tracing",
                    condition: .when(traits: ["Services"])),
            ],
            swiftSettings: rules),
        .target(
            name: "CofferTestSupport", dependencies: ["Coffer", "KeyMaterial"],
            path: "Tests/CofferTestSupport", swiftSettings: rules),
        .testTarget(
            name: "SystemCallsTests", dependencies: ["CofferTestSupport", "SystemCalls"], swiftSettings: rules
        ),
        .testTarget(
            name: "KeyMaterialTests", dependencies: ["KeyMaterial", "CofferTestSupport"], swiftSettings: rules
        ),
        .testTarget(
            name: "SQLCipherBridgeTests",
            dependencies: [
                "CPageLanes", "CPageProvider", "CofferTestSupport", "SQLCipherBridge", "KeyMaterial",
                "SystemCalls",
            ],
            swiftSettings: rules),
        .testTarget(
            name: "CofferTests",
            dependencies: ["Coffer", "CofferTestSupport", "SQLCipherBridge", "KeyMaterial", "SystemCalls"],
            swiftSettings: rules),
        .testTarget(
            name: "CofferCombineTests", dependencies: ["Coffer", "CofferCombine", "CofferTestSupport"],
            swiftSettings: rules),
        .testTarget(
            name: "CofferServicesTests",
            dependencies: [
                "Coffer", "CofferServices", "CofferTestSupport",
                .product(
                    name: "InMemoryLogging", package: "swift-log", condition: .when(traits: ["Services"])),
                .product(
                    name: "InMemoryTracing", package: "swift-distributed-tracing",
                    condition: .when(traits: ["Services"])),
                .product(
                    name: "MetricsTestKit", package: "swift-metrics",
                    condition: .when(traits: ["Services"])),
                .product(
                    name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle",
                    condition: .when(traits: ["Services"])),
                .product(
                    name: "UnixSignals", package: "swift-service-lifecycle",
                    condition: .when(traits: ["Services"])),
            ],
            swiftSettings: rules),
        .testTarget(
            name: "CofferIntegrationTests",
            dependencies: [
                "Coffer", "CofferTestSupport", "CofferTestWorker", "CrashWorker", "SQLCipherBridge",
            ],
            swiftSettings: rules),
        .testTarget(
            name: "CofferCrashTests",
            dependencies: ["Coffer", "CofferTestSupport", "CofferTestWorker", "CrashWorker"],
            swiftSettings: rules
        ),
        .testTarget(
            name: "CofferCLITests",
            dependencies: [
                "Coffer", "CofferCLI", "CofferTool", "CofferTestSupport", "KeyMaterial", "SQLCipherBridge",
                "SystemCalls",
            ],
            swiftSettings: rules),
        .executableTarget(
            name: "CrashWorker", dependencies: ["Coffer", "CofferTestSupport"], path: "Tests/CrashWorker",
            swiftSettings: rules),
        .executableTarget(
            name: "CofferTestWorker", dependencies: ["Coffer", "CofferTestSupport"],
            path: "Tests/CofferTestWorker",
            swiftSettings: rules),
        .executableTarget(
            name: "EngineRunner", dependencies: ["Coffer", "CofferTestSupport"], path: "Tests/EngineRunner",
            swiftSettings: rules),
        .executableTarget(
            name: "KeyringParser", dependencies: ["Coffer", "SQLCipherBridge"], path: "Tests/KeyringParser",
            swiftSettings: rules
        ),
    ],
    swiftLanguageModes: [.v6]
)

// Coffer and CSQLCipher under GRDB's module names, for packages with `import GRDB`: see the article
// MovingFromGRDB. Only packages that use these products build them. Set the variable in a package graph that
// contains GRDB itself, because target names are unique in a graph.
if Context.environment["COFFER_WITHOUT_GRDB_NAMES"] == nil {
    package.products += [
        .library(name: "GRDB", targets: ["GRDB"]),
        .library(name: "GRDBSQLite", targets: ["GRDBSQLite"]),
    ]
    package.targets += [
        .target(name: "GRDB", dependencies: ["Coffer"], swiftSettings: rules),
        .target(name: "GRDBSQLite", dependencies: ["CSQLCipher"], swiftSettings: rules),
    ]
}
