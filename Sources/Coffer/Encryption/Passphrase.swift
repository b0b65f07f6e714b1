internal import Glibc
internal import KeyMaterial
internal import SQLCipherBridge
internal import Synchronization

/// A passphrase, and what was derived from it (I4).
///
/// All copies of a ``DatabaseKey`` share it, so that queues and pools that are made from one configuration derive once for each file, also when
/// they are opened at the same time. What was derived is wiped together with the passphrase, when the last of them goes away.
final class Passphrase: Sendable {
    let bytes: SecretBytes

    private let derivations = Mutex<[Derivation]>([])
    private let newFiles = Mutex<[NewFile]>([])

    /// How many derivations, and new files, are remembered: a program that opens more files with one key derives the oldest anew.
    private static let limit = 16

    init(_ bytes: consuming SecretBytes) {
        self.bytes = bytes
    }

    // MARK: - Deriving

    private struct Parameters: Hashable {
        let salt: [UInt8]
        let iterations: Int
        let algorithm: CipherSettings.HashAlgorithm
    }

    /// One derivation, which the first thread that needs it makes while the others wait.
    private final class Derivation: Sendable {
        let parameters: Parameters
        let result = Mutex<SharedSecret?>(nil)

        init(_ parameters: Parameters) {
            self.parameters = parameters
        }
    }

    /// The key for a file with this salt.
    ///
    /// - Returns: the 32 bytes, and whether they were derived by this call. Otherwise they were known, or another thread has derived them
    ///   while this one waited.
    func derived(salt: [UInt8], settings: CipherSettings) throws(CryptographyFailure) -> (secret: SharedSecret, isFresh: Bool) {
        let parameters = Parameters(salt: salt, iterations: settings.kdfIterations, algorithm: settings.kdfAlgorithm)
        let derivation = derivations.withLock { derivations in
            let known = derivations.firstIndex { $0.parameters == parameters }.map { derivations.remove(at: $0) }
            let derivation = known ?? Derivation(parameters)
            derivations.append(derivation)
            if derivations.count > Passphrase.limit { derivations.removeFirst() }
            return derivation
        }
        return try derivation.result.withLock { result throws(CryptographyFailure) in
            if let result { return (result, false) }
            let secret = try SharedSecret(
                KeyDerivation.databaseKey(
                    passphrase: bytes, salt: salt, iterations: settings.kdfIterations, hash: settings.kdfAlgorithm.bridged))
            result = secret
            return (secret, true)
        }
    }

    // MARK: - New files

    /// A file that was found empty, and the salt that it is to have.
    private struct NewFile {
        let identity: FileIdentity
        let salt: [UInt8]
        /// Whether the salt was written: an empty file with this number is another one, made after this one was deleted.
        var isWritten = false
    }

    /// The salt for an empty file: the same for all that open the file at this time, and never that of another file.
    ///
    /// - Parameter path: where the file is; nil when only its owner knows.
    func salt(forNewFileAt path: String?) throws(RandomnessFailure) -> [UInt8] {
        let fresh = try SystemRandomness.bytes(count: 16)
        var status = stat()
        guard let path, unsafe stat(path, &status) == 0 else { return fresh }
        let identity = FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        return newFiles.withLock { files in
            if let index = files.firstIndex(where: { $0.identity == identity }) {
                if !files[index].isWritten || status.st_size > 0 { return files[index].salt }
                files.remove(at: index)
            }
            files.append(NewFile(identity: identity, salt: fresh))
            if files.count > Passphrase.limit { files.removeFirst() }
            return fresh
        }
    }

    /// Notes that a file has got its salt.
    func didWriteSalt(_ salt: [UInt8]) {
        newFiles.withLock { files in
            for index in files.indices where files[index].salt == salt { files[index].isWritten = true }
        }
    }
}

/// The passphrases that the preparations of a configuration have used, as long as a connection has them: all queues and pools that are made from
/// the configuration share what is derived from them.
final class PreparedPassphrases: Sendable {
    private struct Entry {
        weak var passphrase: Passphrase?
        let salt: [UInt8]?
    }

    private let entries = Mutex<[Entry]>([])

    /// The key that is known for the same passphrase, or the key itself.
    func shared(_ key: DatabaseKey) -> DatabaseKey {
        guard case .passphrase(let passphrase, let salt) = key.kind else { return key }
        return entries.withLock { entries in
            entries.removeAll { $0.passphrase == nil }
            for entry in entries where entry.salt == salt {
                if let known = entry.passphrase, known.bytes == passphrase.bytes {
                    return DatabaseKey(.passphrase(known, salt: salt), isVerbatim: key.isVerbatim)
                }
            }
            entries.append(Entry(passphrase: passphrase, salt: salt))
            return key
        }
    }
}
