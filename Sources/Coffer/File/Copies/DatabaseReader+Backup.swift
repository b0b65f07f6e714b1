extension DatabaseReader {
    /// Copies the content of the database into another one, which keeps its own key.
    ///
    /// The destination cannot be used by others meanwhile. What other connections commit to the source during the backup may or may
    /// not be in the copy, which is always one state of the source.
    /// - Parameters:
    ///   - writer: what it contained is lost.
    ///   - pagesPerStep: how many pages are copied between two calls of `progress`; all of them if negative.
    ///   - progress: throws to end the backup.
    /// - Throws: as ``Database/backup(to:pagesPerStep:progress:)``.
    public func backup(
        to writer: any DatabaseWriter, pagesPerStep: CInt = -1, progress: ((DatabaseBackupProgress) throws -> Void)? = nil
    ) throws {
        try writer.barrierWriteWithoutTransaction { destination in
            try unsafeRead { source in
                try source.backup(to: destination, pagesPerStep: pagesPerStep, progress: progress)
            }
        }
    }
}
