internal import KeyMaterial
internal import SQLCipherBridge

// What `ATTACH` and `VACUUM INTO` may do by SQL (I1). Both get to SQLite only with a file that exists, with
// access for its owner, and with the key that it is to have.

extension Database {
    /// Adds the two functions that `ATTACH` is compiled with, and the judge of `VACUUM INTO`. See
    /// ``AttachStatement``.
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

    /// Ends the statement with an error in our words, if `body` throws one.
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
                    (EngineCode.error, "The key of the file could not be had: \(type(of: failure))")
                }
            // The path may be what a user takes for a URI.
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
        // The engine takes it for a URI where the connection reads them, as those to a named database in
        // memory do, or where it was built so. What users write is a path.
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
                if isPlaintext { try checkMayCreatePlaintext(path) }
                try createAttachedFile(path)
            }
            if isFile, isPlaintext {
                try refuseEncryptedFile(path)
            } else if isFile, let judged = try judgedKey(value, path) {
                return context.set(wiping: judged)
            }
            // A copy that is wiped: SQLite's own would not be.
            value.byteCount == 0 ? context.set(value) : context.set(wiping: value.secret)
        default:
            // SQLCipher refuses numbers, after it has looked for the file.
            throw DatabaseError(encryptionFailure: .invalidKey(.number))
        }
    }

    /// The key for a file that was attached without one: that of this database, if it has one.
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
                    "ATTACH knows SQLCipher's own cipher settings only, so that the file would not be "
                    + "readable with those of this database. Give it a key with KEY, or use "
                    + "vacuum(into:).")
        }
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

    /// The key of this database with a salt of its own: pages of two files with the same key and salt could
    /// be exchanged unnoticed.
    private func newMaterial(_ ring: KeyRing) throws -> (KeyRing.Material, salt: [UInt8]) {
        let key = try ring.resolve(keyIndex: 0)
        guard key.salt == nil else {
            throw DatabaseError(
                resultCode: .SQLITE_AUTH,
                message:
                    "The key of this database has a salt with it, which another file must not have as well. "
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

    /// Proves the key of a file by a connection of its own, which has what lies beside the file judged, and
    /// has played back what belongs to it when it is closed: `ATTACH` opens, unlocks and plays back in one
    /// call of the engine, in which no other code has a say.
    private func judgedMaterial(forSalt salt: [UInt8], _ keys: KeyRing, _ open: @escaping KeyRing.Open) throws
        -> KeyRing.Material
    {
        _ = try keys.openKeyed(open: open)
        guard let index = keys.usedKeyIndex,
            let material = keys.cachedMaterial(keyIndex: index, fileSalt: salt)
        else {
            throw DatabaseError(
                resultCode: .SQLITE_BUSY, message: "The file got another salt meanwhile. Try again.")
        }
        return material
    }

    /// The key that a statement gives, derived, after the key was proved, and the side files were judged with
    /// it; nil for an empty file, which has neither.
    ///
    /// - Throws: the typed reason if the key does not open the file, which the engine would not give.
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

    /// Looks at a file before the engine attaches it. If a look fails for another reason than a key, such as
    /// a lock, the engine attaches the file in its own way, and waits as the connection does; not if there
    /// are side files, which have to be judged.
    private func unlessEngineWaits<T: ~Copyable>(_ path: String, _ look: () throws -> T?) throws -> T? {
        do {
            return try look()
        } catch {
            let isReasonOfKey = (error as? KeyError)?.failure != nil || error is DatabaseError
            // The engine could not open it either, and would not say why.
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
                + "vacuum(into:key:), or allow it with Configuration.allowsPlaintext.")
    }

    private func createAttachedFile(_ path: String) throws {
        // A database in memory can attach files to write, whatever is said of itself.
        try Database.prepareFile(at: path, configuration: configuration, isWritten: !location.isFile)
    }
}

// MARK: - VACUUM INTO

extension Database {
    /// Why a file must not be attached that a statement attaches while it runs, or nil. `VACUUM` does so with
    /// a temporary file, which has no name, and `VACUUM INTO` with the file that it makes.
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
                "The copy that VACUUM INTO makes of an encrypted database has its salt, and not its cipher "
                + "settings. Use vacuum(into:) instead."
        }
        guard configuration.allowsPlaintext else {
            return
                "The copy would not be encrypted. Use vacuum(into:key:), or allow it with "
                + "Configuration.allowsPlaintext."
        }
        guard !path.hasPrefix("file:") else {
            return "A name that begins with 'file:' would be taken for a URI. Write './file:' instead."
        }
        do {
            try Database.prepareFile(at: path, configuration: configuration, isWritten: true)
            return nil
        } catch {
            guard let words = (error as? DatabaseError)?.message, !KeyRedaction.isURIWithKey(words) else {
                return "The file cannot be made."
            }
            return words
        }
    }
}
