extension DatabaseFile {
    /// Encrypts a plaintext database.
    ///
    /// The content is copied row by row, with all row IDs, and the copy is proved as ``ConversionProof`` says. Without a destination it takes the place of
    /// the file, whose mode, owner, access control lists and journal mode it has, as in ``rotate(from:to:options:progress:)``. With one, the file
    /// is only read, also while others use it.
    ///
    /// What was plaintext on the disk may remain in blocks that the file system does not use any more.
    /// - Parameters:
    ///   - destination: a path where nothing is; nil to take the place of the file.
    ///   - key: the key of the result.
    ///   - progress: hears of pages; throws to end the work, which leaves everything as it was.
    /// - Throws: a ``DatabaseFileError``.
    @discardableResult
    public func encrypt(
        to destination: String? = nil, key: DatabaseKey, options: ConversionOptions = ConversionOptions(),
        progress: ProgressFunction? = nil
    ) throws -> ConversionResult {
        try encryption(to: destination, key: key, options).run(progress: ProgressReport(progress))
    }

    /// Tells what ``encrypt(to:key:options:progress:)`` would do, and changes nothing.
    public func encryptionPlan(
        to destination: String? = nil, key: DatabaseKey, options: ConversionOptions = ConversionOptions()
    ) throws -> ConversionPlan {
        try encryption(to: destination, key: key, options).plan()
    }

    private func encryption(to destination: String?, key: DatabaseKey, _ options: ConversionOptions) throws -> FileConversion {
        try FileConversion.make(path: path) {
            FileConversion(
                operation: .encrypt, path: path, destination: destination, before: .plaintext,
                after: try .encrypted(key, cipher: options.newCipher ?? CipherSettings()), options: options)
        }
    }

    /// Decrypts a database: the result is a SQLite file that anybody can read.
    ///
    /// It is made and proved as ``encrypt(to:key:options:progress:)`` says. Only its owner can read the result, also where others could read the
    /// encrypted file: give them the right to read it afterwards, if that is meant.
    ///
    /// ```swift
    /// try DatabaseFile(path: "/srv/vault/vault.db").decrypt(
    ///     to: "/srv/vault/export.db", key: .passphrase("old"), confirming: .contentBecomesReadableByAnyone)
    /// ```
    /// - Parameters:
    ///   - destination: a path where nothing is; nil to take the place of the file.
    ///   - key: the key of the file.
    ///   - confirmation: that this is meant.
    ///   - progress: hears of pages; throws to end the work, which leaves everything as it was.
    /// - Returns: what was done and proved.
    /// - Throws: a ``DatabaseFileError``: `unsafeFile(.sharedDirectory)` where other users may rename files in the directory of the result.
    @discardableResult
    public func decrypt(
        to destination: String? = nil, key: DatabaseKey, confirming confirmation: PlaintextConfirmation,
        options: ConversionOptions = ConversionOptions(), progress: ProgressFunction? = nil
    ) throws -> ConversionResult {
        try decryption(to: destination, key: key, options).run(progress: ProgressReport(progress))
    }

    /// Tells what ``decrypt(to:key:confirming:options:progress:)`` would do, and changes nothing.
    public func decryptionPlan(
        to destination: String? = nil, key: DatabaseKey, options: ConversionOptions = ConversionOptions()
    ) throws -> ConversionPlan {
        try decryption(to: destination, key: key, options).plan()
    }

    private func decryption(to destination: String?, key: DatabaseKey, _ options: ConversionOptions) throws -> FileConversion {
        try FileConversion.make(path: path) {
            FileConversion(
                operation: .decrypt, path: path, destination: destination, before: try .encrypted(key, cipher: options.cipher),
                after: .plaintext, options: options)
        }
    }
}
