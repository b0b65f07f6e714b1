/// Answers what the schema of a database does not say: which columns identify the rows of a view.
///
/// SQLite knows no primary keys of views. Requests and records that need one, such as `fetchOne(_:id:)` and
/// `orderByPrimaryKey()`, work with views that a schema source knows of:
///
///     /// Each view of this vault has the key of the table that its name begins with, such as `item_heavy`.
///     struct PrefixKeys: DatabaseSchemaSource {
///         func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? {
///             let table = view.name.prefix { $0 != "_" }
///             return try db.primaryKey(String(table)).columns
///         }
///     }
///
///     configuration.schemaSource = PrefixKeys()
public protocol DatabaseSchemaSource: Sendable {
    /// Returns the columns that identify the rows of a view, or nil where they are not known.
    ///
    /// The answer is used until the schema of the database changes. It is called inside of a database access,
    /// on the connection.
    /// - Parameters:
    ///   - db: a connection, which may be used to look at the schema. Do not ask it for the primary key of
    ///     the same view.
    ///   - view: the view.
    func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]?
}

extension DatabaseSchemaSource {
    public func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? {
        nil
    }

    /// A source that asks another one where this one does not know.
    public func then(_ other: some DatabaseSchemaSource) -> some DatabaseSchemaSource {
        SchemaSourceChain(first: self, second: other)
    }
}

private struct SchemaSourceChain<First: DatabaseSchemaSource, Second: DatabaseSchemaSource>:
    DatabaseSchemaSource
{
    let first: First
    let second: Second

    func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? {
        try first.columnsForPrimaryKey(db, inView: view) ?? second.columnsForPrimaryKey(db, inView: view)
    }
}

extension Database {
    /// Where the connection looks for what its schema does not say: that of the configuration, or of
    /// ``withSchemaSource(_:execute:)``.
    public var schemaSource: (any DatabaseSchemaSource)? {
        temporarySchemaSource.map(\.source) ?? configuration.schemaSource
    }

    /// Runs `block` with another schema source, or without one for nil.
    ///
    /// - Parameters:
    ///   - schemaSource: answers what the schema does not say.
    ///   - block: runs with it.
    public func withSchemaSource<T>(
        _ schemaSource: (any DatabaseSchemaSource)?, execute block: () throws -> T
    ) rethrows -> T {
        checkIsUsedInItsAccess()
        let previous = temporarySchemaSource
        temporarySchemaSource = TemporarySchemaSource(source: schemaSource)
        // Records of views were prepared for the keys that the other source knows.
        knownSchema.recordPlans = RecordPlans()
        defer {
            temporarySchemaSource = previous
            knownSchema.recordPlans = RecordPlans()
        }
        return try block()
    }

    /// The schema source of ``withSchemaSource(_:execute:)``, which may be none.
    struct TemporarySchemaSource {
        let source: (any DatabaseSchemaSource)?
    }
}
