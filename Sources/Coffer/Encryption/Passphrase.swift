internal import KeyMaterial
internal import SQLCipherBridge
internal import Synchronization
internal import SystemCalls

/// A passphrase, and the keys derived from it (invariant "Derived once").
///
/// All copies of a ``DatabaseKey`` share it, so queues and pools created from one configuration derive once
/// per file, even if they are opened at the same time. The derived keys are wiped together with the
/// passphrase, when the last reference is released.
final class Passphrase: Sendable {
    let bytes: SecretBytes

    private let derivations = Mutex<[Derivation]>([])
    private let newFiles = Mutex<[NewFile]>([])

    /// The number of derivations, and of new files, that are remembered. A program that opens more files with
    /// one key derives the oldest ones again.
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

    /// One derivation. The first thread that needs it computes it while the others wait.
    private final class Derivation: Sendable {
        let parameters: Parameters
        let result = Mutex<SharedSecret?>(nil)

        init(_ parameters: Parameters) {
            self.parameters = parameters
        }
    }

    /// Returns the key for a file with this salt.
    ///
    /// - Returns: the 32 bytes, and true if this call derived them. False means that they were already known,
    ///   or that another thread derived them while this one waited.
    func derived(salt: [UInt8], settings: CipherSettings) throws(KeyError) -> (
        secret: SharedSecret, isFresh: Bool
    ) {
        let parameters = Parameters(
            salt: salt, iterations: settings.kdfIterations, algorithm: settings.kdfAlgorithm)
        let derivation = derivations.withLock { derivations in
            let known = derivations.firstIndex { $0.parameters == parameters }.map {
                derivations.remove(at: $0)
            }
            let derivation = known ?? Derivation(parameters)
            derivations.append(derivation)
            if derivations.count > Passphrase.limit { derivations.removeFirst() }
            return derivation
        }
        return try derivation.result.withLock { result throws(KeyError) in
            if let result { return (result, false) }
            let secret = try cryptographically { () throws(CryptographyFailure) in
                try SharedSecret(
                    KeyDerivation.databaseKey(
                        passphrase: bytes, salt: salt, iterations: settings.kdfIterations,
                        hash: settings.kdfAlgorithm.bridged))
            }
            result = secret
            return (secret, true)
        }
    }

    // MARK: - New files

    /// A file that was found empty, and the salt chosen for it.
    private struct NewFile {
        let identity: FileIdentity
        let salt: [UInt8]
        /// True once the salt has been written. An empty file with this inode is then another file, created
        /// after this one was deleted.
        var isWritten = false
    }

    /// Returns the salt for an empty file: the same one for every connection that opens the file at this
    /// time, and never the salt of another file.
    ///
    /// - Parameter path: nil if only the file's owner knows the path.
    func salt(forNewFileAt path: String?) throws(KeyError) -> [UInt8] {
        let fresh = try SystemRandomness.bytesOfKey(count: 16)
        guard let path, let status = try? FileStatus(path, followsLinks: true) else { return fresh }
        let identity = status.identity
        return newFiles.withLock { files in
            if let index = files.firstIndex(where: { $0.identity == identity }) {
                if !files[index].isWritten || status.size > 0 { return files[index].salt }
                files.remove(at: index)
            }
            files.append(NewFile(identity: identity, salt: fresh))
            if files.count > Passphrase.limit { files.removeFirst() }
            return fresh
        }
    }

    /// Records that the salt has been written to its file.
    func didWriteSalt(_ salt: [UInt8]) {
        newFiles.withLock { files in
            for index in files.indices where files[index].salt == salt { files[index].isWritten = true }
        }
    }
}

/// The passphrases that a configuration's preparations have used, for as long as a connection holds them. All
/// queues and pools created from the configuration share the keys derived from them.
final class PreparedPassphrases: Sendable {
    private struct Entry {
        weak var passphrase: Passphrase?
        let salt: [UInt8]?
    }

    private let entries = Mutex<[Entry]>([])

    /// Returns the known key with the same passphrase and salt, or else the key itself.
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
