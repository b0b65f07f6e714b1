internal import KeyMaterial
internal import SQLCipherBridge

// Checks of `ATTACH` and `VACUUM INTO` in SQL (invariant "No plaintext by accident"). SQLite executes either
// only with an existing file that its owner alone can access, and with the key that the file must have.

extension Database {
    /// Adds the two functions that Coffer inserts into `ATTACH` statements, and the check of `VACUUM INTO`.
    /// See ``AttachStatement``.
    func addAttachFunctions() throws {
        inspector.refusalOfNestedAttach = { [unowned self] path in refusal(ofNestedAttach: path) }
        try DatabaseError.converting {
            try handle.createDirectFunction(AttachStatement.pathFunction, argumentCount: -1) {
                [reference] context, arguments in
                reference.database?.attach(context) { try $0.setPath(arguments, context) }
            }
            try handle.createDirectFunction(AttachStatement.keyFunction, argumentCount: -1) {
                [reference] context, arguments in
                reference.database?.attach(context) { try $0.setKey(arguments, context) }
            }
        }
    }

    /// Runs `body`, and makes the statement fail with its error, if any, in Coffer's words.
    private func attach(_ context: FunctionContext, _ body: (Database) throws -> Void) {
        do {
            try body(self)
        } catch {
            let failure = DatabaseError.publicError(error)
            var (code, words): (CInt, String) =
                if let failure = failure as? DatabaseError {
                    (
                        failure.extendedResultCode.rawValue,
                        failure.message ?? ConnectionHandle.describe(failure.extendedResultCode.rawValue)
                    )
                } else {
                    (EngineCode.error, "The key of the file could not be obtained: \(type(of: failure))")
                }
            // The path may be intended as a URI.
            if KeyRedaction.isURIWithKey(words) { words = ConnectionHandle.describe(code) }
            inspector.refuse(words, because: (failure as? DatabaseError)?.encryptionFailure)
            context.set(EngineError(code: code, message: words))
        }
    }

