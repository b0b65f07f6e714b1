extension DatabaseFile {
    /// Copies the file into a new one, page by page, also while others use it.
    ///
    /// The copy is one state of the database. It has a salt of its own, and gets its name when a fresh connection has found the same content in it. Nothing is
    /// overwritten, and nothing is left behind on an error. What a crash leaves goes when a copy is made to the same place again.
    /// - Parameters:
    ///   - destination: a path where nothing is.
    ///   - key: the key of the file; nil for a file without encryption.
    ///   - newKey: the key of the copy; nil for that of the file.
    ///   - progress: hears of pages; throws to end the work.
    /// - Throws: a ``DatabaseFileError``: `exists` when there is something at the path, `busy` when somebody else is making the same copy.
    @discardableResult
    public func backup(
        to destination: String, key: DatabaseKey?, newKey: DatabaseKey? = nil, options: ConversionOptions = ConversionOptions(),
        progress: ProgressFunction? = nil
    ) throws -> ConversionResult {
        var conversion = try copying(to: destination, key: key, newKey: newKey, options)
        conversion.copiesPages = options.newCipher == nil && (key != nil || newKey == nil)
        return try conversion.run(progress: ProgressReport(progress))
    }

    /// Makes a compact copy without free pages in a new file: as ``backup(to:key:newKey:options:progress:)``, but row by row.
    @discardableResult
    public func vacuum(
        into destination: String, key: DatabaseKey?, newKey: DatabaseKey? = nil, options: ConversionOptions = ConversionOptions(),
        progress: ProgressFunction? = nil
    ) throws -> ConversionResult {
        try copying(to: destination, key: key, newKey: newKey, options).run(progress: ProgressReport(progress))
    }

    /// Tells what ``backup(to:key:newKey:options:progress:)`` or ``vacuum(into:key:newKey:options:progress:)`` would do, and changes nothing.
    public func copyPlan(
        to destination: String, key: DatabaseKey?, newKey: DatabaseKey? = nil, options: ConversionOptions = ConversionOptions()
    ) throws -> ConversionPlan {
        try copying(to: destination, key: key, newKey: newKey, options).plan()
    }

    private func copying(
        to destination: String, key: DatabaseKey?, newKey: DatabaseKey?, _ options: ConversionOptions
    ) throws -> FileConversion {
        try FileConversion.make(path: path) {
            let before: FileProtection = if let key { try .encrypted(key, cipher: options.cipher) } else { .plaintext }
            // A file without a key may get one, and never the reverse.
            let after: FileProtection =
                if let newKey = newKey ?? key {
                    try .encrypted(newKey, cipher: options.newCipher ?? (key == nil ? CipherSettings() : options.cipher))
                } else {
                    .plaintext
                }
            return FileConversion(
                operation: .encrypt, path: path, destination: destination, before: before, after: after, options: options)
        }
    }
}
