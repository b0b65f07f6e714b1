internal import SQLCipherBridge

extension DatabaseError {
    /// The error of a failure that has to do with the key, with its usual result code.
    init(encryptionFailure: EncryptionFailure) {
        self.init(
            resultCode: ResultCode(rawValue: encryptionFailure.engineCode),
            message: encryptionFailure.description,
            encryptionFailure: encryptionFailure)
    }

    /// The error of a connection that could not be keyed. The error of a key provider is not turned into
    /// another one: see ``publicError(_:)``.
    init(_ error: KeyError) {
        switch error {
        case .encryption(let failure, let code):
            self.init(
                resultCode: ResultCode(rawValue: code), message: failure.description,
                encryptionFailure: failure)
        case .engine(let error):
            self.init(error)
        case .provider(let error):
            self.init(resultCode: .SQLITE_AUTH, message: "The key provider failed: \(error)")
        }
    }

    /// Runs `body`, and throws its errors as users of a database know them.
    static func converting<T>(_ body: () throws -> T) throws -> T {
        do { return try body() } catch { throw publicError(error) }
    }

    /// What to throw for an error of the lower modules: a ``DatabaseError``, or the error of a key provider
    /// as it was thrown.
    static func publicError(_ error: any Error) -> any Error {
        switch error {
        case KeyError.provider(let error): error
        case let error as KeyError: DatabaseError(error)
        case let error as EngineError: DatabaseError(error)
        default: error
        }
    }
}
