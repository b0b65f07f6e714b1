extension DatabaseFile {
    /// What can be done to the content of a file, which keeps its rows.
    package enum Work: Sendable {
        /// Without a destination, the result takes the place of the file.
        case encrypt(to: String?, DatabaseKey)
        case decrypt(to: String?, DatabaseKey)
        /// Without a new key, the file keeps its own.
        case upgrade(DatabaseKey, newKey: DatabaseKey?)
        case vacuum(DatabaseKey?)
        /// By pages, where the result can have the same.
        case backup(to: String, DatabaseKey?, newKey: DatabaseKey?)
        /// The same, under a name with the date in a folder.
        case datedBackup(in: String, DatabaseKey?, newKey: DatabaseKey?)
        /// The same, given out in pieces once it is proved. Until then it is in a folder, without a name.
        case streamedBackup(
            in: String, DatabaseKey?, newKey: DatabaseKey?, write: @Sendable ([UInt8]) throws -> Void)
        /// The same, in the place of another file, which gets another name.
        case restore(to: String, DatabaseKey?, newKey: DatabaseKey?)
        /// By rows.
        case copy(to: String, DatabaseKey?, newKey: DatabaseKey?)

        /// Whether it is a backup without a key of its own.
        var keepsKey: Bool {
            switch self {
            case .backup(_, _, let newKey), .datedBackup(_, _, let newKey),
                .streamedBackup(_, _, let newKey, _):
                newKey == nil
            default: false
            }
        }

        /// A new file for the result; nil where it takes the place of the file.
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

    /// Finds out what ``perform(_:options:progress:)`` would do, and changes nothing.
    package func plan(_ work: Work, options: ConversionOptions) throws -> ConversionPlan {
        try FileConversion(path: path, work, options).plan()
    }

    /// Does something to the file. The public functions below say what each one does.
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
    /// The content is copied row by row, with all row IDs, and the copy is proved as ``ConversionProof``
    /// says. Without a destination it takes the place of the file, whose mode, owner, access control lists
    /// and journal mode it has, as in ``rotate(from:to:options:progress:)``. With one, the file is only read,
    /// also while others use it.
    ///
    /// What was plaintext on the disk may remain in blocks that the file system does not use any more.
    ///
    ///     try DatabaseFile(path: plainPath).encrypt(to: encryptedPath, key: key)
    ///
    /// - Parameters:
    ///   - destination: a path where nothing is; nil to take the place of the file.
    ///   - key: the key of the result.
    ///   - options: how it is done.
    ///   - progress: called with the pages that were done; throws to end it, which leaves everything as it
    ///     was.
    /// - Throws: a ``DatabaseFileError``: `exists` when there is something at the destination; in place,
    ///   `busy` when another connection or process has the file open, and `unsafeFile(.sharedDirectory)`
    ///   where other users may rename files in the directory.
    @discardableResult
    public func encrypt(
        to destination: String? = nil, key: DatabaseKey, options: ConversionOptions = ConversionOptions(),
        progress: ProgressFunction? = nil
    ) throws -> ConversionResult {
        try perform(.encrypt(to: destination, key), options: options, progress: progress)
    }

    /// Finds out what ``encrypt(to:key:options:progress:)`` would do, and changes nothing.
    ///
    /// - Parameters:
    ///   - destination: a path where nothing is; nil to take the place of the file.
    ///   - key: the key that the file has, or gets.
    ///   - options: how it would be done.
    public func encryptionPlan(
        to destination: String? = nil, key: DatabaseKey, options: ConversionOptions = ConversionOptions()
    ) throws -> ConversionPlan {
        try plan(.encrypt(to: destination, key), options: options)
    }

    /// Decrypts a database: the result is a SQLite file that needs no key.
    ///
    /// It is made and proved as ``encrypt(to:key:options:progress:)`` says. Only its owner can read the
    /// result, also where others could read the encrypted file: give them the right to read it afterwards, if
    /// that is meant.
    ///
    /// ```swift
    /// try DatabaseFile(path: path).decrypt(
    ///     to: plainPath, key: key, confirming: .contentBecomesReadableByAnyone)
    /// ```
    /// - Parameters:
    ///   - destination: a path where nothing is; nil to take the place of the file.
    ///   - key: the key of the file.
    ///   - confirmation: that this is meant.
    ///   - options: how it is done.
    ///   - progress: called with the pages that were done; throws to end it, which leaves everything as it
    ///     was.
    /// - Returns: what was done and proved.
    /// - Throws: a ``DatabaseFileError``: `unsafeFile(.sharedDirectory)` where other users may rename files
    ///   in the directory of the result.
    @discardableResult
    public func decrypt(
        to destination: String? = nil, key: DatabaseKey, confirming confirmation: PlaintextConfirmation,
        options: ConversionOptions = ConversionOptions(), progress: ProgressFunction? = nil
    ) throws -> ConversionResult {
        try perform(.decrypt(to: destination, key), options: options, progress: progress)
    }

    /// Finds out what ``decrypt(to:key:confirming:options:progress:)`` would do, and changes nothing.
    ///
    /// - Parameters:
    ///   - destination: a path where nothing is; nil to take the place of the file.
    ///   - key: the key that the file has, or gets.
    ///   - options: how it would be done.
    public func decryptionPlan(
        to destination: String? = nil, key: DatabaseKey, options: ConversionOptions = ConversionOptions()
    ) throws -> ConversionPlan {
        try plan(.decrypt(to: destination, key), options: options)
    }
}

// MARK: - Copying

extension DatabaseFile {
    /// Copies the file into a new one, page by page, also while others use it.
    ///
    /// The copy is one state of the database. It has a salt of its own, and gets its name when a fresh
    /// connection has found the same content in it. Nothing is overwritten, and nothing is left behind on an
    /// error. What a crash leaves goes when a copy is made to the same place again.
    /// - Parameters:
    ///   - destination: a path where nothing is.
    ///   - key: the key of the file; nil for a file without encryption.
    ///   - newKey: the key of the copy; nil for that of the file.
    ///   - options: how it is done.
    ///   - progress: called with the pages that were done; throws to end it.
    /// - Throws: a ``DatabaseFileError``: `exists` when there is something at the path, `busy` when another
    ///   run is making the same copy.
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
    ///   - destination: a path where nothing is.
    ///   - key: the key of the file; nil for a plaintext one.
    ///   - newKey: the key of the copy; nil is that of the file.
    ///   - options: how it is done.
    ///   - progress: called with what was done so far; throws to end it.
    @discardableResult
    public func vacuum(
        into destination: String, key: DatabaseKey?, newKey: DatabaseKey? = nil,
        options: ConversionOptions = ConversionOptions(),
        progress: ProgressFunction? = nil
    ) throws -> ConversionResult {
        try perform(.copy(to: destination, key, newKey: newKey), options: options, progress: progress)
    }

    /// Finds out what ``backup(to:key:newKey:options:progress:)`` or
    /// ``vacuum(into:key:newKey:options:progress:)`` would do, and changes nothing.
    ///
    /// - Parameters:
    ///   - destination: a path where nothing is.
    ///   - key: the key of the file; nil for a plaintext one.
    ///   - newKey: the key of the copy; nil is that of the file.
    ///   - options: how it would be done.
    public func copyPlan(
        to destination: String, key: DatabaseKey?, newKey: DatabaseKey? = nil,
        options: ConversionOptions = ConversionOptions()
    ) throws -> ConversionPlan {
        try plan(.copy(to: destination, key, newKey: newKey), options: options)
    }
}

// MARK: - In place

extension DatabaseFile {
    /// Brings a file of the formats 1 to 3 of SQLCipher, or of other cipher settings, into format 4, in its
    /// place.
    ///
    /// The format is found out, also that of files from big-endian machines, and settings that are common
    /// without being those of a format: other sizes of pages and hash functions, one round of PBKDF2, a
    /// plaintext header, no codes. ``ConversionOptions/cipher`` has others. The content is copied row by row
    /// into pages of the new size, with all row IDs, and the copy takes the place of the file when it is
    /// proved, with its mode, owner, access control lists and journal mode, as in
    /// ``rotate(from:to:options:progress:)``. A crash leaves the file whole in one of the two formats;
    /// running the upgrade again completes it.
    ///
    /// When the file has format 4 already, there is nothing to do, and ``ConversionResult/isChanged`` is
    /// false.
    /// - Parameters:
    ///   - key: the key of the file. It must be the same in all formats that are tried: a passphrase is
    ///     derived for each.
    ///   - newKey: another key for the result; nil to keep the key.
    ///   - options: how it is done.
    ///   - progress: called with the pages that were done; throws to end it, which leaves everything as it
    ///     was.
    /// - Throws: a ``DatabaseFileError``: `key` when the key opens the file in no format, `busy` when another
    ///   connection or process has it open, `unsafeFile(.sharedDirectory)` where other users may rename files
    ///   in the directory.
    @discardableResult
    public func upgrade(
        key: DatabaseKey, newKey: DatabaseKey? = nil, options: ConversionOptions = ConversionOptions(),
        progress: ProgressFunction? = nil
    ) throws -> ConversionResult {
        try perform(.upgrade(key, newKey: newKey), options: options, progress: progress)
    }

    /// Finds out what ``upgrade(key:newKey:options:progress:)`` would do, and changes nothing.
    ///
    /// - Parameters:
    ///   - key: the key of the file.
    ///   - newKey: the key of the result; nil keeps that of the file.
    ///   - options: how it would be done.
    public func upgradePlan(
        key: DatabaseKey, newKey: DatabaseKey? = nil, options: ConversionOptions = ConversionOptions()
    ) throws -> ConversionPlan {
        try plan(.upgrade(key, newKey: newKey), options: options)
    }

    /// Takes the free pages out of the file, in its place, with the same care as a rotation.
    ///
    /// The content is copied row by row into a new file beside this one, with the same key and settings and a
    /// fresh salt (unless the key has a salt of its own). The copy takes the place of the file when it is
    /// proved, with the file's mode, owner, access control lists and journal mode. A crash leaves the file
    /// whole. Unlike `VACUUM` this needs room on the disk instead of memory, keeps all row IDs, reports its
    /// progress, and can be ended at any time; but no other connection may have the file open.
    /// - Parameters:
    ///   - key: the key of the file; nil for a file without encryption.
    ///   - options: how it is done.
    ///   - progress: called with the pages that were done; throws to end it, which leaves everything as it
    ///     was.
    /// - Throws: a ``DatabaseFileError``: `busy` when another connection or process has the file open.
    @discardableResult
    public func vacuum(
        key: DatabaseKey?, options: ConversionOptions = ConversionOptions(), progress: ProgressFunction? = nil
    ) throws -> ConversionResult {
        try perform(.vacuum(key), options: options, progress: progress)
    }

    /// Finds out what ``vacuum(key:options:progress:)`` would do, and changes nothing.
    ///
    /// - Parameters:
    ///   - key: the key of the file; nil for a plaintext one.
    ///   - options: how it would be done.
    public func vacuumPlan(key: DatabaseKey?, options: ConversionOptions = ConversionOptions()) throws
        -> ConversionPlan
    {
        try plan(.vacuum(key), options: options)
    }
}
