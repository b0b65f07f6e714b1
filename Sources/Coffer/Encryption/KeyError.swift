internal import KeyMaterial
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

    init(_ failure: CryptographyFailure) {
        self = .engine(EngineError(code: EngineCode.error, message: "\(failure.function) failed"))
    }

    init(_: RandomnessFailure) {
        self = .failure(.invalidKey(.noRandomness))
    }

    var failure: EncryptionFailure? {
        if case .encryption(let failure, _) = self { failure } else { nil }
    }
}

/// Runs a cryptographic computation, and converts its errors to ``KeyError``.
func cryptographically<Result>(_ body: () throws(CryptographyFailure) -> Result) throws(KeyError) -> Result {
    do throws(CryptographyFailure) { return try body() } catch { throw KeyError(error) }
}

extension SystemRandomness {
    /// Returns random bytes, for callers that throw ``KeyError``.
    static func bytesOfKey(count: Int) throws(KeyError) -> [UInt8] {
        do throws(RandomnessFailure) { return try bytes(count: count) } catch { throw KeyError(error) }
    }
}

extension SecretBytes {
    /// Returns random bytes, for callers that throw ``KeyError``.
    static func randomOfKey(count: Int) throws(KeyError) -> SecretBytes {
        do throws(RandomnessFailure) { return try random(count: count) } catch { throw KeyError(error) }
    }
}
