/// The keys that a connection knows, and the protection of the data that it writes.
struct Keying {
    /// The protection of the data that a connection writes.
    enum Protection {
        /// The file or the in-memory database is encrypted.
        case encrypted

        /// The file is not encrypted, because the configuration allows it.
        case plaintext

        /// A database without a key, in memory or in a temporary file of SQLite.
        case memory

        /// The preparations of the configuration must set a passphrase before anything else.
        case awaitingKey
    }

    private(set) var protection: Protection

    /// True if the connection found an empty file, which has no salt yet.
    private(set) var isFileEmpty: Bool

    /// True while the connection replaces another one, whose key is already known.
    private(set) var isReplacing = false

    /// True once the configuration's preparations have run.
    private(set) var isPrepared = false

    /// The keys of the connection's queue, pool or snapshot.
    let keys: ConnectionKeys

    /// The ring with the connection's key, if it is not the configured one.
    private var ownRing: KeyRing?

    /// The keys of `owner`, in a separate ring for files that are attached without a key.
    private var attached: (owner: KeyRing, ring: KeyRing)?

    init(_ protection: Protection, isFileEmpty: Bool, keys: ConnectionKeys) {
        self.protection = protection
        self.isFileEmpty = isFileEmpty
        self.keys = keys
    }

    /// The ring with the connection's key. Nil if there is no key, or if the application has set the key with
    /// SQL.
    var ring: KeyRing? { ownRing ?? keys.configured }

    /// Records that the connection now has a key.
    ///
    /// - Parameter isFileEmpty: nil for a database in memory.
    mutating func didReceiveKey(of ring: KeyRing? = nil, isFileEmpty: Bool? = nil) {
        protection = .encrypted
        if let ring { ownRing = ring }
        if let isFileEmpty { self.isFileEmpty = isFileEmpty }
    }

    /// Records that the connection has read a file without a key.
    mutating func didReadPlaintext() { protection = .plaintext }

    /// Records that the file now has a salt.
    mutating func didClaimFile() { isFileEmpty = false }

    mutating func preparationsDidRun() { isPrepared = true }

    /// Replaces the key of the connection.
    mutating func adopt(_ ring: KeyRing) {
        keys.replaceConfigured(with: ring)
        keys.forgetPrepared()
        ownRing = ring
        attached = nil
    }

    /// Sets whether a new SQLite connection is about to replace the current one.
    mutating func setReplacing(_ isReplacing: Bool) { self.isReplacing = isReplacing }

    mutating func didClose() {
        attached = nil
        ownRing = nil
    }

    /// Returns a ring with the keys of `ring` for other files. Keys derived for those files are kept for as
    /// long as the connection has these keys.
    mutating func ringOfAttachedFiles(_ ring: KeyRing) throws(KeyError) -> KeyRing {
        if let attached, attached.owner === ring { return attached.ring }
        let first = ring.usedKeyIndex ?? 0
        let others = ring.keys.indices.filter { $0 != first }.map { ring.keys[$0] }
        let new = try KeyRing(key: ring.keys[first], previousKeys: others, settings: ring.settings)
        attached = (ring, new)
        return new
    }
}
