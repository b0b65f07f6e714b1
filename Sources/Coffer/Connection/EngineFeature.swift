internal import SQLCipherBridge

/// A feature that the engine only has if it is built with it. The engines of Linux distributions lack these
/// features.
///
/// Availability is determined at run time: the same program runs without a feature, and has it when it is
/// linked with an engine from `Scripts/build-engine`. `coffer info --engine` lists the features of the tool's
/// engine.
///
/// ```swift
/// try EngineFeature.preUpdateEvents.require()
/// vault.add(transactionObserver: history)
/// ```
public enum EngineFeature: String, CaseIterable, Sendable {
    /// Observers receive the values of rows before they change:
    /// ``TransactionObserver/databaseWillChange(with:)``.
    case preUpdateEvents

    /// A snapshot pool can be created in the middle of a transaction that has begun to read:
    /// ``DatabaseSnapshotPool/init(_:configuration:)``.
    case walSnapshots

    /// A Boolean value that indicates whether the engine of this program has the feature.
    public var isAvailable: Bool {
        switch self {
        case .preUpdateEvents: Engine.hasPreUpdateHook
        case .walSnapshots: Engine.hasSnapshots
        }
    }

    /// Throws an error if the engine of this program lacks the feature. A program that depends on the feature
    /// can call this at its start.
    ///
    /// - Throws: an ``EngineFeatureError``, which names the script that builds an engine with the feature.
    public func require() throws(EngineFeatureError) {
        guard isAvailable else { throw EngineFeatureError(feature: self) }
    }
}

/// The engine of this program lacks a requested feature. To build an engine with the feature, see
/// `Scripts/build-engine`.
public struct EngineFeatureError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The missing feature.
    public let feature: EngineFeature

    public var description: String {
        let words =
            switch feature {
            case .preUpdateEvents: "report rows before they change"
            case .walSnapshots: "share the state of a transaction with other connections"
            }
        return
            "The engine of this program cannot \(words). Build an engine that can with Scripts/build-engine, "
            + "and build the program with it."
    }
}
