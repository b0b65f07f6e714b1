// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// The numbers of the version that a file for pkg-config gives, as in [3, 53, 4]; nil without such a file.
func version(in description: String) -> [Int]? {
    guard let text = try? String(contentsOfFile: description, encoding: .utf8) else { return nil }
    let line = text.split(separator: "\n").first { $0.hasPrefix("Version: ") }
    return line?.dropFirst("Version: ".count).split(separator: ".").compactMap { Int($0) }
}

/// An engine that `Scripts/build-engine --system` has installed, if it is newer than the distribution's.
func installedEngine() -> String? {
    let description = "/opt/coffer-engine/lib/pkgconfig/coffer-engine.pc"
    guard let own = version(in: description) else { return nil }
    let folders = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? []
    let others = folders.compactMap { version(in: "/usr/lib/\($0)/pkgconfig/sqlcipher.pc") }
    return others.contains { !$0.lexicographicallyPrecedes(own) } ? nil : description
}

/// An engine that `Scripts/build-engine` has installed, in place of the system's: in the folder that
/// COFFER_ENGINE names, or in the standard place. A folder without one is refused, so that nobody gets another
/// engine than the one asked for. An empty COFFER_ENGINE means the distribution's.
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

/// Every Swift target is compiled by the same rules; see the Architecture article.
let rules: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
    .treatWarning("StrictMemorySafety", as: .error),
]

/// False where another package depends on this one by its address: SwiftPM reads the manifest out of a
/// repository then, and later in a checkout.
let isWorkedOn =
    FileManager.default.fileExists(atPath: Context.packageDirectory + "/Package.swift")
    && !Context.packageDirectory.contains("/checkouts/")

let package = Package(
    name: "Coffer",
    products: [
        .library(name: "Coffer", targets: ["Coffer"]),
        .library(name: "CofferCombine", targets: ["CofferCombine"]),
        .library(name: "CSQLCipher", targets: ["CSQLCipher"]),
        .executable(name: "coffer", targets: ["CofferTool"]),
    ],
    // SwiftPM fetches a package only if a trait that is on needs it: packages that use the library fetch none.
    traits: [
        .trait(name: "Combine", description: "Publishers in CofferCombine, by means of OpenCombine."),
        .trait(name: "Tool", description: "The command-line tool, by means of swift-argument-parser."),
        .default(enabledTraits: isWorkedOn ? ["Combine", "Tool"] : []),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/OpenCombine/OpenCombine.git", exact: "0.14.0"),
    ],
    targets: [
        // No pkgConfig of the system here: it would choose the shared library. The module map links the
        // static ones, and finds that of `engine` first.
        .systemLibrary(
            name: "CSQLCipher", pkgConfig: engine, providers: [.apt(["libsqlcipher-dev", "libssl-dev"])]),
        // The line editor of the tool's shell. What only uses the library builds without it.
        .systemLibrary(name: "CEditLine", providers: [.apt(["libedit-dev"])]),
        .target(name: "KeyMaterial", swiftSettings: rules),
        // HMAC-SHA512 and AES-256-CBC of several pages at once. Its functions name the instructions that they
        // need, so that no flag is needed here.
        .target(name: "CPageLanes"),
        // What the engine asks for each page, a memo of pages that are authentic, and what keeps both safe while
        // the process exits.
        .target(name: "CPageProvider", dependencies: ["CSQLCipher"]),
        .target(
            name: "SQLCipherBridge",
            dependencies: ["CPageLanes", "CPageProvider", "CSQLCipher", "KeyMaterial"], swiftSettings: rules),
        .target(name: "Coffer", dependencies: ["SQLCipherBridge", "KeyMaterial"], swiftSettings: rules),
        .target(
            name: "CofferCLI",
            dependencies: [
                "CEditLine", "Coffer", "KeyMaterial", "SQLCipherBridge",
                .product(
                    name: "ArgumentParser", package: "swift-argument-parser",
                    condition: .when(traits: ["Tool"])),
            ],
            swiftSettings: rules),
        // Not "coffer": on a file system that ignores case its folders would be those of the library.
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
            name: "CofferTestSupport", dependencies: ["Coffer", "KeyMaterial"],
            path: "Tests/CofferTestSupport", swiftSettings: rules),
        .testTarget(
            name: "KeyMaterialTests", dependencies: ["KeyMaterial", "CofferTestSupport"], swiftSettings: rules
        ),
        .testTarget(
            name: "SQLCipherBridgeTests",
            dependencies: [
                "CPageLanes", "CPageProvider", "CofferTestSupport", "SQLCipherBridge", "KeyMaterial",
            ],
            swiftSettings: rules),
        .testTarget(
            name: "CofferTests",
            dependencies: ["Coffer", "CofferTestSupport", "SQLCipherBridge", "KeyMaterial"],
            swiftSettings: rules),
        .testTarget(
            name: "CofferCombineTests", dependencies: ["Coffer", "CofferCombine", "CofferTestSupport"],
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

// Coffer and CSQLCipher under GRDB's module names, for packages that say `import GRDB`: see the article
// MovingFromGRDB. Only packages that use these products build them. A package that has GRDB itself in its graph
// sets the variable, because target names are unique in a graph.
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
