internal import Synchronization

/// The names of tables that are derived from names of types, each worked out once.
final class DefaultTableName: Sendable {
    static let shared = DefaultTableName()

    private let names = Mutex<[ObjectIdentifier: String]>([:])

    func name(for type: Any.Type) -> String {
        let id = ObjectIdentifier(type)
        if let name = names.withLock({ $0[id] }) { return name }
        let name = Self.tableName(ofTypeNamed: String(describing: type))
        names.withLock { $0[id] = name }
        return name
    }

    /// `Place` gives `place`, `HTTPRequest` gives `httpRequest`, `TOEFL` gives `toefl`, and `iPad` and `_Place`, which do not begin with a
    /// capital ASCII letter, give `ipad` and `_place`; the parameters of a generic type do not count.
    static func tableName(ofTypeNamed typeName: String) -> String {
        let name = typeName.prefix { $0 != "<" }
        let capitals = name.prefix { $0.isASCII && $0.isUppercase }
        guard !capitals.isEmpty, capitals.count < name.count else { return name.lowercased() }
        // The last of several capitals begins the next word.
        let head = capitals.count > 1 ? capitals.dropLast() : capitals
        return head.lowercased() + name[head.endIndex...]
    }
}
