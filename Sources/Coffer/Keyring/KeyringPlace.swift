internal import SQLCipherBridge
internal import SystemCalls

/// A database, and the file of its keyring. The path of the keyring is resolved once, so that one operation
/// never uses two files.
struct KeyringPlace {
    let databasePath: String
    let file: KeyringFile

    /// - Throws: `unreadable` if symbolic links cannot be followed: the keyring could be elsewhere.
    init(_ databasePath: String) throws(KeyError) {
        self.databasePath = databasePath
        file = try KeyringFile(ofDatabase: databasePath)
    }

    /// Runs a part of an operation, and converts its errors.
    func translated<Result>(_ body: () throws -> Result) throws -> Result {
        try DatabaseFileError.translated(file.path, body)
    }

    func unlock(_ document: KeyringDocument, _ secret: DatabaseKeyring.Secret) throws(KeyError)
        -> UnlockedKeyring
    {
        try secret.check(file)
        return try UnlockedKeyring.unlock(document, by: secret, file)
    }

    /// Opens a keyring whose data key or slots are to be used for another file. The database must confirm the
    /// keyring; otherwise the keyring must be one that no user except the trusted ones can have
    /// created.
    func unlockTrusted(_ secret: DatabaseKeyring.Secret) throws -> UnlockedKeyring {
        let document = try file.document().document
        let unlocked = try unlock(document, secret)
        // The salt itself may be damaged.
        if (try? isProved(unlocked)) == true { return unlocked }
        let database = try SystemFile.status(databasePath, followsLinks: true)
        try file.checkIsTrusted(document, orOf: database.flatMap { $0.size > 0 ? $0.userID : nil })
        return unlocked
    }

    // MARK: - The database

    /// Returns the salt of the database; nil if there is no file, or it is empty.
    func databaseSalt() throws -> [UInt8]? {
        guard let status = try SystemFile.status(databasePath, followsLinks: true), status.size > 0 else {
            return nil
        }
        // Use the engine: closing a descriptor of our own would release the POSIX locks of this process's
        // connections.
        let connection = try EngineConnection(path: try SystemFile.resolved(databasePath), flags: .readOnly)
        let header = try FileHeader(connection.handle)
        guard header.salt != DatabaseHeader.magic else { throw KeyError.failure(.plaintextFile) }
        return header.salt
    }

    /// Returns true if page 1 of the database is authentic with a data key of the keyring. It is not if it is
    /// damaged, or if the database has unusual cipher settings.
    ///
    /// The salt proves nothing. It depends on the number of the data key, and a keyring that was restored
    /// from a copy gives the same number to another key.
    func isProved(_ keyring: UnlockedKeyring) throws -> Bool {
        let connection = try EngineConnection(path: try SystemFile.resolved(databasePath), flags: .readOnly)
        let header = try FileHeader(connection.handle, count: FileHeader.longestPage)
        guard let key = try keyring.dataKey(keyring.epoch(ofSalt: header.salt, file)) else { return false }
        let material = KeyRing.Material(secret: key, salt: nil, isBoundToFileSalt: false)
        return try CipherSearch(header).settings(
            for: DatabaseKey(.rawKey(key, salt: nil)), own: CipherSettings(), { _ in material }) != nil
    }

    /// Checks that the database has a data key of the keyring, if there is a database.
    func checkIsOfDatabase(_ keyring: UnlockedKeyring) throws {
        if let salt = try databaseSalt() { _ = try keyring.epoch(ofSalt: salt, file) }
    }

    /// Returns true if the database may have the data key of a keyring, so that nothing else would open it.
    ///
    /// The error of the work does not answer this: it may come from the caller, after the database was put in
    /// its place. So the database itself is checked. If it cannot be read, the result is true.
    private func mayHaveKey(of keyring: UnlockedKeyring) -> Bool {
        do {
            guard let salt = try databaseSalt() else { return false }
            _ = try keyring.epoch(ofSalt: salt, file)
            return true
        } catch {
            switch (error as? KeyError)?.failure {
            case .plaintextFile, .keyring(_, .ofAnotherFile): return false
            default: return true
            }
        }
    }

    /// Gives a new keyring the owner of its database, if this process can: the programs of that user could
    /// not open the database with a keyring of the superuser. Its mode lets no other user read it.
    ///
    /// A keyring whose data key the database does not have is not changed: the next run completes an
    /// interrupted one only if the keyring belongs to the same user. Nor is a file with another content.
    func giveOwnerOfDatabase(to keyring: UnlockedKeyring) {
        try? {
            // The database is only opened for a keyring of another user.
            guard let database = try SystemFile.status(databasePath, followsLinks: true),
                let present = try SystemFile.status(file.path),
                (present.userID, present.groupID) != (database.userID, database.groupID),
                let salt = try databaseSalt()
            else { return }
            _ = try keyring.epoch(ofSalt: salt, file)
            let content = try KeyringText.file(of: keyring.document)
            let made = try FileDescriptor.openNote(file.path, forWriting: false)
            let status = try made.status()
            guard status.isRegular, status.linkCount == 1, status.isOwn,
                try made.read(at: 0, count: content.count + 1) == content
            else { return }
            let attributes = FileAttributes(
                userID: database.userID, groupID: database.groupID, permissions: status.permissions & 0o600)
            guard attributes.canBeKeptByThisProcess else { return }
            try attributes.apply(to: made)
            try made.synchronize()
        }()
    }

    /// Removes a new keyring whose database was not created, unless the database may need it. Called while
    /// the keyring is locked.
    ///
    /// A program that opens a database with its keyring does not take that lock. So that no program creates
    /// the database meanwhile, a missing file is replaced by a placeholder, and an empty one is locked. If
    /// that fails, the keyring stays.
    func takeBack(_ keyring: UnlockedKeyring) {
        func remove() throws {
            guard !mayHaveKey(of: keyring) else { return }
            try SystemFile.remove(file.path)
            try SystemFile.synchronize(directoryOf: file.path)
        }
        guard !mayHaveKey(of: keyring) else { return }
        try? {
            guard let status = try SystemFile.status(databasePath, followsLinks: true) else {
                return try HeldFile.whilePlaceholderHasName(databasePath, remove)
            }
            // Only a rotation, which locks the keyring, gives it a database with content.
            guard status.size == 0 else { return try remove() }
            // Closing a descriptor would release the locks of this process's connections.
            guard try FileUsers.ownDescriptorCount(of: status) == 0 else { return }
            let lock = try FileDescriptor.open(SystemFile.resolved(databasePath), forWriting: true)
            guard try lock.status().isSameFile(as: status), lock.lockAsDatabase(),
                try FileUsers.others(of: status).isEmpty
            else { return }
            try remove()
            withExtendedLifetime(lock) {}
        }()
    }
}
