internal import KeyMaterial
internal import SQLCipherBridge
internal import Synchronization

/// The keys of one database queue or pool: the current one, the previous ones, and the keys derived from them
/// (invariant "Derived once").
///
/// One ring serves all connections of its owner, so a passphrase is derived once and the other connections
/// are keyed with the result. The ring also chooses the salt of a file that does not exist yet, and keeps it
/// until it has been written.
final class KeyRing: Sendable {
    let settings: CipherSettings

    /// The current key, then the previous ones, in the order in which they are tried.
    let keys: [DatabaseKey]

    /// The key material of one connection: 32 bytes, and the salt unless SQLCipher is to read or create it.
    struct Material: Sendable {
        let secret: SharedSecret
        let salt: [UInt8]?
        /// True if the material fits only a file with this salt, because it was derived with it.
        let isBoundToFileSalt: Bool

        /// Returns the cipher of the pages of a file.
        func cipher(_ settings: CipherSettings, fileSalt: [UInt8]) throws(CryptographyFailure) -> PageCipher {
            try PageCipher(key: secret.bytes, salt: salt ?? fileSalt, layout: PageCipher.Layout(settings))
        }
    }

    private struct State {
        /// Materials that opened the file, or that were used for an empty file.
        var materials: [(keyIndex: Int, material: Material)] = []
        /// The salt chosen for the file while it is empty.
        var pendingSalt: [UInt8]?
        var lastSuccess: (keyIndex: Int, fileSalt: [UInt8])?
        var derivationCount = 0

        func indexOfMaterial(keyIndex: Int, fileSalt: [UInt8]) -> Int? {
            let salt = fileSalt.isEmpty ? pendingSalt : fileSalt
            return materials.firstIndex {
                $0.keyIndex == keyIndex && (!$0.material.isBoundToFileSalt || $0.material.salt == salt)
            }
        }
    }

    private let state = Mutex(State())

    /// - Throws: the failure of a key or of settings that can never work. Providers are not called yet.
    init(key: DatabaseKey, previousKeys: [DatabaseKey] = [], settings: CipherSettings = CipherSettings())
        throws(KeyError)
    {
        self.settings = settings
        keys = [key] + previousKeys
        for key in keys {
            try key.validate()
            try settings.validate(with: key)
        }
    }

    // MARK: - State

    /// The number of derivations made by this ring. Keys that it uses may have been derived by others with
    /// the same passphrase.
    var derivationCount: Int { state.withLock { $0.derivationCount } }

    /// The index of the key that last opened the file: 0 for the current one, then the previous ones in
    /// order; nil before the first opening.
    var usedKeyIndex: Int? { state.withLock { $0.lastSuccess?.keyIndex } }

    /// Discards the cached material. The next connection calls a provider again; keys derived from a
    /// passphrase live as long as the passphrase.
    func removeDerivedKeys() {
        state.withLock { $0.materials = [] }
    }

    /// Returns the order in which keys are tried for a file with this salt. The key that last opened it comes
    /// first.
    func candidates(forSalt fileSalt: [UInt8]) -> [Int] {
        let preferred = state.withLock { state in
            state.lastSuccess.flatMap { $0.fileSalt == fileSalt ? $0.keyIndex : nil } ?? 0
        }
        return [preferred] + keys.indices.filter { $0 != preferred }
    }

    func cachedMaterial(keyIndex: Int, fileSalt: [UInt8]) -> Material? {
        state.withLock { state in
            state.indexOfMaterial(keyIndex: keyIndex, fileSalt: fileSalt).map { state.materials[$0].material }
        }
    }

    func discardMaterial(keyIndex: Int, fileSalt: [UInt8]) {
        state.withLock { state in
            guard let index = state.indexOfMaterial(keyIndex: keyIndex, fileSalt: fileSalt) else { return }
            state.materials.remove(at: index)
        }
    }

    /// Records the material that opened the file, for the next connections.
    func remember(_ material: Material, keyIndex: Int, fileSalt: [UInt8]) {
        state.withLock { state in
            state.lastSuccess = (keyIndex, fileSalt)
            if state.indexOfMaterial(keyIndex: keyIndex, fileSalt: fileSalt) == nil {
                state.materials.append((keyIndex, material))
            }
            // The file has its salt now: a pending one was used, or another writer was first.
            if !fileSalt.isEmpty { state.pendingSalt = nil }
        }
    }

    /// Records that the salt chosen by this ring has been written to the file.
    func didClaimEmptyFile() {
        guard let salt = state.withLock({ $0.pendingSalt }) else { return }
        for key in keys {
            if case .passphrase(let passphrase, _) = key.kind { passphrase.didWriteSalt(salt) }
        }
    }

    /// Forgets that a key opened the file while it was empty, which any key does: another connection wrote
    /// the first content.
    func didLoseEmptyFile() {
        state.withLock { state in
            if state.lastSuccess?.fileSalt.isEmpty == true { state.lastSuccess = nil }
        }
    }

    // MARK: - Deriving

    /// Returns the key, calling it if it is a provider and validating the answer.
    func resolve(keyIndex: Int) throws(KeyError) -> DatabaseKey {
        let key = keys[keyIndex]
        guard case .provider(let ask) = key.kind else { return key }
        let answer: DatabaseKey
        do {
            answer = try ask()
        } catch let error as KeyError {
            throw error
        } catch {
            throw .provider(error)
        }
        guard !answer.isProvider else { throw .failure(.invalidKey(.nestedProvider)) }
        try answer.validate()
        try settings.validate(with: answer)
        return answer
    }

    /// Derives the material that a connection needs from a key.
    ///
    /// - Parameters:
    ///   - fileSalt: the first 16 bytes of the file; empty while the file is empty.
    ///   - settings: the settings of the derivation, which may differ from the ring's.
    ///   - path: the file's path, if other connections with the same key may be about to give it a salt.
    func derive(
        from key: DatabaseKey, fileSalt: [UInt8], settings: CipherSettings, path: String? = nil
    ) throws(KeyError) -> Material {
        switch key.kind {
        case .rawKey(let secret, let salt):
            // Without an explicit salt, SQLCipher reads the file's own. If the file is still empty, SQLCipher
            // creates one at the first write.
            return Material(secret: secret, salt: salt, isBoundToFileSalt: false)
        case .passphrase(let passphrase, let salt):
            let isBound = salt == nil
            let salt =
                if let salt { salt } else if fileSalt.isEmpty { try pendingSalt(passphrase, path: path) } else
                { fileSalt }
            let (secret, isFresh) = try passphrase.derived(salt: salt, settings: settings)
            if isFresh { state.withLock { $0.derivationCount += 1 } }
            return Material(secret: secret, salt: salt, isBoundToFileSalt: isBound)
        case .located(let key): return try key.material(path: path, fileSalt: fileSalt)
        case .provider: throw .failure(.invalidKey(.nestedProvider))
        case .invalid(let problem): throw .failure(.invalidKey(problem))
        }
    }

    /// Returns new material for the current key: calls a provider and derives again.
    func freshMaterial(fileSalt: [UInt8]) throws(KeyError) -> Material {
        try derive(from: resolve(keyIndex: 0), fileSalt: fileSalt, settings: settings)
    }

    private func pendingSalt(_ passphrase: Passphrase, path: String?) throws(KeyError) -> [UInt8] {
        let fresh = try passphrase.salt(forNewFileAt: path)
        return state.withLock { state in
            let salt = state.pendingSalt ?? fresh
            state.pendingSalt = salt
            return salt
        }
    }
}