    private func setPath(_ arguments: FunctionArguments, _ context: FunctionContext) throws {
        guard arguments.count == 1 else { return context.setNull() }
        let value = arguments[0]
        let path = value.type == EngineType.null ? "" : value.string
        guard !path.utf8.contains(0) else {
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN,
                message: "unable to open database file: the path has a NUL character")
        }
        // SQLite treats the path as a URI if the connection allows URIs, as connections to a named in-memory
        // database do, or if it was compiled that way. In Coffer's API it is always a path.
        attachedPath = path.hasPrefix("file:") ? "./\(path)" : path
        context.set(attachedPath)
    }

    private func setKey(_ arguments: FunctionArguments, _ context: FunctionContext) throws {
        let path = attachedPath
        attachedPath = ""
        let value: ValueHandle? = arguments.count == 0 ? nil : arguments[0]
        let isFile = !path.isEmpty && path != ":memory:"
        switch value?.type ?? EngineType.null {
        case EngineType.null:
            guard isFile else { return context.setNull() }
            try setInheritedKey(path, context)
        case EngineType.text, EngineType.blob:
            guard let value else { return }
            let isPlaintext = value.byteCount == 0
            if isFile {
                try isPlaintext ? checkMayCreatePlaintext(path) : EmptyFilePlace.check(path)
                try createAttachedFile(path)
            }
            if isFile, isPlaintext {
                try refuseEncryptedFile(path)
            } else if isFile, let judged = try judgedKey(value, path) {
                return context.set(wiping: judged)
            }
            // Pass a copy that is wiped: SQLite would not wipe its own.
            value.byteCount == 0 ? context.set(value) : context.set(wiping: value.secret)
        default:
            // SQLCipher rejects numbers, but only after it has looked for the file.
            throw DatabaseError(encryptionFailure: .invalidKey(.number))
        }
    }

    /// Sets the key of a file that is attached without one: this database's key, if it has one.
    private func setInheritedKey(_ path: String, _ context: FunctionContext) throws {
        guard let ring = keying.ring else {
            try checkMayCreatePlaintext(path)
            try createAttachedFile(path)
            try refuseEncryptedFile(path)
            return context.setNull()
        }
        guard ring.settings.ofFile == CipherSettings() else {
            throw DatabaseError(
                resultCode: .SQLITE_AUTH,
                message:
                    "ATTACH uses SQLCipher's default cipher settings, and this database has others. Give the "
                    + "file a key with KEY, or use vacuum(into:).")
        }
        try EmptyFilePlace.check(path)
        try createAttachedFile(path)
        let attachedKeys = try keying.ringOfAttachedFiles(ring)
        let open = openProbe(ofAttachedFile: path)
        let header = try attachedFileHeader(open)
        let (material, salt) =
            if header.salt.isEmpty {
                try newMaterial(attachedKeys)
            } else {
                (try materialOfAttachedFile(header.salt, attachedKeys, ring, path, open), header.salt)
            }
        context.set(wiping: ConnectionHandle.keyText(rawKey: material.secret.bytes, salt: salt))
    }

    private func openProbe(ofAttachedFile path: String) -> KeyRing.Open {
        { [configuration] () throws(EngineError) in
            let probe = try configuration.openFile(at: path)
            probe.handle.busyTimeout(seconds: 1)
            return probe
        }
    }

    private func attachedFileHeader(_ open: KeyRing.Open) throws -> FileHeader {
        let probe = try open()
        return try FileHeader(probe.handle)
    }

    /// Derives the key of this database for a new salt. Pages could be swapped undetected between two files
    /// with the same key and salt.
    private func newMaterial(_ ring: KeyRing) throws -> (KeyRing.Material, salt: [UInt8]) {
        let key = try ring.resolve(keyIndex: 0)
        guard key.salt == nil else {
            throw DatabaseError(
                resultCode: .SQLITE_AUTH,
                message:
                    "The key of this database includes a salt, and two files must not have the same salt. "
                    + "Give the file a key with KEY, or use vacuum(into:key:).")
        }
        let salt = try SystemRandomness.bytes(count: 16)
        return (try ring.derive(from: key, fileSalt: salt, settings: ring.settings), salt)
    }

    private func materialOfAttachedFile(
        _ salt: [UInt8], _ attachedKeys: KeyRing, _ ring: KeyRing, _ path: String,
        _ open: @escaping KeyRing.Open
    ) throws -> KeyRing.Material {
        if !SideFiles.lie(beside: path), let index = ring.usedKeyIndex, ring.keys[index].salt == nil,
            let known = ring.cachedMaterial(keyIndex: index, fileSalt: salt), known.isBoundToFileSalt
        {
            return known
        }
        return try judgedMaterial(forSalt: salt, attachedKeys, open)
    }

    /// Verifies the key of a file with a separate connection. That connection also checks the file's journal
    /// or WAL file, and plays it back when it is closed. `ATTACH` opens, unlocks and plays back in a single
    /// call to SQLite, which leaves no point at which to check.
    private func judgedMaterial(forSalt salt: [UInt8], _ keys: KeyRing, _ open: @escaping KeyRing.Open) throws
        -> KeyRing.Material
    {
        _ = try keys.openKeyed(open: open)
        guard let index = keys.usedKeyIndex,
            let material = keys.cachedMaterial(keyIndex: index, fileSalt: salt)
        else {
            throw DatabaseError(
                resultCode: .SQLITE_BUSY,
                message:
                    "The salt of the file changed while its key was being verified. Try again.")
        }
        return material
    }

    /// Returns the derived form of the key in the statement, after the key and the side files are verified.
    /// Nil for an empty file, which has neither a salt nor side files.
    ///
    /// - Throws: the reason why the key does not open the file, as a typed error, which SQLite does not
    ///   report.
    private func judgedKey(_ value: ValueHandle, _ path: String) throws -> SecretBytes? {
        try unlessEngineWaits(path) { () throws -> SecretBytes? in
            let open = openProbe(ofAttachedFile: path)
            let salt = try attachedFileHeader(open).salt
            guard !salt.isEmpty else { return nil }
            let material = try judgedMaterial(
                forSalt: salt, KeyRing(key: DatabaseKey(sqlCipherText: value.secret)), open)
            return ConnectionHandle.keyText(rawKey: material.secret.bytes, salt: material.salt ?? salt)
        }
    }

    private func refuseEncryptedFile(_ path: String) throws {
        _ = try unlessEngineWaits(path) { () throws -> Void? in
            let open = openProbe(ofAttachedFile: path)
            let probe = try open()
            return try probe.handle.refuseEncryptedFile()
        }
    }

    /// Checks a file before SQLite attaches it. If the check fails for a reason unrelated to the key, such as
    /// a lock, it returns nil: SQLite then attaches the file and waits for the lock with the connection's
    /// busy handling. It rethrows the error if there are side files, which must be checked.
    private func unlessEngineWaits<T: ~Copyable>(_ path: String, _ look: () throws -> T?) throws -> T? {
        do {
            return try look()
        } catch {
            let isReasonOfKey = (error as? KeyError)?.failure != nil || error is DatabaseError
            // SQLite could not open the file either, and would not report why.
            let isUnopened = (error as? EngineError)?.primaryCode == EngineCode.cantOpen
            guard !isReasonOfKey, !isUnopened, !SideFiles.lie(beside: path) else { throw error }
            return nil
        }
    }

    private func checkMayCreatePlaintext(_ path: String) throws {
        guard !configuration.allowsPlaintext, Database.isEmptyOrMissing(path) else { return }
        throw DatabaseError(
            resultCode: .SQLITE_AUTH,
            message:
                "The new file would not be encrypted: \(path). Give it a key with KEY. Or use "
                + "vacuum(into:key:), or allow plaintext with Configuration.allowsPlaintext.")
    }

    private func createAttachedFile(_ path: String) throws {
        // A connection to an in-memory database can write to attached files, even if it is configured to be
        // read-only.
        try Database.prepareFile(at: path, configuration: configuration, isWritten: !location.isFile)
    }
}

// MARK: - VACUUM INTO

extension Database {
    /// Returns the reason to reject an `ATTACH` that SQLite runs inside another statement, or nil to allow
    /// it. `VACUUM` attaches a temporary file without a name, and `VACUUM INTO` attaches the file that it
    /// creates.
    private func refusal(ofNestedAttach path: String) -> String? {
        let isVacuum = handle.pendingStatements.contains { statement in
            guard statement.isBusy else { return false }
            var scanner = SQLScanner(Array(statement.sql.utf8))
            while let token = scanner.next() {
                if token.kind != .semicolon { return token.word == "vacuum" }
            }
            return false
        }
        guard isVacuum else { return nil }
        guard !isEncrypted else {
            return
                "VACUUM INTO would copy the salt of the encrypted database, but not its cipher settings. Use "
                + "vacuum(into:) instead."
        }
        guard configuration.allowsPlaintext else {
            return
                "The copy would not be encrypted. Use vacuum(into:key:), or allow plaintext with "
                + "Configuration.allowsPlaintext."
        }
        guard !path.hasPrefix("file:") else {
            return "A path that begins with 'file:' would be treated as a URI. Write './file:' instead."
        }
        do {
            try Database.prepareFile(at: path, configuration: configuration, isWritten: true)
            return nil
        } catch {
            guard let words = (error as? DatabaseError)?.message, !KeyRedaction.isURIWithKey(words) else {
                return "The file cannot be created."
            }
            return words
        }
    }
}
