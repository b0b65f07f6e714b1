internal import SQLCipherBridge

extension KeyRing {
    /// Keys one open connection that nothing ran on yet, with the current key only.
    ///
    /// - Parameter open: opens another connection to the same file, to find out why the key does not open it.
    /// - Returns: whether the file was empty, as in ``KeyedConnection/isFileEmpty``.
    /// - Throws: the typed reason. The connection is of no use then, and its owner closes it.
    @discardableResult
    func unlock(_ handle: ConnectionHandle, open: Open) throws(KeyError) -> Bool {
        var memo = KeyMemo()
        let header = try KeyRing.header(of: handle)
        let cached = cachedMaterial(keyIndex: 0, fileSalt: header.salt)
        let material =
            if let cached {
                cached
            } else {
                try memo.material(
                    keyIndex: 0, fileSalt: header.salt, settings: settings, path: handle.filename(schema: "main"), ring: self)
            }
        guard try unlock(handle, with: material, settings: settings) else {
            discardMaterial(keyIndex: 0, fileSalt: header.salt)
            throw try diagnose(memo: &memo, open: open)
        }
        remember(material, keyIndex: 0, fileSalt: header.salt)
        return header.isEmptyFile
    }

    /// Reads the schema of a file through a connection without a key.
    ///
    /// - Throws: the typed reason when the file is encrypted, or no database.
    static func verifyPlaintext(_ handle: ConnectionHandle) throws(KeyError) {
        try refuseEncryptedFile(handle)
        do throws(EngineError) {
            try handle.verifyKey()
        } catch {
            guard error.code & 0xff == EngineCode.notADatabase else { throw KeyError(error) }
            throw try diagnoseWithoutKey(KeyRing.header(of: handle, count: 65536))
        }
    }

    /// Refuses what looks encrypted before the engine looks into it without a key: it would play back a journal, which may be foreign.
    static func refuseEncryptedFile(_ handle: ConnectionHandle) throws(KeyError) {
        let header = try KeyRing.header(of: handle)
        // Zeros are what the first transaction of a new file may leave.
        guard let size = header.size, size >= 512, !header.hasSQLiteMagic, header.start.contains(where: { $0 != 0 }) else { return }
        throw try diagnoseWithoutKey(KeyRing.header(of: handle, count: 65536))
    }
}
