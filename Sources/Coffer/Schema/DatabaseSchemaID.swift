/// The name of a schema: the main database, the temporary one, or a database that is attached to the
/// connection.
///
/// Names are compared as SQLite compares them: without regard to the case of ASCII letters.
public struct DatabaseSchemaID: Hashable, Sendable {
    private let id: CaseInsensitiveName

    private init(_ name: String) {
        id = CaseInsensitiveName(name)
    }

    /// The name of the schema in SQL.
    public var name: String { id.spelling }

    /// The name of the table that holds the schema: see <https://www.sqlite.org/schematab.html>.
    public var schemaTableName: String { self == .temp ? "sqlite_temp_master" : "sqlite_master" }

    /// The database that the connection was opened with.
    public static let main = DatabaseSchemaID("main")

    /// The database of temporary tables, which only this connection sees.
    public static let temp = DatabaseSchemaID("temp")

    /// A database that was attached under this name: see <https://www.sqlite.org/lang_attach.html>.
    public static func attached(_ name: String) -> DatabaseSchemaID {
        DatabaseSchemaID(name)
    }
}

/// The name of a table, view or trigger, together with the schema that it belongs to.
public struct DatabaseObjectID: Hashable, Sendable {
    /// The schema that the object belongs to.
    public var schemaID: DatabaseSchemaID

    /// The name of the object, as the schema spells it.
    public var name: String

    /// Creates the name of an object in a schema.
    public init(name: String, schemaID: DatabaseSchemaID) {
        self.schemaID = schemaID
        self.name = name
    }
}

extension DatabaseObjectID {
    /// The name with its schema, for SQL.
    var quotedDatabaseIdentifier: String {
        "\(schemaID.name.quotedDatabaseIdentifier).\(name.quotedDatabaseIdentifier)"
    }
}
