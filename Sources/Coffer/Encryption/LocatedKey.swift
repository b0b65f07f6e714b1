internal import KeyMaterial
internal import Synchronization

/// A key that depends on where its database is, and on the salt of the file: what a keyring gives.
///
/// Copies of a ``DatabaseKey`` share it, with what was found (I4): the data key of a salt never changes.
final class LocatedKey: Sendable {
    /// 32 bytes, and the salt that the file has, or is to have where it is empty.
    typealias Finding = (secret: SharedSecret, salt: [UInt8])

    private let find: @Sendable (_ path: String, _ fileSalt: [UInt8]) throws(KeyError) -> Finding
    private let known: Known
    /// Where the database is, where those who open it cannot say.
    private let place: String?

    private final class Known: Sendable {
        let findings = Mutex<[Finding]>([])
    }

    /// How many files are remembered.
    private static let limit = 16

    /// - Parameter find: answers for the database at a path, which begins with a salt, or has no bytes.
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

    /// The same key for the database at a path, however it is opened.
    func placed(at path: String) -> LocatedKey { LocatedKey(self, place: path) }

    /// - Parameter path: where the database is; nil when only its owner knows, which is enough for a salt
    ///   that was seen before.
    func material(path: String?, fileSalt: [UInt8]) throws(KeyError) -> KeyRing.Material {
        let (secret, salt) = try finding(path, fileSalt)
        return KeyRing.Material(secret: secret, salt: salt, isBoundToFileSalt: true)
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
    /// The key of the database at a path, for those who open its bytes without its name.
    func placed(at path: String) -> DatabaseKey {
        guard case .located(let key) = kind else { return self }
        return DatabaseKey(.located(key.placed(at: path)))
    }

    /// The key that a file with a salt has, for operations whose result takes its place: its keyring knows
    /// the result by the same salt.
    func resolved(at path: String, fileSalt: [UInt8]) throws(KeyError) -> DatabaseKey {
        guard case .located(let key) = kind else { return self }
        let material = try key.material(path: path, fileSalt: fileSalt)
        return DatabaseKey(.rawKey(material.secret, salt: material.salt))
    }
}
