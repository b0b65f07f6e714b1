/// How one connection protects what it writes, and the keys that it knows.
struct Keying {
    /// How a connection protects what it writes.
    enum Protection {
        /// The file, or the memory database, is encrypted.
        case encrypted

        /// The file is not encrypted, because the configuration allows it.
        case plaintext

        /// A database in memory or in a temporary file of SQLite, without a key.
        case memory

        /// A passphrase is expected from the configuration's preparation, before anything else.
        case awaitingKey
    }

    private(set) var protection: Protection

    /// Whether the connection found an empty file, which has no salt yet.
    private(set) var isFileEmpty: Bool

    /// Whether the connection takes the place of another one, whose key is known already.
    private(set) var isReplacing = false

    /// Whether the configuration's preparations have run.
    private(set) var isPrepared = false

    /// The keys of the queue, pool or snapshot that the connection belongs to.
    let keys: ConnectionKeys

    /// The ring that has the connection's key, where that is not the one of the configuration.
    private var ownRing: KeyRing?

    /// The keys of a ring, for files that are attached without a key.
    private var attached: (owner: KeyRing, ring: KeyRing)?

    init(_ protection: Protection, isFileEmpty: Bool, keys: ConnectionKeys) {
        self.protection = protection
        self.isFileEmpty = isFileEmpty
        self.keys = keys
    }

    /// The ring that has the connection's key; nil for a key that the application gave by SQL, and without a
    /// key.
    var ring: KeyRing? { ownRing ?? keys.configured }

    /// Notes that the connection has a key by now.
    ///
    /// - Parameter isFileEmpty: nil for a database in memory.
    mutating func didReceiveKey(of ring: KeyRing? = nil, isFileEmpty: Bool? = nil) {
        protection = .encrypted
        if let ring { ownRing = ring }
        if let isFileEmpty { self.isFileEmpty = isFileEmpty }
    }

    /// Notes that the connection has read a file without a key.
    mutating func didReadPlaintext() { protection = .plaintext }

    /// Notes that the file has its salt.
    mutating func didClaimFile() { isFileEmpty = false }

    mutating func preparationsDidRun() { isPrepared = true }

    /// From here on the connection has another key.
    mutating func adopt(_ ring: KeyRing) {
        keys.replaceConfigured(with: ring)
        keys.forgetPrepared()
        ownRing = ring
        attached = nil
    }

    /// Notes whether a connection of the C library is about to take the place of another one.
    mutating func setReplacing(_ isReplacing: Bool) { self.isReplacing = isReplacing }

    mutating func didClose() {
        attached = nil
        ownRing = nil
    }

    /// The keys of a ring for other files: what is derived for them is kept as long as the connection has
    /// these keys.
    mutating func ringOfAttachedFiles(_ ring: KeyRing) throws(KeyError) -> KeyRing {
        if let attached, attached.owner === ring { return attached.ring }
        let first = ring.usedKeyIndex ?? 0
        let others = ring.keys.indices.filter { $0 != first }.map { ring.keys[$0] }
        let new = try KeyRing(key: ring.keys[first], previousKeys: others, settings: ring.settings)
        attached = (ring, new)
        return new
    }
}
