internal import KeyMaterial
internal import SQLCipherBridge

// Derives the keys of many databases from one master key.
extension DatabaseKey {
    /// Returns a raw key that is derived from a master key, for one of many databases.
    ///
    /// ```swift
    /// let master = DatabaseKey.credential("master-key")
    /// configuration.key = .derived(from: master, info: "notes of tenant 7")
    /// ```
    ///
    /// Each text gives an independent key: neither the master key nor the key of another text can be computed
    /// from it. If you lose the master key, no database opens again.
    ///
    /// The key is the result of HKDF-SHA256 (RFC 5869), so other programs can compute it from the same three
    /// values. If the master key is a file, a credential or a provider, it is read when a database is opened.
    /// Opening throws ``EncryptionFailure/KeyProblem/masterKeyIsNotRaw`` if it is a passphrase or a keyring.
    ///
    /// - Parameters:
    ///   - master: a raw key. Its salt, if it has one, is ignored.
    ///   - info: the name of the database, which need not be secret. It is used as its UTF-8 bytes.
    ///   - salt: an optional value of any length, which need not be secret.
    public static func derived(from master: DatabaseKey, info: String, salt: [UInt8] = []) -> DatabaseKey {
        derived(from: master, info: info.utf8, salt: salt)
    }

    /// Returns a raw key that is derived from the key `master`, for the database that the bytes of `info`
    /// name. The result also depends on `salt`, which may be empty.
    ///
    /// - Parameters:
    ///   - master: a raw key.
    ///   - info: any bytes.
    ///   - salt: an optional value of any length.
    public static func derived(
        from master: DatabaseKey, info: some Sequence<UInt8>, salt: [UInt8] = []
    ) -> DatabaseKey {
        let info = Array(info)
        switch master.kind {
        case .rawKey(let secret, _) where secret.bytes.count == 32:
            do throws(CryptographyFailure) {
                return DatabaseKey(
                    .rawKey(
                        SharedSecret(try HKDF.derive(from: secret.bytes, salt: salt, info: info)), salt: nil))
            } catch {
                let failure = EngineError(code: EngineCode.error, message: error.message)
                return .provider { throw KeyError.engine(failure) }
            }
        case .rawKey(let secret, _): return DatabaseKey(.invalid(.rawKeyLength(secret.bytes.count)))
        case .provider(let ask):
            return .provider {
                let answer = try ask()
                guard !answer.isProvider else { return answer }
                return derived(from: answer, info: info, salt: salt)
            }
        case .passphrase, .located: return DatabaseKey(.invalid(.masterKeyIsNotRaw))
        case .invalid: return master
        }
    }
}

/// The keys of one database that are derived from a master key, one for each generation.
///
/// A rotation of the database moves it from one generation to the next, and the master key stays. Store the
/// number of the newest generation before you rotate: a generation that was begun is never begun again.
///
/// ```swift
/// let keys = KeyGenerations(of: "notes of tenant 7", from: master)
/// configuration.setKey(keys, generation: 3)
/// let pool = try DatabasePool(path: path, configuration: configuration)
/// try pool.rotateKey(to: keys[4])
/// ```
///
/// The number of a generation is not secret.
public struct KeyGenerations: Sendable {
    private let master: DatabaseKey
    private let info: [UInt8]

    /// - Parameters:
    ///   - info: the name of the database, which need not be secret.
    ///   - master: a raw key, or a file, a credential or a provider that supplies one.
    public init(of info: String, from master: DatabaseKey) {
        self.master = master
        self.info = Array(info.utf8)
    }

    /// The key of a generation: ``DatabaseKey/derived(from:info:salt:)-(_,String,_)`` for the name, a zero
    /// byte, and the number of the generation as eight bytes, the most significant byte first.
    public subscript(generation: Int) -> DatabaseKey {
        let number = UInt64(bitPattern: Int64(generation))
        let bytes = (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
        return .derived(from: master, info: info + [0] + bytes)
    }

    /// Returns the keys of the generations before one, the newest first, down to generation 0.
    ///
    /// ```swift
    /// configuration.previousKeys = keys.previous(to: 4, count: 2)
    /// ```
    ///
    /// - Parameter count: the maximum number of keys.
    public func previous(to generation: Int, count: Int) -> [DatabaseKey] {
        guard generation > 0, count > 0 else { return [] }
        return (max(0, generation - count)..<generation).reversed().map { self[$0] }
    }
}
