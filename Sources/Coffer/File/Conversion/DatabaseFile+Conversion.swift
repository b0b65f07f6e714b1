extension DatabaseFile {
    /// An operation on the content of a file that keeps its rows.
    package enum Work: Sendable {
        /// Encrypts the file. Without a destination, the result replaces the file.
        case encrypt(to: String?, DatabaseKey)
        case decrypt(to: String?, DatabaseKey)
        /// Upgrades the file. Without a new key, the file keeps its own.
        case upgrade(DatabaseKey, newKey: DatabaseKey?)
        case vacuum(DatabaseKey?)
        /// Copies pages, if the result can have the same ones.
        case backup(to: String, DatabaseKey?, newKey: DatabaseKey?)
        /// Copies pages to a file whose name contains the date, in a folder.
        case datedBackup(in: String, DatabaseKey?, newKey: DatabaseKey?)
        /// Copies pages, and passes the copy on in pieces once it is proved. Until then the copy is in a
        /// folder, without a name.
        case streamedBackup(
            in: String, DatabaseKey?, newKey: DatabaseKey?, write: @Sendable ([UInt8]) throws -> Void)
        /// Copies pages to the place of another file, which gets another name.
        case restore(to: String, DatabaseKey?, newKey: DatabaseKey?)
        /// Copies rows.
        case copy(to: String, DatabaseKey?, newKey: DatabaseKey?)

        /// True for a backup without a key of its own.
        var keepsKey: Bool {
            switch self {
            case .backup(_, _, let newKey), .datedBackup(_, _, let newKey),
                .streamedBackup(_, _, let newKey, _):
                newKey == nil
            default: false
            }
        }

        /// The path of a new file for the result; nil if the result replaces the file.
        package var destination: String? {
            switch self {
            case .encrypt(let path, _), .decrypt(let path, _): path
            case .backup(let path, _, _), .copy(let path, _, _), .datedBackup(let path, _, _),
                .restore(let path, _, _):
                path
            case .streamedBackup: "-"
            case .upgrade, .vacuum: nil
            }
        }
    }

    /// Returns a plan of ``perform(_:options:progress:)``, and changes nothing.
    package func plan(_ work: Work, options: ConversionOptions) throws -> ConversionPlan {
        try FileConversion(path: path, work, options).plan()
    }

    /// Performs an operation on the file. See the public functions below for the details of each.
    package func perform(_ work: Work, options: ConversionOptions, progress: ProgressFunction?) throws
        -> ConversionResult
    {
        try FileConversion(path: path, work, options).perform(progress: ProgressReport(progress))
    }
}

// MARK: - Encrypting and decrypting

extension DatabaseFile {
    /// Encrypts a plaintext database.
    ///
    /// The content is copied row by row, with all row IDs, and the copy is proved as described for
    /// ``ConversionProof``. Without a destination it replaces the file, and keeps its mode, owner, access
    /// control lists, and journal mode, as in ``rotate(from:to:options:progress:)``. With a destination, the
    /// file is only read, and may be in use.
    ///
    /// Old plaintext may remain on the disk in blocks that the file system no longer uses.
    ///
    ///     try DatabaseFile(path: plainPath).encrypt(to: encryptedPath, key: key)
    ///
    /// - Parameters:
    ///   - destination: a free path; nil to replace the file.
    ///   - key: the key of the result.
    ///   - progress: called with the number of completed pages; throws to end the work, which then changes
    ///     nothing.
    /// - Throws: a ``DatabaseFileError``: `exists` if the destination is taken; in place, `busy` if another
    ///   connection or process has the file open, and `unsafeFile(.sharedDirectory)` if other users may
    ///   rename files in the directory.
    @discardableResult
    public func encrypt(
        to destination: String? = nil, key: DatabaseKey, options: ConversionOptions = ConversionOptions(),
        progress: ProgressFunction? = nil
    ) throws -> ConversionResult {
        try perform(.encrypt(to: destination, key), options: options, progress: progress)
    }

