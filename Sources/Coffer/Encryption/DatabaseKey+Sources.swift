internal import Glibc
internal import KeyMaterial
internal import SystemCalls

// Creates keys from the places where they are stored. Their bytes never pass through a String.
extension DatabaseKey {
    /// The format of a secret's bytes. It is never guessed from their content.
    public enum Contents: Sendable, Hashable, CaseIterable {
        /// A passphrase, without the trailing newline that editors add.
        case passphrase
        /// 32 bytes, or 64 hexadecimal digits, as `coffer keygen --out` writes them.
        case rawKey
        /// A key of 32 bytes and its salt of 16 bytes, or 96 hexadecimal digits.
        case rawKeyAndSalt
    }

    /// Returns a raw key given as 64 hexadecimal digits, or 96 with its salt.
    ///
    /// ```swift
    /// config.key = .hexadecimal(digits)  // Data or [UInt8], from a secret store
    /// ```
    public static func hexadecimal(_ digits: some Sequence<UInt8>) -> DatabaseKey {
        let digits = SecretBytes(digits)
        let count = digits.count
        // 32 or 48 bytes are a raw key, not the digits of one.
        guard count == 64 || count == 96, let bytes = digits.decoded(size: count / 2) else {
            return DatabaseKey(.invalid(.notHexadecimal(digits: count)))
        }
        return DatabaseKey(rawBytes: bytes)
    }

    /// Returns a raw key given as a string of 64 hexadecimal digits, or 96 with its salt. Coffer cannot wipe
    /// the string.
    ///
    /// ```swift
    /// config.key = .hexadecimal(text)
    /// ```
    public static func hexadecimal(_ digits: some StringProtocol) -> DatabaseKey { hexadecimal(digits.utf8) }

    /// Returns a key given in SQLCipher's own notation, as `PRAGMA key` and GRDB's `usePassphrase` accept it:
    /// `x'...'` with 64 hexadecimal digits is a raw key, with 96 digits a raw key and its salt. Everything
    /// else is a passphrase.
    ///
    /// Prefer ``rawKey(_:)`` and `passphrase(_:)` in new programs, where a mistake in the text cannot produce
    /// another kind of key.
    public static func keySpec(_ text: some Sequence<UInt8>) -> DatabaseKey {
        DatabaseKey(sqlCipherText: SecretBytes(text))
    }

    /// Returns a key given in SQLCipher's own notation: a raw key as `x'...'` with 64 or 96 hexadecimal
    /// digits, or a passphrase.
    public static func keySpec(_ text: String) -> DatabaseKey {
        DatabaseKey(sqlCipherText: SecretBytes(utf8: text))
    }

    /// Returns a key that is stored in a file. The file is read when the key is needed, and again when the
    /// database no longer opens with it.
    ///
    /// ```swift
    /// config.key = .keyFile(keyPath)  // a file created by `coffer keygen --out`
    /// ```
    ///
    /// The file must be a regular file or a pipe. Unless insecure files are allowed, only its owner may have
    /// access to it (mode 600 or 400), and its owner must be the user of this process or root. Otherwise,
    /// opening a database throws ``EncryptionFailure/invalidKey(_:)``. The mode of a pipe is not checked, and
    /// opening a database waits for its writer.
    ///
    /// - Parameters:
    ///   - path: the path of the file. Symbolic links are followed.
    ///   - contents: the format of the file's bytes.
    ///   - allowsInsecureMode: true to skip the checks of the file's owner and mode.
    public static func keyFile(
        _ path: String, contents: Contents = .rawKey, allowsInsecureMode: Bool = false
    ) -> DatabaseKey {
        let access = allowsInsecureMode ? SecretFile.Access.unchecked : .ownerOnly
        return .provider { try read(path, access, contents) }
    }

    /// Returns a key that systemd passes to the process as a credential (`LoadCredential=` or
    /// `LoadCredentialEncrypted=` of the unit).
    ///
    /// The credential is read when the key is needed. Opening a database throws
    /// ``EncryptionFailure/invalidKey(_:)`` if there is no such credential.
    ///
    /// - Parameters:
    ///   - name: the name of the credential, without a slash.
    ///   - contents: the format of the credential's bytes.
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

    /// Creates a raw key from 32 bytes, or from 48 bytes that end with a salt of 16.
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
        case .notOpened(let error), .notRead(let error): self = .unreadable(errno: error.code)
        case .notAFile: self = .notAFile
        case .readableByOthers(let mode): self = .readableByOthers(mode: mode)
        case .ofAnotherUser: self = .ofAnotherUser
        case .tooLong: self = .tooLong
        }
    }
}
