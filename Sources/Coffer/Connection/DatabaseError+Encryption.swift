internal import SQLCipherBridge

extension DatabaseError {
    /// Creates the error of a failure that is related to the key, with its usual result code.
    init(encryptionFailure: EncryptionFailure) {
        self.init(
            resultCode: ResultCode(rawValue: encryptionFailure.engineCode),
            message: encryptionFailure.description,
            encryptionFailure: encryptionFailure)
    }

    /// Creates the error of a connection that could not be keyed. Errors of key providers are not converted:
    /// see ``publicError(_:)``.
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

    /// Runs `body` and converts its errors with ``publicError(_:)``.
    static func converting<T>(_ body: () throws -> T) throws -> T {
        do { return try body() } catch { throw publicError(error) }
    }

    /// Returns the public form of an error of the lower modules: a ``DatabaseError``, or the original error
    /// of a key provider.
    static func publicError(_ error: any Error) -> any Error {
        switch error {
        case KeyError.provider(let error): error
        case let error as KeyError: DatabaseError(error)
        case let error as EngineError: DatabaseError(error)
        default: error
        }
    }
}
