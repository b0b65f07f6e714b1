internal import SystemCalls

/// The second name of an old file that is to be kept. The name is removed at the end of this value's life,
/// unless the copy has taken its place.
struct KeptName: ~Copyable {
    private let path: String
    private let original: FileStatus
    private let database: String
    private var stays = false

    /// Gives the file its second name.
    ///
    /// - Parameters:
    ///   - path: absolute and free.
    ///   - database: the path of the file with the given status.
    static func give(_ path: String, to original: FileStatus, at database: String) throws(DatabaseFileError)
        -> KeptName
    {
        try SystemFile.link(database, to: path)
        let kept = KeptName(path: path, original: original, database: database)
        // The path could have been changed to lead elsewhere before it was used.
        guard try SystemFile.status(path)?.isSameFile(as: original) == true else {
            // With a second name, the other file could not be opened in WAL mode.
            if try SystemFile.status(path)?.identity == SystemFile.status(database)?.identity {
                try SystemFile.remove(path)
            }
            throw DatabaseFileError(.unsafeFile(.replaced), path: path)
        }
        try SystemFile.synchronize(directoryOf: path)
        return kept
    }

    deinit {
        if !stays { _ = try? KeptName.remove(path, of: original, at: database) }
    }

    mutating func keep() { stays = true }

    /// Removes a name that an interrupted run gave to a file, if it is provably not the name of the database.
    ///
    /// - Returns: whether the name existed.
    @discardableResult
    static func remove(_ kept: String, of status: FileStatus, at database: String) throws(DatabaseFileError)
        -> Bool
    {
        guard try isAnotherName(kept, of: status, than: database) else { return false }
        try SystemFile.remove(kept)
        return true
    }

    /// Returns true if a path leads to the same file as the path of a database, in another directory or under
    /// another name.
    ///
    /// A relative path is never ours: it depended on the working directory of a process that no longer runs.
    static func isAnotherName(_ kept: String, of status: FileStatus, than database: String)
        throws(DatabaseFileError) -> Bool
    {
        guard kept.begins(withBytesOf: "/"), try SystemFile.status(kept)?.isSameFile(as: status) == true,
            let now = try SystemFile.status(database), now.isSameFile(as: status), now.linkCount >= 2,
            let there = try SystemFile.status(SystemFile.directory(of: kept), followsLinks: true),
            let here = try SystemFile.status(SystemFile.directory(of: database), followsLinks: true)
        else { return false }
        return !there.isSameFile(as: here) || SystemFile.name(of: kept) != SystemFile.name(of: database)
    }
}
