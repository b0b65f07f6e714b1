// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// An engine that `Scripts/build-engine` has installed, in the place of the system's: the folder that
/// COFFER_ENGINE names. A folder without one is refused, so that nobody gets another engine than the one
/// asked for.
let engine: String? = Context.environment["COFFER_ENGINE"].flatMap { folder in
    guard !folder.isEmpty else { return nil }
    let description = folder + "/lib/pkgconfig/coffer-engine.pc"
    guard FileManager.default.fileExists(atPath: description) else {
        fatalError(
            "COFFER_ENGINE names \(folder), where there is no engine. Run Scripts/build-engine, or unset it.")
    }
    return description
}

/// Every Swift target is compiled by the same rules; see the Architecture article.
let rules: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
    .treatWarning("StrictMemorySafety", as: .error),
]

let package = Package(
    name: "Coffer",
    products: [
        .library(name: "Coffer", targets: ["Coffer"]),
        .library(name: "CofferCombine", targets: ["CofferCombine"]),
        .library(name: "CSQLCipher", targets: ["CSQLCipher"]),
        .executable(name: "coffer", targets: ["CofferTool"]),
    ],
    dependencies: [
        // For the tool only: packages that depend on the library fetch it, as SwiftPM does for all of a
        // package, and never build it.
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        // Only for CofferCombine.
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
        // What the engine asks for each page, and a memo of pages that are authentic. Linked with the
        // libraries of CSQLCipher.
        .target(name: "CPageProvider"),
        .target(
            name: "SQLCipherBridge",
            dependencies: ["CPageLanes", "CPageProvider", "CSQLCipher", "KeyMaterial"], swiftSettings: rules),
        .target(name: "Coffer", dependencies: ["SQLCipherBridge", "KeyMaterial"], swiftSettings: rules),
        .target(
            name: "CofferCLI",
            dependencies: [
                "CEditLine", "Coffer", "KeyMaterial", "SQLCipherBridge",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: rules),
        // Not "coffer": on a file system that ignores case its folders would be those of the library.
        .executableTarget(name: "CofferTool", dependencies: ["CofferCLI"], swiftSettings: rules),
        .target(
            name: "CofferCombine",
            dependencies: [
                "Coffer", .product(name: "OpenCombine", package: "OpenCombine"),
                .product(name: "OpenCombineDispatch", package: "OpenCombine"),
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
            name: "KeyringParser", dependencies: ["Coffer", "SQLCipherBridge"], path: "Tests/KeyringParser",
            swiftSettings: rules
        ),
    ],
    swiftLanguageModes: [.v6]
)
