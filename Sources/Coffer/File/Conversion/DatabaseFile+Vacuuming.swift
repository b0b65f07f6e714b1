extension DatabaseFile {
    /// Takes the free pages out of the file, in its place, with the same care as a rotation.
    ///
    /// The content is copied row by row into a new file beside this one, with the same key and settings and a fresh salt (unless the key has a salt of its own).
    /// The copy takes the place of the file when it is proved, with the file's mode, owner, access control lists and journal mode. A crash leaves the
    /// file whole. Unlike `VACUUM` this needs room on the disk instead of memory, keeps all row IDs, tells its progress, and can be ended at any time; but
    /// nobody else may have the file open.
    /// - Parameters:
    ///   - key: the key of the file; nil for a file without encryption.
    ///   - progress: hears of pages; throws to end the work, which leaves everything as it was.
    /// - Throws: a ``DatabaseFileError``: `busy` when somebody else has the file open.
    @discardableResult
    public func vacuum(
        key: DatabaseKey?, options: ConversionOptions = ConversionOptions(), progress: ProgressFunction? = nil
    ) throws -> ConversionResult {
        try vacuuming(key: key, options).run(progress: ProgressReport(progress))
    }

    /// Tells what ``vacuum(key:options:progress:)`` would do, and changes nothing.
    public func vacuumPlan(key: DatabaseKey?, options: ConversionOptions = ConversionOptions()) throws -> ConversionPlan {
        try vacuuming(key: key, options).plan()
    }

    private func vacuuming(key: DatabaseKey?, _ options: ConversionOptions) throws -> FileConversion {
        try FileConversion.make(path: path) {
            guard options.newCipher == nil else {
                throw DatabaseFileError(.unsupported("A vacuum keeps the cipher settings of the file."), path: path)
            }
            let before: FileProtection = if let key { try .encrypted(key, cipher: options.cipher) } else { .plaintext }
            // A key ring of its own: the copy has a salt of its own.
            return FileConversion(
                operation: .vacuum, path: path, destination: nil, before: before, after: try before.withoutDerivedKeys(), options: options)
        }
    }
}
