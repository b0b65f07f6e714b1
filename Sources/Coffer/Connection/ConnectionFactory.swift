internal import Foundation
internal import KeyMaterial
internal import SQLCipherBridge
internal import Synchronization

/// Opens the connections of one queue, pool or snapshot: with one key that is derived once, and the same
/// preparation for all.
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

    /// - Parameter keys: the keys of another queue or pool for the same file, or nil to start with those of
    ///   the configuration.
    init(location: DatabaseLocation, configuration: Configuration, label: String, keys: ConnectionKeys? = nil)
        throws
    {
        self.location = location
        self.configuration = configuration
        self.label = configuration.label ?? label
        self.keys = try keys ?? ConnectionKeys(location, configuration: configuration)
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

    /// A connection that can take the write lock of a file that exists, to keep others from writing for a
    /// moment.
    ///
    /// It asks for the lock all the time. The waits of the engine grow to a tenth of a second: beside a
    /// connection that commits without a pause, they find the lock taken time after time.
    func makeLockConnection() throws -> SerializedConnection {
        var configuration = readerConfiguration
        configuration.readonly = false
        if case .timeout(var seconds) = configuration.readerBusyMode {
            if case .timeout(let writerSeconds) = configuration.busyMode {
                seconds = max(seconds, writerSeconds)
            }
            configuration.readonlyBusyMode = .asking(for: seconds)
        }
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

    private func make(_ configuration: Configuration, purpose: Database.Purpose, label: String) throws
        -> SerializedConnection
    {
        var configuration = configuration
        for addition in additions.withLock({ Array($0.values) }) {
            configuration.prepareDatabase(addition)
        }
        return try SerializedConnection(
            opening: location, configuration: configuration, purpose: purpose, label: label, keys: keys)
    }
}

/// The keys of the connections of one queue, pool or snapshot: those of its configuration, or the passphrases
/// that its preparation uses.
///
/// Connections share it, so that each passphrase is derived once for all of them (I4).
final class ConnectionKeys: Sendable {
    /// The keys of the configuration, if it has one, or those that took their place.
    var configured: KeyRing? { currentRing.withLock { $0 } }

    private let currentRing: Mutex<KeyRing?>

    /// Closes connections that are not in use, which would stand in the way of a change of the key. Set by
    /// the pool that has them.
    private let closeIdleConnections = Mutex<(@Sendable () -> Void)?>(nil)

    private let settings: CipherSettings
    private let preparedPassphrases: PreparedPassphrases

    /// The file of these connections, since the first one, or the one that writes, has opened it.
    private let file = Mutex<FileIdentity?>(nil)

    /// One ring for each passphrase that was used in a preparation: mostly one.
    private let prepared = Mutex<[KeyRing]>([])

    /// What these connections know of pages, since the first of them has asked for it; nil without a key.
    var pageMemo: PageMemo? { memo.withLock { $0 } }

    private let memo = Mutex<PageMemo?>(nil)

    init(_ location: DatabaseLocation, configuration: Configuration) throws {
        settings = configuration.cipher
        preparedPassphrases = configuration.preparedPassphrases
        do throws(KeyError) {
            let ring: KeyRing? =
                if let key = configuration.key ?? ConnectionKeys.defaultKey(location, configuration) {
                    try KeyRing(
                        key: key, previousKeys: configuration.previousKeys, settings: configuration.cipher)
                } else {
                    nil
                }
            currentRing = Mutex(ring)
        } catch {
            throw DatabaseError(error)
        }
    }

    /// The default key, where no preparation can set another one.
    private static func defaultKey(_ location: DatabaseLocation, _ configuration: Configuration)
        -> DatabaseKey?
    {
        location.isFile && configuration.preparations.isEmpty ? configuration.defaultKeyOfFile() : nil
    }

    /// Makes the key that one connection was given the key of all later ones, as if the configuration had it.
    func didSetDefaultKey(of ring: KeyRing) {
        currentRing.withLock { current in
            if current == nil { current = ring }
        }
    }

    /// The ring for a passphrase: the same for the same passphrase.
    func ring(for key: DatabaseKey) throws(KeyError) -> KeyRing {
        let ring = try KeyRing(key: preparedPassphrases.shared(key), settings: settings)
        return prepared.withLock { rings in
            if let known = rings.first(where: {
                $0.keys[0].salt == key.salt && $0.keys[0].hasSameSecret(as: key)
            }) {
                return known
            }
            rings.append(ring)
            return ring
        }
    }

    /// A ring for the key that a file is about to get.
    func makeRing(for key: DatabaseKey) throws(KeyError) -> KeyRing {
        try KeyRing(key: key, settings: settings)
    }

    /// Has later connections use another key. Those whose preparation sets a passphrase go on doing so.
    func replaceConfigured(with ring: KeyRing) {
        currentRing.withLock { current in
            if current != nil { current = ring }
        }
        // Nothing that was known under the former key would be taken for known under this one, but nobody
        // needs it.
        releasePages()
    }

    /// Who does the cryptographic work of a connection that is about to get its key.
    var pageWork: PageWork {
        guard settings.keepsPageStates else { return .engine }
        let memo = memo.withLock { memo in
            if memo == nil { memo = PageMemo(size: settings.pageMemoSize, pageSize: settings.pageSize) }
            return memo
        }
        return .kept(memo)
    }

    /// Forgets all pages, and gives their memory back: they are authenticated anew when they are read again.
    func releasePages() { pageMemo?.forgetAll() }

    /// Forgets all pages for good: connections that are still open note none, and later ones begin with
    /// another memo.
    private func endMemo() {
        memo.withLock { memo in
            memo?.close()
            memo = nil
        }
    }

    func onKeyChange(closeIdleConnections close: @escaping @Sendable () -> Void) {
        closeIdleConnections.withLock { $0 = close }
    }

    func keyWillChange() {
        let close = closeIdleConnections.withLock { $0 }
        close?()
    }

    /// Has all connections have the same file, whatever became of its name.
    ///
    /// - Parameter isDecisive: whether later connections must have the file that the path leads to now.
    /// - Throws: `SQLITE_READONLY_DBMOVED` when the path leads to another file than before: a queue or pool
    ///   must not read two of them.
    func checkFile(at path: String, isDecisive: Bool) throws {
        let found = FileIdentity(path)
        let isSame = file.withLock { file in
            if isDecisive || file == nil { file = found }
            return file == found
        }
        if !isSame { throw DatabaseError.fileMoved(path) }
    }

    /// Notes that the empty file has got the salt that was chosen for it.
    func didClaimEmptyFile() {
        configured?.didClaimEmptyFile()
        for ring in prepared.withLock({ $0 }) { ring.didClaimEmptyFile() }
    }

    /// Notes that another connection was faster to give an empty file its content.
    func didLoseEmptyFile() {
        configured?.didLoseEmptyFile()
        for ring in prepared.withLock({ $0 }) { ring.didLoseEmptyFile() }
    }

    /// Forgets what was derived for all connections, and the pages that they know: what nothing else with the
    /// same key needs is wiped.
    func removeDerivedKeys() {
        endMemo()
        configured?.removeDerivedKeys()
        forgetPrepared()
    }

    /// Forgets the passphrases that preparations have used, and what was derived from them. They are derived
    /// again when they are used again.
    func forgetPrepared() {
        let rings = prepared.withLock { rings in
            defer { rings = [] }
            return rings
        }
        for ring in rings { ring.removeDerivedKeys() }
    }
}

extension Database.BusyMode {
    /// Asks for a lock again after pauses of random length, until the time is over.
    ///
    /// A connection that commits without a pause leaves the lock for some microseconds: who asks ten thousand
    /// times a second meets one of these moments soon. After a second of that the pauses are longer.
    fileprivate static func asking(for seconds: Double) -> Database.BusyMode {
        let start = Mutex(ContinuousClock.now)
        return .callback { numberOfTries in
            let waited = start.withLock { start in
                if numberOfTries == 0 { start = .now }
                return ContinuousClock.now - start
            }
            guard waited <= .seconds(seconds) else { return false }
            Thread.sleep(
                forTimeInterval: .random(in: waited < .seconds(1) ? 0.000_01...0.000_1 : 0.000_1...0.002))
            return true
        }
    }
}
