internal import SQLCipherBridge

/// An error between a key and a connection.
enum KeyError: Error {
    /// A typed reason, with the result code that SQLite gave or would give.
    case encryption(EncryptionFailure, code: CInt)

    /// An engine error that is unrelated to the key: busy, disk, permission.
    case engine(EngineError)

    /// The error of a key provider, unchanged.
    case provider(any Error)

    /// A failure with its usual result code.
    static func failure(_ failure: EncryptionFailure) -> KeyError {
        .encryption(failure, code: failure.engineCode)
    }

    /// Wraps an engine error, and recognizes the one that reports a missing cipher.
    init(_ error: EngineError) {
        self = error == .withoutCipher ? .failure(.engineWithoutCipher) : .engine(error)
    }

    var failure: EncryptionFailure? {
        if case .encryption(let failure, _) = self { failure } else { nil }
    }
}
