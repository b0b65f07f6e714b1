internal import Synchronization

/// A type that stands for a table: it knows the table's name, what requests select, and maybe its columns.
///
///     struct Attachment: TableRecord {
///         enum Columns {
///             static let fileName = Column("fileName")
///             static let size = Column("size")
///         }
///     }
///
///     // SELECT * FROM "attachment" WHERE "size" = 0 ORDER BY "fileName"
///     Attachment.order(\.fileName).filter { $0.size == 0 }
public protocol TableRecord {
    /// The columns that closures and key paths of requests refer to: mostly an enumeration inside of the
    /// record type.
    associatedtype Columns = Never

    /// What closures of requests get as their argument: the type ``Columns``, unless you choose something
    /// else.
    associatedtype DatabaseComponents = Columns.Type

    /// The name of the table. Unless you give one, it is that of the type, with the capitals at its start
    /// made small.
    ///
    /// `Place` is in the table `place`, `PostalAddress` in `postalAddress`, `HTTPRequest` in `httpRequest`.
    static var databaseTableName: String { get }

    /// What requests select unless they say otherwise: all columns by default.
    ///
    /// Declare it as `[any SQLSelectable]`, or the compiler takes it for something else:
    ///
    ///     static var databaseSelection: [any SQLSelectable] { [.allColumns(excluding: ["content"])] }
    static var databaseSelection: [any SQLSelectable] { get }

    /// What closures of requests get as their argument.
    static var databaseComponents: DatabaseComponents { get }
}

extension TableRecord where DatabaseComponents == Columns.Type {
    public static var databaseComponents: DatabaseComponents { Columns.self }
}

extension TableRecord {
    public static var databaseTableName: String { DefaultTableName.shared.name(for: self) }

    public static var databaseSelection: [any SQLSelectable] { [AllColumns()] }
}

extension TableAlias where RowDecoder: TableRecord {
    /// What key paths of the alias start from.
    public typealias DatabaseComponents = RowDecoder.DatabaseComponents

    /// A column of the table: `alias.name`.
    public subscript<T: SQLSpecificExpressible>(dynamicMember keyPath: KeyPath<DatabaseComponents, T>)
        -> SQLExpression
    {
        self[RowDecoder.databaseComponents[keyPath: keyPath]]
    }

    /// A selection of columns of the table.
    public subscript<T: SQLSelectable>(dynamicMember keyPath: KeyPath<DatabaseComponents, T>) -> SQLSelection
    {
        self[RowDecoder.databaseComponents[keyPath: keyPath]]
    }

    /// An ordering by columns of the table.
    public subscript<T: SQLOrderingTerm>(dynamicMember keyPath: KeyPath<DatabaseComponents, T>) -> SQLOrdering
    {
        self[RowDecoder.databaseComponents[keyPath: keyPath]]
    }
}

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

    /// `Place` gives `place`, `HTTPRequest` gives `httpRequest`, `TOEFL` gives `toefl`, and `iPad` and
    /// `_Place`, which do not begin with a capital ASCII letter, give `ipad` and `_place`; the parameters of
    /// a generic type do not count.
    static func tableName(ofTypeNamed typeName: String) -> String {
        let name = typeName.prefix { $0 != "<" }
        let capitals = name.prefix { $0.isASCII && $0.isUppercase }
        guard !capitals.isEmpty, capitals.count < name.count else { return name.lowercased() }
        // The last of several capitals begins the next word.
        let head = capitals.count > 1 ? capitals.dropLast() : capitals
        return head.lowercased() + name[head.endIndex...]
    }
}
