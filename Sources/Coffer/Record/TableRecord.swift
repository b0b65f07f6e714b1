internal import Synchronization

/// A type that represents a table: it provides the table's name, the selection of requests, and optionally
/// its columns.
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
    /// The columns that closures and key paths of requests refer to: usually an enumeration in the record
    /// type.
    associatedtype Columns = Never

    /// The type of the argument of request closures: the metatype of ``Columns`` by default.
    associatedtype DatabaseComponents = Columns.Type

    /// The name of the table. By default, the name of the type with its leading capitals in lowercase.
    ///
    /// `Place` has the table `place`, `PostalAddress` has `postalAddress`, and `HTTPRequest` has
    /// `httpRequest`.
    static var databaseTableName: String { get }

    /// The columns that requests select if they do not specify any: all columns by default.
    ///
    /// Declare it as `[any SQLSelectable]`. Otherwise the compiler infers another type, and requests ignore
    /// the property:
    ///
    ///     static var databaseSelection: [any SQLSelectable] { [.allColumns(excluding: ["content"])] }
    static var databaseSelection: [any SQLSelectable] { get }

    /// The argument of request closures.
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
    /// The root type of the alias's key paths.
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

/// The table names derived from type names. Each name is computed once.
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

    /// Returns the name of the table for the name of a type. `Place` gives `place`, `HTTPRequest` gives
    /// `httpRequest`, and `TOEFL` gives `toefl`. `iPad` and `_Place`, which do not begin with a capital ASCII
    /// letter, give `ipad` and `_place`. The parameters of a generic type are ignored.
    static func tableName(ofTypeNamed typeName: String) -> String {
        let name = typeName.prefix { $0 != "<" }
        let capitals = name.prefix { $0.isASCII && $0.isUppercase }
        guard !capitals.isEmpty, capitals.count < name.count else { return name.lowercased() }
        // The last of several capitals begins the next word.
        let head = capitals.count > 1 ? capitals.dropLast() : capitals
        return head.lowercased() + name[head.endIndex...]
    }
}