    /// Returns a plan of ``encrypt(to:key:options:progress:)``, and changes nothing.
    ///
    /// - Parameters:
    ///   - destination: a free path; nil to replace the file.
    ///   - key: the key of the result.
    public func encryptionPlan(
        to destination: String? = nil, key: DatabaseKey, options: ConversionOptions = ConversionOptions()
    ) throws -> ConversionPlan {
        try plan(.encrypt(to: destination, key), options: options)
    }

    /// Decrypts a database: the result is a SQLite file that needs no key.
    ///
    /// It is made and proved as by ``encrypt(to:key:options:progress:)``. Only its owner can read the result,
    /// even if other users could read the encrypted file. If they are meant to read the result, give them
    /// permission afterwards.
    ///
    /// ```swift
    /// try DatabaseFile(path: path).decrypt(
    ///     to: plainPath, key: key, confirming: .contentBecomesReadableByAnyone)
    /// ```
    /// - Parameters:
    ///   - destination: a free path; nil to replace the file.
    ///   - key: the key of the file.
    ///   - confirmation: confirms that the result may be unencrypted.
    ///   - progress: called with the number of completed pages; throws to end the work, which then changes
    ///     nothing.
    /// - Returns: the result with its proof.
    /// - Throws: a ``DatabaseFileError``: `unsafeFile(.sharedDirectory)` if other users may rename files in
    ///   the directory of the result.
    @discardableResult
    public func decrypt(
        to destination: String? = nil, key: DatabaseKey, confirming confirmation: PlaintextConfirmation,
        options: ConversionOptions = ConversionOptions(), progress: ProgressFunction? = nil
    ) throws -> ConversionResult {
        try perform(.decrypt(to: destination, key), options: options, progress: progress)
    }

    /// Returns a plan of ``decrypt(to:key:confirming:options:progress:)``, and changes nothing.
    ///
    /// - Parameters:
    ///   - destination: a free path; nil to replace the file.
    ///   - key: the key of the file.
    public func decryptionPlan(
        to destination: String? = nil, key: DatabaseKey, options: ConversionOptions = ConversionOptions()
    ) throws -> ConversionPlan {
        try plan(.decrypt(to: destination, key), options: options)
    }
}

// MARK: - Copying

extension DatabaseFile {
    /// Copies the file into a new one, page by page, even while it is in use.
    ///
    /// The copy is one state of the database. It has its own salt, and gets its name after a fresh connection
    /// has found the same content in it. Nothing is overwritten, and no file is left after an error.
    /// Leftovers of a crash are removed when a copy is made to the same place again.
    ///
    /// - Parameters:
    ///   - destination: a free path.
    ///   - key: the key of the file; nil for a file without encryption.
    ///   - newKey: the key of the copy; nil for the file's key.
    ///   - progress: called with the number of completed pages; throws to end the work.
    /// - Throws: a ``DatabaseFileError``: `exists` if the destination is taken, `busy` if another run is
    ///   making the same copy.
    @discardableResult
    public func backup(
        to destination: String, key: DatabaseKey?, newKey: DatabaseKey? = nil,
        options: ConversionOptions = ConversionOptions(),
        progress: ProgressFunction? = nil
    ) throws -> ConversionResult {
        try perform(.backup(to: destination, key, newKey: newKey), options: options, progress: progress)
    }

    /// Makes a compact copy without free pages in a new file: as ``backup(to:key:newKey:options:progress:)``,
    /// but row by row.
    ///
    ///     try file.vacuum(into: compactPath, key: key)
    ///
    /// - Parameters:
    ///   - destination: a free path.
    ///   - key: the key of the file; nil for a file without encryption.
    ///   - newKey: the key of the copy; nil for the file's key.
    ///   - progress: called with the number of completed pages; throws to end the work.
    @discardableResult
    public func vacuum(
        into destination: String, key: DatabaseKey?, newKey: DatabaseKey? = nil,
        options: ConversionOptions = ConversionOptions(),
        progress: ProgressFunction? = nil
    ) throws -> ConversionResult {
        try perform(.copy(to: destination, key, newKey: newKey), options: options, progress: progress)
    }

