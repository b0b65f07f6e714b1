internal import Glibc
internal import KeyMaterial

// The ways of a key from the place where it is kept into a DatabaseKey. Its bytes never pass through a
// String.
extension DatabaseKey {
    /// What the bytes of a secret are. They are never guessed from their look.
    public enum Contents: Sendable, Hashable, CaseIterable {
        /// A passphrase, without the newline that editors add.
        case passphrase
        /// 32 bytes, or 64 hexadecimal digits, as `coffer keygen --out` writes them.
        case rawKey
        /// 32 bytes of key and 16 of salt, or 96 hexadecimal digits.
        case rawKeyAndSalt
    }

    /// A raw key, written as 64 hexadecimal digits, or 96 with its salt.
    ///
    /// ```swift
    /// config.key = .hexadecimal(digits)              // Data or [UInt8], from a secret store
    /// config.key = .hexadecimal(text.utf8)           // where the digits are a String already
    /// ```
    public static func hexadecimal(_ digits: some Sequence<UInt8>) -> DatabaseKey {
        let digits = SecretBytes(digits)
        let count = digits.count
        // As many bytes as a key has are no digits of one.
        guard count == 64 || count == 96, let bytes = digits.decoded(size: count / 2) else {
            return DatabaseKey(.invalid(.notHexadecimal(digits: count)))
        }
        return DatabaseKey(rawBytes: bytes)
    }

    /// A key in SQLCipher's own notation, as `PRAGMA key` and GRDB's `usePassphrase` take it: `x'...'` with
    /// 64 hexadecimal digits is a raw key, with 96 digits a raw key and its salt, and everything else a
    /// passphrase.
    ///
    /// Prefer ``rawKey(_:)`` and `passphrase(_:)` for new programs, where a mistake in the text does not make
    /// another kind of key.
    public static func keySpec(_ text: some Sequence<UInt8>) -> DatabaseKey {
        DatabaseKey(sqlCipherText: SecretBytes(text))
    }

    /// A key in SQLCipher's own notation: a raw key as `x'...'` with 64 or 96 hexadecimal digits, or a
    /// passphrase.
    public static func keySpec(_ text: String) -> DatabaseKey {
        DatabaseKey(sqlCipherText: SecretBytes(utf8: text))
    }

    /// A key that is kept in a file, which is read when the key is needed, and again when the database no
    /// longer opens with it.
    ///
    /// ```swift
    /// config.key = .keyFile(keyPath)  // a file that `coffer keygen --out` has made
    /// ```
    ///
    /// The file must be regular, or a pipe. Unless insecure files are allowed, nobody but its owner may have
    /// access to it (mode 600 or 400), and its owner must be the user of this process, or root. Opening a
    /// database throws ``EncryptionFailure/invalidKey(_:)`` otherwise.
    ///
    /// - Parameters:
    ///   - path: the path of the file. Symbolic links are followed.
    ///   - contents: what the file holds.
    ///   - allowsInsecureMode: whether neither the owner of the file nor its mode matter.
    public static func keyFile(
        _ path: String, contents: Contents = .rawKey, allowsInsecureMode: Bool = false
    ) -> DatabaseKey {
        let access = allowsInsecureMode ? SecretFile.Access.unchecked : .ownerOnly
        return .provider { try read(path, access, contents) }
    }

    /// A key that systemd hands over as a credential (`LoadCredential=` or `LoadCredentialEncrypted=` of the
    /// unit).
    ///
    /// It is read when the key is needed. Opening a database throws ``EncryptionFailure/invalidKey(_:)``
    /// where there is no such credential.
    ///
    /// - Parameters:
    ///   - name: the name of the credential, without a slash.
    ///   - contents: what the credential holds.
    public static func credential(_ name: String, contents: Contents = .rawKey) -> DatabaseKey {
        guard !name.isEmpty, name != ".", name != "..", !name.contains("/"), !name.contains("\0") else {
            return DatabaseKey(.invalid(.noCredential(name: name)))
        }
        return .provider {
            guard let folder = unsafe getenv("CREDENTIALS_DIRECTORY").map({ unsafe String(cString: $0) }),
                !folder.isEmpty
            else {
                throw KeyError.failure(.invalidKey(.noCredential(name: name)))
            }
            return try read("\(folder)/\(name)", .unchecked, contents, followsLinks: false)
        }
    }

    private static func read(
        _ path: String, _ access: SecretFile.Access, _ contents: Contents, followsLinks: Bool = true
    ) throws -> DatabaseKey {
        let bytes: SecretBytes
        do throws(SecretFile.Problem) {
            bytes = try SecretFile.read(path, access: access, followsLinks: followsLinks)
        } catch {
            throw KeyError.failure(.invalidKey(.file(path: path, EncryptionFailure.KeyFileProblem(error))))
        }
        let count = bytes.count
        switch contents {
        case .passphrase: return DatabaseKey(.passphrase(Passphrase(bytes.withoutNewline()), salt: nil))
        case .rawKey, .rawKeyAndSalt:
            guard let key = bytes.decoded(size: contents == .rawKey ? 32 : 48) else {
                throw KeyError.failure(.invalidKey(.file(path: path, .noRawKey(size: count))))
            }
            return DatabaseKey(rawBytes: key)
        }
    }

    /// A raw key of 32 bytes, which its salt of 16 bytes may follow.
    private init(rawBytes secret: SharedSecret) {
        if secret.bytes.count == 32 {
            self.init(.rawKey(secret, salt: nil))
        } else {
            let salt = secret.bytes.withUnsafeBytes { unsafe Array($0[32...]) }
            self.init(.rawKey(SharedSecret(secret.bytes.prefix(32)), salt: salt))
        }
    }
}

extension EncryptionFailure.KeyFileProblem {
    fileprivate init(_ problem: SecretFile.Problem) {
        switch problem {
        case .notOpened(let code), .notRead(let code): self = .unreadable(errno: code)
        case .notAFile: self = .notAFile
        case .readableByOthers(let mode): self = .readableByOthers(mode: mode)
        case .ofAnotherUser: self = .ofAnotherUser
        case .tooLong: self = .tooLong
        }
    }
}
