extension DatabaseFile {
    /// Puts a backup in the place of this file, which gets another name.
    ///
    /// The backup is copied beside the file, with a fresh salt, and proved there: each page is authentic, the
    /// structure is whole, the content is that of the backup. Then the copy takes the place of the file in
    /// one step, with its mode, owner and access control lists. What is in the place may be anything: a file
    /// that is damaged, empty, or has another key, or nothing. It is kept under another name with the log or
    /// the journal that belongs to it, which never gets to the new file. A crash leaves the old database, or
    /// the new one.
    ///
    /// ```swift
    /// let vault = DatabaseFile(path: path)
    /// if let last = try vault.backups(in: folder).last {
    ///     let result = try vault.restore(from: last.path, key: key)
    ///     print(result.keptOldPath ?? "nothing was there")
    /// }
    /// ```
    /// - Parameters:
    ///   - backup: a database file, which stays as it is.
    ///   - key: the key of the backup; nil for one without encryption.
    ///   - newKey: the key that the file is to have; nil for that of the backup.
    ///   - options: ``ConversionOptions/keepOldPath`` says where the old file is kept: by default beside the
    ///     file, under its name with `.replaced-` and the time in UTC. ``ConversionOptions/audit`` is called
    ///     with the new file in its place.
    ///   - progress: called with the pages that were done; throws to end it, which leaves everything as it
    ///     was.
    /// - Returns: what was done and proved. ``ConversionResult/keptOldPath`` is where the old file is, if
    ///   there was one.
    /// - Throws: a ``DatabaseFileError``: `busy` when another connection or process has the file open,
    ///   `damaged` for the backup, `exists` when there is something where the old file is to be kept.
    @discardableResult
    public func restore(
        from backup: String, key: DatabaseKey?, newKey: DatabaseKey? = nil,
        options: ConversionOptions = ConversionOptions(),
        progress: ProgressFunction? = nil
    ) throws -> ConversionResult {
        try DatabaseFile(path: backup).perform(
            .restore(to: path, key, newKey: newKey), options: options, progress: progress)
    }

    /// Finds out what ``restore(from:key:newKey:options:progress:)`` would do, and changes nothing.
    ///
    /// - Parameters:
    ///   - backup: the path of the backup.
    ///   - key: the key of the backup.
    ///   - newKey: the key that the restored file would get; nil keeps that of the backup.
    ///   - options: how it would be done.
    public func restorationPlan(
        from backup: String, key: DatabaseKey?, newKey: DatabaseKey? = nil,
        options: ConversionOptions = ConversionOptions()
    ) throws -> ConversionPlan {
        try DatabaseFile(path: backup).plan(.restore(to: path, key, newKey: newKey), options: options)
    }
}
