internal import SQLCipherBridge
internal import SystemCalls

extension DatabaseKey {
    /// Returns the key for an operation whose result replaces the file. A key of a keyring belongs to one
    /// salt, which the result has to keep.
    func stayingInPlace(_ path: String) throws -> DatabaseKey {
        guard isLocated, let status = try SystemFile.status(path, followsLinks: true), status.size > 0 else {
            return self
        }
        let path = try SystemFile.resolved(path)
        // The file is read through the engine: closing a descriptor of our own would drop the POSIX locks of
        // this process's connections.
        let connection = try EngineConnection(path: path, flags: .readOnly)
        return try resolved(at: path, fileSalt: FileHeader(connection.handle).salt)
    }
}
