internal import SQLCipherBridge

/// What an engine can do that is built for it, and the engines of distributions cannot.
///
/// Found out when the program runs: the same program does without them, and has them when it is linked with
/// an engine of `Scripts/build-engine`. `coffer info --engine` lists those of the tool.
///
/// ```swift
/// try EngineFeature.preUpdateEvents.require()
/// vault.add(transactionObserver: history)
/// ```
public enum EngineFeature: String, CaseIterable, Sendable {
    /// Observers are called with the values of rows before they change:
    /// ``TransactionObserver/databaseWillChange(with:)``.
    case preUpdateEvents

    /// A snapshot pool can be made in the middle of a transaction that has begun to read:
    /// ``DatabaseSnapshotPool/init(_:configuration:)``.
    case walSnapshots

    /// Whether the engine of this program has it.
    public var isAvailable: Bool {
        switch self {
        case .preUpdateEvents: Engine.hasPreUpdateHook
        case .walSnapshots: Engine.hasSnapshots
        }
    }

    /// Fails where the engine of this program does not have it, so that a program that depends on it says so
    /// at its start.
    ///
    /// - Throws: an ``EngineFeatureError``, which names the script that builds an engine that has it.
    public func require() throws(EngineFeatureError) {
        guard isAvailable else { throw EngineFeatureError(feature: self) }
    }
}

/// The engine of this program cannot do what was asked of it. Another engine can: see `Scripts/build-engine`.
public struct EngineFeatureError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What it cannot do.
    public let feature: EngineFeature

    public var description: String {
        let words =
            switch feature {
            case .preUpdateEvents: "tell of rows before they change"
            case .walSnapshots: "hand the state of a transaction to other connections"
            }
        return
            "The engine of this program cannot \(words). Build one that can with Scripts/build-engine, and "
            + "build the program with it."
    }
}
