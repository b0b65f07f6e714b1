internal import SQLCipherBridge

extension DatabaseFile {
    /// What erasing a file has done.
    public struct ErasureResult: Sendable, Hashable, Codable {
        /// The files that were removed.
        public var removedPaths: [String]

        /// How many bytes were overwritten at their beginnings.
        public var overwrittenByteCount: Int

        /// What cannot be promised, in words.
        public var limits: [String]
    }

    /// Makes a database unreadable, and removes it with everything that belongs to it: its log, its journal,
    /// and what interrupted operations have left.
    ///
    /// The beginning of each file is overwritten first and brought to the disk: an encrypted database cannot
    /// be opened without the salt that stands there, not even with its key, unless the salt was kept. See
    /// ``ErasureResult/limits`` for what this does not reach.
    ///
    ///     try DatabaseFile(path: path).erase(confirming: "vault.db")
    ///
    /// - Parameter name: the name of the file, without its directory: the caller's word that this is meant.
    /// - Throws: a ``DatabaseFileError``, before anything is changed: `unsupported` when the name is not that
    ///   of the file, `busy` when another connection or process has it open, `unsafeFile` for links and files
    ///   with several names.
    @discardableResult
    public func erase(confirming name: String) throws -> ErasureResult {
        let status = try checkCanErase(confirming: name)
        try FileUsers.waitForNone(of: status, path, timeout: 0)
        // From here on no other connection can begin to use the file.
        let lock = try FileDescriptor.open(path, forWriting: true)
        guard try lock.status().isSameFile(as: status), try lock.status().linkCount == 1 else {
            throw DatabaseFileError(.unsafeFile(.replaced), path: path)
        }
        guard lock.lockAsDatabase() else {
            throw DatabaseFileError(.busy(FileUsers.others(of: status)), path: path)
        }
        // A process may have opened it before the lock, and wait.
        let users = FileUsers.others(of: status)
        guard users.isEmpty else { throw DatabaseFileError(.busy(users), path: path) }
        // The database first: what is left after an interruption is of no use without it.
        let present = try erasedPaths()
        var overwritten = 0
        for path in present { overwritten += try DatabaseFile.overwriteBeginning(of: path) }
        for path in present { try SystemFile.remove(path) }
        try SystemFile.synchronize(directoryOf: path)
        withExtendedLifetime(lock) {}
        return ErasureResult(
            removedPaths: present, overwrittenByteCount: overwritten, limits: DatabaseFile.erasureLimits)
    }

    /// The files that ``erase(confirming:)`` would remove. Nothing is changed.
    public func erasurePlan() throws -> [String] {
        _ = try checkCanErase(confirming: SystemFile.name(of: path))
        return try erasedPaths()
    }

    /// The file, what SQLite keeps beside it, and what notes of our own name. A file with another name is not
    /// only this database's: it stays.
    private func erasedPaths() throws(DatabaseFileError) -> [String] {
        var result: [String] = []
        for path in try [path] + ReplacementNames.companions(of: path) + ReplacementNames.leftovers(of: path)
        {
            if let status = try SystemFile.status(path), status.isRegular, status.linkCount == 1 {
                result.append(path)
            }
        }
        return result
    }

    private func checkCanErase(confirming name: String) throws(DatabaseFileError) -> FileStatus {
        let status = try SystemFile.regularFile(path)
        guard name == SystemFile.name(of: path) else {
            throw DatabaseFileError(
                .unsupported(
                    "The name that was given to confirm is not that of the file. Nothing was erased."),
                path: path)
        }
        guard status.linkCount == 1 else {
            throw DatabaseFileError(.unsafeFile(.hardLinks(count: status.linkCount)), path: path)
        }
        try SystemFile.checkIsNoMountPoint(path)
        try SystemFile.checkIsWritable(directoryOf: path)
        return status
    }

    /// The salt, the header and the first pages: with random bytes, which cannot be distinguished from what
    /// was there.
    private static func overwriteBeginning(of path: String) throws -> Int {
        let file = try FileDescriptor.open(path, forWriting: true)
        let count = min(Int(try file.status().size), 1 << 16)
        guard count > 0 else { return 0 }
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
        try file.overwriteBeginning(with: bytes)
        return count
    }

    private static let erasureLimits = [
        "Copies, snapshots and backups of the file are not reached.",
        "File systems that copy on write and flash memory may keep the old blocks; what they keep is "
            + "encrypted, unless the file was not.",
        "Only the beginning was overwritten. Whoever has kept the salt, and has the key, could read blocks "
            + "that remain.",
    ]
}
