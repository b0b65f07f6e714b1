package import Foundation

extension DatabaseFile {
    /// Replaces this file with a backup, and keeps the old file under another name.
    ///
    /// The backup is copied to a file next to this one, with a fresh salt, and proved there: each page is
    /// authentic, the structure is intact, and the content equals the backup's. Then the copy replaces the
    /// file in one step, with its mode, owner, and access control lists. The file may be damaged, empty, or
    /// missing, or have another key. It is kept under another name together with its log or journal, which is
    /// never applied to the new file, and with a copy of its ``DatabaseKeyring``, if its salt shows that it
    /// has one. After a crash there is either the old database or the new one.
    /// ```swift
    /// let vault = DatabaseFile(path: path)
    /// if let last = try vault.backups(in: folder).last {
    ///     let result = try vault.restore(from: last.path, key: key)
    ///     print(result.keptOldPath ?? "nothing was there")
    /// }
    /// ```
    /// - Parameters:
    ///   - backup: the path of a database file, which is not changed.
    ///   - key: the key of the backup; nil if it is not encrypted.
    ///   - newKey: the key for the file; nil for the backup's key.
    ///   - options: ``ConversionOptions/keepOldPath`` is the path of the old file: by default next to the
    ///     file, under its name with `.replaced-` and the time in UTC. ``ConversionOptions/audit`` is called
    ///     with the new file in its place.
    ///   - progress: called with the number of completed pages; throws to end the restore, which then changes
    ///     nothing.
    /// - Returns: the result with its proof. ``ConversionResult/keptOldPath`` is the path of the old file, if
    ///   there was one.
    /// - Throws: a ``DatabaseFileError``: `busy` if another connection or process has the file open,
    ///   `damaged` for the backup, `exists` if the path for the old file is taken.
    @discardableResult
    public func restore(
        from backup: String, key: DatabaseKey?, newKey: DatabaseKey? = nil,
        options: ConversionOptions = ConversionOptions(),
        progress: ProgressFunction? = nil
    ) throws -> ConversionResult {
        var options = options
        let keyring = DatabaseKeyring(databasePath: path)
        options.keepsKeyring = keyring.isKeptWithDatabase
        return try keyring.whileUnchanged(if: options.keepsKeyring, lockTimeout: options.lockTimeout) {
            try DatabaseFile(path: backup).perform(
                .restore(to: path, key, newKey: newKey), options: options, progress: progress)
        }
    }

    /// Returns a plan of ``restore(from:key:newKey:options:progress:)``, and changes nothing.
    ///
    /// - Parameters:
    ///   - backup: the path of the backup.
    ///   - key: the key of the backup; nil if it is not encrypted.
    ///   - newKey: the key for the file; nil for the backup's key.
    public func restorationPlan(
        from backup: String, key: DatabaseKey?, newKey: DatabaseKey? = nil,
        options: ConversionOptions = ConversionOptions()
    ) throws -> ConversionPlan {
        var options = options
        options.keepsKeyring = DatabaseKeyring(databasePath: path).isKeptWithDatabase
        return try DatabaseFile(path: backup).plan(
            .restore(to: path, key, newKey: newKey), options: options)
    }
}

extension DatabaseKeyring {
    /// True if a restore keeps a copy of the keyring with the old file: it is readable, and the salt of the
    /// file does not show that it belongs to another database. The keyring that
    /// ``adopt(_:lockTimeout:restoring:)`` has made belongs to the new file.
    package var isKeptWithDatabase: Bool {
        guard (try? inspect()) != nil else { return false }
        do { return try isOfDatabase() == true } catch { return !isInAdoption }
    }

    /// True if ``adopt(_:lockTimeout:restoring:)`` is making the first database of the keyring, or was killed
    /// before the database was in its place.
    package var isInAdoption: Bool {
        (try? located { $0.file.adoptionMark != nil }) == true && (try? isOfDatabase()) != true
    }

    /// Calls `body`, and keeps other processes from changing the keyring if a copy of it is kept.
    ///
    /// - Parameters:
    ///   - isKept: true if the keyring is there, and a copy of it is kept.
    ///   - lockTimeout: the time to wait for other changes of the keyring to finish, in seconds.
    package func whileUnchanged<Result>(
        if isKept: Bool, lockTimeout: TimeInterval, _ body: () throws -> Result
    ) throws -> Result {
        guard isKept else { return try body() }
        // Errors of `body` are rethrown unchanged.
        return try located { place in
            try place.file.changing(
                waiting: lockTimeout,
                staysInMaking: { (result: Swift.Result<Result, any Error>) in result.isFailure }
            ) { _, _ in Swift.Result { try body() } }
        }.get()
    }
}
