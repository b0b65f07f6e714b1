internal import Glibc
internal import SQLCipherBridge
internal import Synchronization
internal import SystemCalls

/// Opens the connections of one queue, pool or snapshot. They share the key, which is derived once, and the
/// preparations.
final class ConnectionFactory: Sendable {
    let location: DatabaseLocation
    let configuration: Configuration
    let keys: ConnectionKeys
    let recorder: AccessRecorder?
    private let label: String

    /// The number of snapshots so far, for their labels.
    private let snapshotCount = Mutex(0)

    /// The additions and removals since the first connection was opened.
    private let additions = Mutex<[Addition: @Sendable (Database) -> Void]>([:])

    /// The identity of an addition. It replaces an earlier one with the same identity.
    enum Addition: Hashable, Sendable {
        case function(DatabaseFunction.ID)
        case collation(DatabaseCollation.ID)
    }

    /// - Parameter keys: the keys of another queue or pool for the same file, or nil for the keys of the
    ///   configuration.
    init(location: DatabaseLocation, configuration: Configuration, label: String, keys: ConnectionKeys? = nil)
        throws
    {
        self.location = location
        self.configuration = configuration
        self.recorder = AccessRecorder(configuration)
        self.label = configuration.label ?? label
        self.keys = try keys ?? ConnectionKeys(location, configuration: configuration)
    }

    func makeWriter(label suffix: String = "") throws -> SerializedConnection {
        try make(configuration, purpose: .writer, label: label + suffix)
    }

    func makeReader(number: Int) throws -> SerializedConnection {
        try make(readerConfiguration, purpose: .reader, label: "\(label).reader.\(number)")
    }

    /// Opens a connection that stays in one transaction for its entire life.
    func makeSnapshotConnection() throws -> SerializedConnection {
        var configuration = readerConfiguration
        configuration.allowsUnsafeTransactions = true
        let number = snapshotCount.withLock { count in
            count += 1
            return count
        }
        return try make(configuration, purpose: .reader, label: "\(label).snapshot.\(number)")
    }

    /// Opens a connection to an existing file that can take its write lock, to briefly prevent others from
    /// writing.
    ///
    /// It polls for the lock at short intervals. SQLite's own waits grow to a tenth of a second: next to a
    /// connection that commits without a pause, they would find the lock taken again and again.
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

    /// Adds `body` to the preparation of later connections, after the configuration's own preparations.
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
            opening: location, configuration: configuration, purpose: purpose, label: label, keys: keys,
            recorder: recorder)
    }
}

/// The keys of the connections of one queue, pool or snapshot: the keys of its configuration, or the
/// passphrases that its preparations use.
///
/// The connections share this object, so that each passphrase is derived only once (invariant "Derived
/// once").
final class ConnectionKeys: Sendable {
    /// The keys of the configuration, if it has any, or the keys that replaced them.
    var configured: KeyRing? { currentRing.withLock { $0 } }

    private let currentRing: Mutex<KeyRing?>

    /// Closes idle connections, which would block a change of the key. Set by the pool that owns them.
    private let closeIdleConnections = Mutex<(@Sendable () -> Void)?>(nil)

    private let settings: CipherSettings
    private let preparedPassphrases: PreparedPassphrases

    /// The identity of the file, set by the first connection that opens it, or by the writer.
    private let file = Mutex<FileIdentity?>(nil)

    /// One ring for each passphrase that preparations have used: usually one.
    private let prepared = Mutex<[KeyRing]>([])

    /// The memo of authenticated pages that these connections share, created on first use; nil without a key.
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

    /// Returns the default key if no preparation can set another one.
    private static func defaultKey(_ location: DatabaseLocation, _ configuration: Configuration)
        -> DatabaseKey?
    {
        location.isFile && configuration.preparations.isEmpty ? configuration.defaultKeyOfFile() : nil
    }

    /// Uses the key that one connection has received for all later ones, as if it were in the configuration.
    func didSetDefaultKey(of ring: KeyRing) {
        currentRing.withLock { current in
            if current == nil { current = ring }
        }
    }

    /// Returns the ring of a passphrase. Equal passphrases have the same ring.
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

    /// Creates a ring for the key that a file is about to receive.
    func makeRing(for key: DatabaseKey) throws(KeyError) -> KeyRing {
        try KeyRing(key: key, settings: settings)
    }

    /// Makes later connections use another key. Connections whose preparations set a passphrase still use
    /// that passphrase.
    func replaceConfigured(with ring: KeyRing) {
        currentRing.withLock { current in
            if current != nil { current = ring }
        }
        // The memo's entries would not match under the new key. They are only released to save memory.
        releasePages()
    }

    /// The implementation that performs the cryptographic work of a connection that is about to receive its
    /// key.
    var pageWork: PageWork {
        guard settings.keepsPageStates else { return .engine }
        let memo = memo.withLock { memo in
            if memo == nil { memo = PageMemo(size: settings.pageMemoSize, pageSize: settings.pageSize) }
            return memo
        }
        return .kept(memo)
    }

    /// Forgets all pages and frees their memory. Pages are authenticated again when they are next read.
    func releasePages() { pageMemo?.forgetAll() }

    /// Closes the memo. Open connections add no more pages to it, and later connections start with a new
    /// memo.
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

    /// Checks that all connections open the same file, even if its path now leads elsewhere.
    ///
    /// - Parameter isDecisive: true if later connections must open the file that the path leads to now.
    /// - Throws: `SQLITE_READONLY_DBMOVED` if the path leads to another file than before: a queue or pool
    ///   must not use two files.
    func checkFile(at path: String, isDecisive: Bool) throws {
        let found = FileIdentity(path)
        let isSame = file.withLock { file in
            if isDecisive || file == nil { file = found }
            return file == found
        }
        if !isSame { throw DatabaseError.fileMoved(path) }
    }

    /// Returns true if the path leads to no file, or to another one than the connections have open.
    func hasLostFile(at path: String) -> Bool {
        let found: FileIdentity
        do throws(Errno) {
            found = try FileStatus(path, followsLinks: true).identity
        } catch {
            return error.code == ENOENT
        }
        return file.withLock { file in file != nil && file != found }
    }

    /// Records that the empty file has received the salt that was chosen for it.
    func didClaimEmptyFile() {
        configured?.didClaimEmptyFile()
        for ring in prepared.withLock({ $0 }) { ring.didClaimEmptyFile() }
    }

    /// Records that another connection has written to the empty file first.
    func didLoseEmptyFile() {
        configured?.didLoseEmptyFile()
        for ring in prepared.withLock({ $0 }) { ring.didLoseEmptyFile() }
    }

    /// Closes the page memo, and forgets all derived keys. Keys that are not shared with other users of the
    /// same key are wiped.
    func removeDerivedKeys() {
        endMemo()
        configured?.removeDerivedKeys()
        forgetPrepared()
    }

    /// Forgets the passphrases that preparations have used, and the keys derived from them. They are derived
    /// again on their next use.
    func forgetPrepared() {
        let rings = prepared.withLock { rings in
            defer { rings = [] }
            return rings
        }
        for ring in rings { ring.removeDerivedKeys() }
    }
}
