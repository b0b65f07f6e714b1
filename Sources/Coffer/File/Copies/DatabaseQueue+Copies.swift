extension DatabaseQueue {
    /// A copy in memory of the database at a path. What is written to it is lost with it.
    ///
    /// The file is opened read-only. The copy of an encrypted file is encrypted, so that it can be backed up
    /// in its turn.
    ///
    ///     let copy = try DatabaseQueue.inMemoryCopy(fromPath: path, configuration: configuration)
    ///
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - configuration: the key, and all else that the connections have in common.
    /// - Throws: what opening the file throws: it is not made where there is none.
    public static func inMemoryCopy(fromPath path: String, configuration: Configuration = Configuration())
        throws -> DatabaseQueue
    {
        try copy(fromPath: path, to: .memory(name: nil), configuration: configuration)
    }

    /// A temporary copy of the database at a path, which disappears with the queue.
    ///
    /// The file is opened read-only. The copy of an encrypted file is encrypted. SQLite keeps it in memory as
    /// far as its page cache goes, and beyond that in a file that has no name.
    ///
    ///     let copy = try DatabaseQueue.temporaryCopy(fromPath: path, configuration: configuration)
    ///
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - configuration: the key, and all else that the connections have in common.
    /// - Throws: what opening the file throws: it is not made where there is none.
    public static func temporaryCopy(fromPath path: String, configuration: Configuration = Configuration())
        throws -> DatabaseQueue
    {
        try copy(fromPath: path, to: .temporary, configuration: configuration)
    }

    private static func copy(
        fromPath path: String, to destination: DatabaseLocation, configuration: Configuration
    ) throws -> DatabaseQueue {
        var sourceConfiguration = configuration
        sourceConfiguration.readonly = true
        let source = try DatabaseQueue(path: path, configuration: sourceConfiguration)
        var copyConfiguration = configuration
        copyConfiguration.readonly = false
        let copy = try DatabaseQueue(location: destination, configuration: copyConfiguration)
        try source.backup(to: copy)
        guard configuration.readonly else { return copy }
        try copy.inDatabase { try $0.stayReadOnly() }
        return copy
    }
}
