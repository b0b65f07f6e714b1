/// The name of a schema: the main database, the temporary database, or an attached database.
///
/// Names are compared without regard to the case of ASCII letters, as in SQLite.
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

    /// The database of temporary tables, which are visible to this connection only.
    public static let temp = DatabaseSchemaID("temp")

    /// Returns the name of a database that is attached under `name`:
    /// <https://www.sqlite.org/lang_attach.html>.
    public static func attached(_ name: String) -> DatabaseSchemaID {
        DatabaseSchemaID(name)
    }
}

/// The name of a table, view, or trigger, together with its schema.
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
    /// The name, qualified with its schema, for SQL.
    var quotedDatabaseIdentifier: String {
        "\(schemaID.name.quotedDatabaseIdentifier).\(name.quotedDatabaseIdentifier)"
    }
}