    /// Returns a plan of ``backup(to:key:newKey:options:progress:)`` or
    /// ``vacuum(into:key:newKey:options:progress:)``, and changes nothing.
    ///
    /// - Parameters:
    ///   - destination: a free path.
    ///   - key: the key of the file; nil for a file without encryption.
    ///   - newKey: the key of the copy; nil for the file's key.
    public func copyPlan(
        to destination: String, key: DatabaseKey?, newKey: DatabaseKey? = nil,
        options: ConversionOptions = ConversionOptions()
    ) throws -> ConversionPlan {
        try plan(.copy(to: destination, key, newKey: newKey), options: options)
    }
}

// MARK: - In place

extension DatabaseFile {
    /// Upgrades a file of SQLCipher's formats 1 to 3, or with other cipher settings, to format 4, in place.
    ///
    /// The format is detected, also for files from big-endian machines, and for common settings that belong
    /// to no format: other page sizes and hash functions, a single round of PBKDF2, a plaintext header, no
    /// authentication codes. Use ``ConversionOptions/cipher`` for any others. The content is copied row by
    /// row into pages of the new size, with all row IDs. The copy replaces the file once it is proved, with
    /// its mode, owner, access control lists, and journal mode, as in ``rotate(from:to:options:progress:)``.
    /// After a crash the file is complete in one of the two formats; running the upgrade again completes it.
    ///
    /// If the file has format 4 already, nothing is done, and ``ConversionResult/isChanged`` is false.
    ///
    /// - Parameters:
    ///   - key: the key of the file. It must be the same in all formats that are tried: a passphrase is
    ///     derived for each.
    ///   - newKey: another key for the result; nil to keep the key.
    ///   - progress: called with the number of completed pages; throws to end the work, which then changes
    ///     nothing.
    /// - Throws: a ``DatabaseFileError``: `key` if the key does not open the file in any format, `busy` if
    ///   another connection or process has it open, `unsafeFile(.sharedDirectory)` if other users may rename
    ///   files in the directory.
    @discardableResult
    public func upgrade(
        key: DatabaseKey, newKey: DatabaseKey? = nil, options: ConversionOptions = ConversionOptions(),
        progress: ProgressFunction? = nil
    ) throws -> ConversionResult {
        try perform(.upgrade(key, newKey: newKey), options: options, progress: progress)
    }

    /// Returns a plan of ``upgrade(key:newKey:options:progress:)``, and changes nothing.
    ///
    /// - Parameter newKey: another key for the result; nil to keep the key.
    public func upgradePlan(
        key: DatabaseKey, newKey: DatabaseKey? = nil, options: ConversionOptions = ConversionOptions()
    ) throws -> ConversionPlan {
        try plan(.upgrade(key, newKey: newKey), options: options)
    }

    /// Removes the free pages of the file, in place, with the same care as a rotation.
    ///
    /// The content is copied row by row into a new file next to this one, with the same key and settings and
    /// a fresh salt (unless the key has a salt of its own). The copy replaces the file once it is proved,
    /// with the file's mode, owner, access control lists, and journal mode. After a crash the file is
    /// complete. Unlike `VACUUM` this needs disk space instead of memory, keeps all row IDs, reports its
    /// progress, and can be ended at any time, but no other connection may have the file open.
    ///
    /// - Parameters:
    ///   - key: the key of the file; nil for a file without encryption.
    ///   - progress: called with the number of completed pages; throws to end the work, which then changes
    ///     nothing.
    /// - Throws: a ``DatabaseFileError``: `busy` if another connection or process has the file open.
    @discardableResult
    public func vacuum(
        key: DatabaseKey?, options: ConversionOptions = ConversionOptions(), progress: ProgressFunction? = nil
    ) throws -> ConversionResult {
        try perform(.vacuum(key), options: options, progress: progress)
    }

    /// Returns a plan of ``vacuum(key:options:progress:)``, and changes nothing.
    ///
    /// - Parameter key: the key of the file; nil for a file without encryption.
    public func vacuumPlan(key: DatabaseKey?, options: ConversionOptions = ConversionOptions()) throws
        -> ConversionPlan
    {
        try plan(.vacuum(key), options: options)
    }
}
