internal import SystemCalls

/// An empty file that ``DatabasePools/create(_:)`` has made, and removes again if it fails.
///
/// Other processes may open the file as soon as it exists, and commit to it.
struct CreatedFile {
    private let path: String
    private let identity: FileIdentity
    private let pageSize: Int64

    /// Makes the file, which only its owner can access. Returns nil if the path is taken.
    init?(_ path: String, configuration: Configuration) throws(DatabaseError) {
        guard let identity = try Database.makeFile(at: path) else { return nil }
        self.path = path
        self.identity = identity
        self.pageSize = Int64(configuration.cipher.pageSize)
    }

    /// Erases the file and SQLite's files next to it.
    ///
    /// - Precondition: the creation has closed its connections, or cannot.
    /// - Throws: an error, and nothing is changed, if another connection uses the file, or if a table may
    ///   have been committed to it.
    func removeUnlessUsed() throws {
        let file = DatabaseFile(path: path)
        try file.erase(confirming: SystemFile.name(of: path), lockTimeout: 0) {
            // No other connection can commit now. The setup of a connection writes the first page, and the
            // first table takes another one.
            let status = try SystemFile.regularFile(path)
            let sideFiles = try [path + "-wal", path + "-journal"].map {
                try SystemFile.status($0)?.size ?? 0
            }
            guard status.identity == identity, status.size <= pageSize, sideFiles == [0, 0] else {
                throw DatabaseFileError(.exists, path: path)
            }
        }
    }
}
