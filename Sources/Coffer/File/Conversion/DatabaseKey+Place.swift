internal import SQLCipherBridge

extension DatabaseKey {
    /// The key for an operation whose result takes the place of the file. A key of a keyring belongs to one
    /// salt, which the result has to keep.
    func stayingInPlace(_ path: String) throws -> DatabaseKey {
        guard isLocated, let status = try SystemFile.status(path, followsLinks: true), status.size > 0 else {
            return self
        }
        let path = try SystemFile.resolved(path)
        // Through the engine: closing a descriptor of our own would drop the locks of connections that this
        // process has.
        let connection = try EngineConnection(path: path, flags: .readOnly)
        return try resolved(at: path, fileSalt: FileHeader(connection.handle).salt)
    }
}
