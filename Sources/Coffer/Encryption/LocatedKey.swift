internal import KeyMaterial
internal import Synchronization

/// A key that depends on the path of its database and on the salt of the file, such as one from a keyring.
///
/// Copies of a ``DatabaseKey`` share it and its findings (invariant "Derived once"). A finding that does not
/// open its file is forgotten: after an older keyring was restored, a rotation gives the same salt to another
/// data key.
final class LocatedKey: Sendable {
    /// 32 bytes, and the salt of the file, or the one chosen for an empty file.
    typealias Finding = (secret: SharedSecret, salt: [UInt8])

    private let find: @Sendable (_ path: String, _ fileSalt: [UInt8]) throws(KeyError) -> Finding
    private let known: Known
    /// The path of the database, for callers that cannot supply it.
    private let place: String?

    private final class Known: Sendable {
        let findings = Mutex<[Finding]>([])
    }

    /// The number of files that are remembered.
    private static let limit = 16

    /// - Parameter find: returns the key for the database at a path. The salt is empty if the file is.
    init(_ find: @escaping @Sendable (_ path: String, _ fileSalt: [UInt8]) throws(KeyError) -> Finding) {
        self.find = find
        known = Known()
        place = nil
    }

    private init(_ key: LocatedKey, place: String) {
        find = key.find
        known = key.known
        self.place = place
    }

    /// Returns the same key for the database at a path, however it is opened.
    func placed(at path: String) -> LocatedKey { LocatedKey(self, place: path) }

    /// - Parameter path: the path of the database; nil if only its owner knows it, which is enough for a salt
    ///   that was seen before.
    func material(path: String?, fileSalt: [UInt8]) throws(KeyError) -> KeyRing.Material {
        let (secret, salt) = try finding(path, fileSalt)
        return KeyRing.Material(secret: secret, salt: salt, isBoundToFileSalt: true)
    }

    /// Forgets the key for a salt. Returns false if there is none.
    func forget(fileSalt: [UInt8]) -> Bool {
        known.findings.withLock { known in
            let count = known.count
            known.removeAll { $0.salt == fileSalt }
            return known.count < count
        }
    }

    private func finding(_ path: String?, _ fileSalt: [UInt8]) throws(KeyError) -> Finding {
        if let known = known.findings.withLock({ $0.first { $0.salt == fileSalt } }) { return known }
        guard let path = place ?? path, !path.isEmpty else { throw .failure(.keyring(path: "", .noPlace)) }
        let found = try find(path, fileSalt)
        known.findings.withLock { known in
            known.removeAll { $0.salt == found.salt }
            known.append(found)
            if known.count > LocatedKey.limit { known.removeFirst() }
        }
        return found
    }
}

extension DatabaseKey {
    /// Forgets a key of a keyring that does not open the file with this salt. Returns false if there is none.
    func forgetFinding(fileSalt: [UInt8]) -> Bool {
        guard case .located(let key) = kind else { return false }
        return key.forget(fileSalt: fileSalt)
    }

    /// Returns the key of the database at a path, for callers that open its bytes without its name.
    func placed(at path: String) -> DatabaseKey {
        guard case .located(let key) = kind else { return self }
        return DatabaseKey(.located(key.placed(at: path)))
    }

    /// Returns the key for a file with a salt, for operations whose result replaces the file: the result
    /// keeps the salt, by which its keyring recognizes it.
    func resolved(at path: String, fileSalt: [UInt8]) throws(KeyError) -> DatabaseKey {
        guard case .located(let key) = kind else { return self }
        let material = try key.material(path: path, fileSalt: fileSalt)
        return DatabaseKey(.rawKey(material.secret, salt: material.salt))
    }
}
