extension DatabaseFile {
    /// Brings a file of the formats 1 to 3 of SQLCipher into format 4, in its place.
    ///
    /// The format is found out, also that of files from big-endian machines. The content is copied row by row into pages of the new size, with all row IDs, and the copy takes the place of the file when it is
    /// proved, with its mode, owner, access control lists and journal mode, as in ``rotate(from:to:options:progress:)``. A crash leaves the
    /// file whole in one of the two formats; running the upgrade again completes it.
    ///
    /// When the file has format 4 already, there is nothing to do, and ``ConversionResult/isChanged`` is false.
    /// - Parameters:
    ///   - key: the key of the file. It must be the same in all formats that are tried: a passphrase is derived for each.
    ///   - newKey: another key for the result; nil to keep the key.
    ///   - progress: hears of pages; throws to end the work, which leaves everything as it was.
    /// - Throws: a ``DatabaseFileError``.
    @discardableResult
    public func upgrade(
        key: DatabaseKey, newKey: DatabaseKey? = nil, options: ConversionOptions = ConversionOptions(), progress: ProgressFunction? = nil
    ) throws -> ConversionResult {
        try upgrading(key: key, newKey: newKey, options).conversion.run(progress: ProgressReport(progress))
    }

    /// Tells what ``upgrade(key:newKey:options:progress:)`` would do, and changes nothing.
    public func upgradePlan(
        key: DatabaseKey, newKey: DatabaseKey? = nil, options: ConversionOptions = ConversionOptions()
    ) throws -> ConversionPlan {
        let (conversion, format) = try upgrading(key: key, newKey: newKey, options)
        var plan = try conversion.plan()
        plan.format = format
        return plan
    }

    private func upgrading(
        key: DatabaseKey, newKey: DatabaseKey?, _ options: ConversionOptions
    ) throws -> (conversion: FileConversion, format: Int) {
        let cipher = options.newCipher ?? CipherSettings()
        return try FileConversion.make(path: path) {
            let format = try FileConversion.format(of: path, key: key, newKey: newKey, newCipher: cipher)
            let conversion = FileConversion(
                operation: .upgrade, path: path, destination: nil, before: try .encrypted(key, cipher: format.settings),
                after: try .encrypted(newKey ?? key, cipher: cipher), options: options)
            return (conversion, format.number)
        }
    }
}
