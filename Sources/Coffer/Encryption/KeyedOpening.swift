internal import SQLCipherBridge

/// A connection that has its key and can read and write.
struct KeyedConnection: ~Copyable {
    let connection: EngineConnection

    /// True if the file was empty, so that its salt still has to be written. Call
    /// ``ConnectionHandle/claimEmptyFile()`` before anything relies on the file, and after the pragmas that
    /// must come first (auto_vacuum, encoding). `SQLITE_NOTADB` from that call means that another connection
    /// was faster: close the connection and open a new one.
    let isFileEmpty: Bool

    var handle: ConnectionHandle { connection.handle }
}

/// One attempt to open a file with the keys of a ring. It finds the key that opens the file, or the reason
/// why none does (see ``reasonOfRefusal()``).
///
/// Decryption errors stick to a connection, so each key and each format is tried on a connection of its own.
struct KeyedOpening: ~Copyable {
    let ring: KeyRing

    /// Opens a connection and installs its busy handler, and runs nothing on it.
    private let open: KeyRing.Open

    /// The provider of the connection's cryptographic operations.
    private let work: PageWork

    /// The answers of the ring's providers. One answer serves all formats.
    private(set) var answers: [Int: DatabaseKey] = [:]

    init(_ ring: KeyRing, work: PageWork = .engine, open: @escaping KeyRing.Open) {
        self.ring = ring
        self.work = work
        self.open = open
    }

    /// A connection without a key, and the header that it sees. The file may have changed since the previous
    /// probe.
    struct Probe: ~Copyable {
        let connection: EngineConnection
        let header: FileHeader

        var handle: ConnectionHandle { connection.handle }
    }

    /// - Parameter count: the number of header bytes to read.
    func probe(headerCount count: Int = 16) throws(KeyError) -> Probe {
        do throws(EngineError) {
            let connection = try open()
            let header = try FileHeader(connection.handle, count: count)
            return Probe(connection: connection, header: header)
        } catch {
            throw KeyError(error)
        }
    }

    /// Opens a connection that can read and write: sets the key and the cipher settings, and verifies the
    /// codec and the key (invariant "Key first").
    ///
    /// The keys are tried in order. If none opens the file and its salt has changed in the meantime (because
    /// two processes created it at once, or another one rotated the key), they are tried again. A provider is
    /// called only if none of its earlier answers opens the file.
    ///
    /// - Throws: the typed reason if no key opens the file; the engine's error for other failures, such as
    ///   `SQLITE_BUSY`.
    mutating func run() throws(KeyError) -> KeyedConnection {
        var triedSalt: [UInt8]?
        var refusal: KeyError?
        // More rounds would not help: the salt changes only once, when another process creates the file or
        // rotates its key.
        for _ in 0..<3 {
            var first: Probe? = try probe()
            let salt = first?.header.salt ?? []
            guard salt != triedSalt else { break }
            triedSalt = salt
            answers = [:]
            for keyIndex in ring.candidates(forSalt: salt) {
                do throws(KeyError) {
                    if let connection = try attempt(keyIndex, on: first.take()) { return connection }
                } catch {
                    // A journal may belong to the file's previous key.
                    guard case .foreignSideFile = error.failure else { throw error }
                    refusal = refusal ?? error
                }
            }
        }
        if let refusal { throw refusal }
        throw try reasonOfRefusal()
    }

    /// Returns a keyed connection, or nil if the key does not open the file.
    ///
    /// - Parameters:
    ///   - fresh: an unused connection; nil to open one.
    ///   - isRepeated: true if a key from a keyring has not opened the file.
    private mutating func attempt(
        _ keyIndex: Int, on fresh: consuming Probe?, isRepeated: Bool = false
    ) throws(KeyError) -> KeyedConnection? {
        let probe: Probe
        switch consume fresh {
        case .some(let fresh): probe = fresh
        case nil: probe = try self.probe()
        }
        let salt = probe.header.salt
        if let known = ring.cachedMaterial(keyIndex: keyIndex, fileSalt: salt) {
            guard try !probe.handle.unlock(with: known, of: ring, work: work) else {
                return keyed(probe, with: known, keyIndex)
            }
            ring.discardMaterial(keyIndex: keyIndex, fileSalt: salt)
            // A provider may return another key by now.
            guard ring.keys[keyIndex].isProvider else { return nil }
            _ = consume probe
            return try attempt(keyIndex, on: nil)
        }
        let material = try material(
            keyIndex, fileSalt: salt, settings: ring.settings, path: probe.handle.filename(schema: "main"))
        guard try probe.handle.unlock(with: material, of: ring, work: work) else {
            // The keyring may have another key for this salt by now.
            guard (answers[keyIndex] ?? ring.keys[keyIndex]).forgetFinding(fileSalt: salt), !isRepeated else {
                return nil
            }
            _ = consume probe
            return try attempt(keyIndex, on: nil, isRepeated: true)
        }
        return keyed(probe, with: material, keyIndex)
    }

    private func keyed(_ probe: consuming Probe, with material: KeyRing.Material, _ keyIndex: Int)
        -> KeyedConnection
    {
        ring.remember(material, keyIndex: keyIndex, fileSalt: probe.header.salt)
        let isFileEmpty = probe.header.isEmptyFile
        return KeyedConnection(connection: probe.connection, isFileEmpty: isFileEmpty)
    }

    /// Sets the key of an open connection on which nothing has run yet, using the current key only.
    ///
    /// - Returns: true if the file was empty, as in ``KeyedConnection/isFileEmpty``.
    /// - Throws: the typed reason. The connection is then unusable, and its owner closes it.
    mutating func setKey(of handle: ConnectionHandle) throws(KeyError) -> Bool {
        let header = try FileHeader.read(handle)
        let material: KeyRing.Material =
            if let known = ring.cachedMaterial(keyIndex: 0, fileSalt: header.salt) {
                known
            } else {
                try material(
                    0, fileSalt: header.salt, settings: ring.settings, path: handle.filename(schema: "main"))
            }
        guard try handle.unlock(with: material, of: ring, work: work) else {
            ring.discardMaterial(keyIndex: 0, fileSalt: header.salt)
            _ = (answers[0] ?? ring.keys[0]).forgetFinding(fileSalt: header.salt)
            throw try reasonOfRefusal()
        }
        ring.remember(material, keyIndex: 0, fileSalt: header.salt)
        return header.isEmptyFile
    }

    /// Returns the material for a key. A provider is called once per attempt.
    mutating func material(
        _ keyIndex: Int, fileSalt: [UInt8], settings: CipherSettings, path: String? = nil
    ) throws(KeyError) -> KeyRing.Material {
        let key = if let answer = answers[keyIndex] { answer } else { try ring.resolve(keyIndex: keyIndex) }
        answers[keyIndex] = key
        return try ring.derive(from: key, fileSalt: fileSalt, settings: settings, path: path)
    }
}

extension KeyRing {
    typealias Open = () throws(EngineError) -> EngineConnection

    /// Opens a connection and sets its key: see ``KeyedOpening/run()``.
    func openKeyed(work: PageWork = .engine, open: @escaping Open) throws(KeyError) -> KeyedConnection {
        var opening = KeyedOpening(self, work: work, open: open)
        return try opening.run()
    }
}
