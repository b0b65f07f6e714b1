extension DatabaseQueue {
    /// Returns a copy in memory of the database at a path. Changes to the copy are lost when it is closed.
    ///
    /// The file is opened read-only. The copy of an encrypted file is encrypted, so that the copy can be
    /// backed up.
    ///
    ///     let copy = try DatabaseQueue.inMemoryCopy(fromPath: path, configuration: configuration)
    ///
    /// - Parameter configuration: the key, and all other settings that both connections share.
    /// - Throws: the errors of opening the file, which is not created if it does not exist.
    public static func inMemoryCopy(fromPath path: String, configuration: Configuration = Configuration())
        throws -> DatabaseQueue
    {
        try copy(fromPath: path, to: .memory(name: nil), configuration: configuration)
    }

    /// Returns a temporary copy of the database at a path, which disappears with the queue.
    ///
    /// The file is opened read-only. The copy of an encrypted file is encrypted. SQLite keeps the copy in its
    /// page cache, and the pages that do not fit in a file without a name.
    ///
    ///     let copy = try DatabaseQueue.temporaryCopy(fromPath: path, configuration: configuration)
    ///
    /// - Parameter configuration: the key, and all other settings that both connections share.
    /// - Throws: the errors of opening the file, which is not created if it does not exist.
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
