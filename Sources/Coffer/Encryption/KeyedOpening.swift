internal import KeyMaterial
internal import SQLCipherBridge

/// A connection that has its key and can read and write.
struct KeyedConnection: ~Copyable {
    let connection: EngineConnection

    /// Whether the file was empty, so that its salt is still to be written: call
    /// ``ConnectionHandle/claimEmptyFile()`` before anybody relies on the file, and after the pragmas that
    /// must come first (auto_vacuum, encoding). On `SQLITE_NOTADB` another connection was faster: close, and
    /// open anew.
    let isFileEmpty: Bool

    var handle: ConnectionHandle { connection.handle }
}

/// One attempt to open a file with the keys of a ring: which of them opens it, and if none does, why (see
/// ``reasonOfRefusal()``).
///
/// Decryption errors stick to a connection, so that each key and each format is tried on a connection of its
/// own.
struct KeyedOpening: ~Copyable {
    let ring: KeyRing

    /// Opens a connection with its busy handling, and runs nothing on it.
    private let open: KeyRing.Open

    /// Who does the cryptographic work of the connection that is opened.
    private let work: PageWork

    /// What the providers of the ring have answered. One answer serves all formats.
    private(set) var answers: [Int: DatabaseKey] = [:]

    init(_ ring: KeyRing, work: PageWork = .engine, open: @escaping KeyRing.Open) {
        self.ring = ring
        self.work = work
        self.open = open
    }

    /// A connection without a key, and what its file looks like to it: it may have changed since the last
    /// one.
    struct Probe: ~Copyable {
        let connection: EngineConnection
        let header: FileHeader

        var handle: ConnectionHandle { connection.handle }
    }

    /// - Parameter count: how much to read of the header.
    func probe(headerCount count: Int = 16) throws(KeyError) -> Probe {
        do throws(EngineError) {
            let connection = try open()
            let header = try FileHeader(connection.handle, count: count)
            return Probe(connection: connection, header: header)
        } catch {
            throw KeyError(error)
        }
    }

    /// Makes a connection able to read and write: key, cipher settings, proof of the codec, proof of the key
    /// (I3).
    ///
    /// The keys are tried in order. When none opens the file and its salt changed meanwhile (two processes
    /// created it at once, or another one rotated the key), they are tried again. A provider is asked only
    /// when nothing that it answered before opens the file.
    ///
    /// - Throws: the typed reason when no key opens the file; the engine's error when there is another one,
    ///   such as `SQLITE_BUSY`.
    mutating func run() throws(KeyError) -> KeyedConnection {
        var triedSalt: [UInt8]?
        var refusal: KeyError?
        // More rounds would not help: the salt changes once when another process creates the file or rotates
        // its key.
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
                    // A journal may belong to the key that the file had before.
                    guard case .foreignSideFile = error.failure else { throw error }
                    refusal = refusal ?? error
                }
            }
        }
        if let refusal { throw refusal }
        throw try reasonOfRefusal()
    }

    /// A keyed connection, or nil when the key does not open the file.
    ///
    /// - Parameter fresh: a connection that has not been used; nil to open one.
    private mutating func attempt(_ keyIndex: Int, on fresh: consuming Probe?) throws(KeyError)
        -> KeyedConnection?
    {
        let probe: Probe
        switch consume fresh {
        case .some(let fresh): probe = fresh
        case nil: probe = try self.probe()
        }
        let salt = probe.header.salt
        if let known = ring.cachedMaterial(keyIndex: keyIndex, fileSalt: salt) {
            guard try !ring.unlock(probe.handle, with: known, settings: ring.settings, work: work) else {
                return keyed(probe, with: known, keyIndex)
            }
            ring.discardMaterial(keyIndex: keyIndex, fileSalt: salt)
            // A provider may have another key by now.
            guard ring.keys[keyIndex].isProvider else { return nil }
            _ = consume probe
            return try attempt(keyIndex, on: nil)
        }
        let material = try material(
            keyIndex, fileSalt: salt, settings: ring.settings, path: probe.handle.filename(schema: "main"))
        guard try ring.unlock(probe.handle, with: material, settings: ring.settings, work: work) else {
            return nil
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

    /// Keys one open connection that nothing ran on yet, with the current key only.
    ///
    /// - Returns: whether the file was empty, as in ``KeyedConnection/isFileEmpty``.
    /// - Throws: the typed reason. The connection is of no use then, and its owner closes it.
    mutating func setKey(of handle: ConnectionHandle) throws(KeyError) -> Bool {
        let header = try FileHeader.read(handle)
        let material: KeyRing.Material =
            if let known = ring.cachedMaterial(keyIndex: 0, fileSalt: header.salt) {
                known
            } else {
                try material(
                    0, fileSalt: header.salt, settings: ring.settings, path: handle.filename(schema: "main"))
            }
        guard try ring.unlock(handle, with: material, settings: ring.settings, work: work) else {
            ring.discardMaterial(keyIndex: 0, fileSalt: header.salt)
            throw try reasonOfRefusal()
        }
        ring.remember(material, keyIndex: 0, fileSalt: header.salt)
        return header.isEmptyFile
    }

    /// What a connection needs for a key, whose provider is asked once in this attempt.
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

    /// Opens a connection that has its key: see ``KeyedOpening/run()``.
    func openKeyed(work: PageWork = .engine, open: @escaping Open) throws(KeyError) -> KeyedConnection {
        var opening = KeyedOpening(self, work: work, open: open)
        return try opening.run()
    }
}
