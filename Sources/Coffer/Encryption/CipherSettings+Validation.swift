extension CipherSettings {
    /// Refuses settings that can never work with a key. A provider's key is checked when it is asked.
    func validate(with key: DatabaseKey) throws(KeyError) {
        if let problem { throw .failure(.invalidCipherSettings(problem)) }
        if plaintextHeaderSize > 0 && key.salt == nil && !key.isProvider {
            throw .failure(.invalidCipherSettings(.plaintextHeaderWithoutSalt))
        }
    }

    private var problem: EncryptionFailure.CipherSettingsProblem? {
        let iterations = 1...Int(Int32.max)
        if let unknownFormat { return .unknownFormat(unknownFormat) }
        // SQLite and SQLCipher also know 512, but what SQLCipher writes with it cannot be read again.
        if !(1024...65536).contains(pageSize) || pageSize.nonzeroBitCount != 1 { return .pageSize(pageSize) }
        if !iterations.contains(kdfIterations) { return .kdfIterations(kdfIterations) }
        if !iterations.contains(hmacKeyIterations) { return .hmacKeyIterations(hmacKeyIterations) }
        // The database header ends at byte 100: what follows is content.
        if !(0...96).contains(plaintextHeaderSize) || !plaintextHeaderSize.isMultiple(of: 16) {
            return .plaintextHeaderSize(plaintextHeaderSize)
        }
        return nil
    }
}
