internal import SQLCipherBridge
internal import Synchronization

/// Opens the connections of one queue, pool or snapshot: with one key that is derived once, and the same preparation for all.
final class ConnectionFactory: Sendable {
    let location: DatabaseLocation
    let configuration: Configuration
    let keys: ConnectionKeys
    private let label: String

    /// How many snapshots there were, for their labels.
    private let snapshotCount = Mutex(0)

    /// What was added to, or removed from, the connections after the first one was opened.
    private let additions = Mutex<[Addition: @Sendable (Database) -> Void]>([:])

    /// What an addition is about: a later one about the same takes its place.
    enum Addition: Hashable, Sendable {
        case function(DatabaseFunction.ID)
        case collation(DatabaseCollation.ID)
    }

    /// - Parameter keys: the keys of another queue or pool for the same file, or nil to start with those of the configuration.
    init(location: DatabaseLocation, configuration: Configuration, label: String, keys: ConnectionKeys? = nil) throws {
        self.location = location
        self.configuration = configuration
        self.label = configuration.label ?? label
        self.keys = try keys ?? ConnectionKeys(configuration: configuration)
    }

    func makeWriter(label suffix: String = "") throws -> SerializedConnection {
        try make(configuration, purpose: .writer, label: label + suffix)
    }

    func makeReader(number: Int) throws -> SerializedConnection {
        try make(readerConfiguration, purpose: .reader, label: "\(label).reader.\(number)")
    }

    /// A connection that stays in one transaction for all of its life.
    func makeSnapshotConnection() throws -> SerializedConnection {
        var configuration = readerConfiguration
        configuration.allowsUnsafeTransactions = true
        let number = snapshotCount.withLock { count in
            count += 1
            return count
        }
        return try make(configuration, purpose: .reader, label: "\(label).snapshot.\(number)")
    }

    /// A connection that can take the write lock of a file that exists, to keep others from writing for a moment.
    func makeLockConnection() throws -> SerializedConnection {
        var configuration = readerConfiguration
        configuration.readonly = false
        return try make(configuration, purpose: .reader, label: "\(label).lock")
    }

    /// Prepares later connections also with `body`, after the configuration's own preparations.
    func add(_ addition: Addition, _ body: @escaping @Sendable (Database) -> Void) {
        additions.withLock { $0[addition] = body }
    }

    private var readerConfiguration: Configuration {
        var configuration = configuration
        configuration.readonly = true
        configuration.journalMode = .default
        return configuration
    }

    private func make(_ configuration: Configuration, purpose: Database.Purpose, label: String) throws -> SerializedConnection {
        var configuration = configuration
        for addition in additions.withLock({ Array($0.values) }) {
            configuration.prepareDatabase(addition)
        }
        return try SerializedConnection(
            opening: location, configuration: configuration, purpose: purpose, label: label, keys: keys)
    }
}
