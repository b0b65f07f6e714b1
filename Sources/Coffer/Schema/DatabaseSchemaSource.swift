/// A source of schema information that SQLite does not have: the columns that identify the rows of a view.
///
/// SQLite has no primary keys for views. Requests and records that need one, such as `fetchOne(_:id:)` and
/// `orderByPrimaryKey()`, work with the views for which a schema source provides it:
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
    /// Returns the columns that identify the rows of a view, or nil if they are unknown.
    ///
    /// The result is used until the schema of the database changes. The function is called inside a database
    /// access.
    ///
    /// - Parameters:
    ///   - db: a connection, which may be used to read the schema. Do not ask it for the primary key of the
    ///     same view.
    ///   - view: the name of the view and its schema.
    func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]?
}

extension DatabaseSchemaSource {
    public func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? {
        nil
    }

    /// Returns a source that falls back to another one for views that this one does not know.
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
    /// The connection's schema source: the one passed to ``withSchemaSource(_:execute:)``, or else the one of
    /// the configuration.
    public var schemaSource: (any DatabaseSchemaSource)? {
        temporarySchemaSource.map(\.source) ?? configuration.schemaSource
    }

    /// Runs `block` with another schema source, or without any if `schemaSource` is nil.
    public func withSchemaSource<T>(
        _ schemaSource: (any DatabaseSchemaSource)?, execute block: () throws -> T
    ) rethrows -> T {
        checkIsUsedInItsAccess()
        let previous = temporarySchemaSource
        temporarySchemaSource = TemporarySchemaSource(source: schemaSource)
        // Record plans of views depend on the keys that the schema source provides.
        knownSchema.recordPlans = RecordPlans()
        defer {
            temporarySchemaSource = previous
            knownSchema.recordPlans = RecordPlans()
        }
        return try block()
    }

    /// The schema source of ``withSchemaSource(_:execute:)``; a nil `source` disables the configured one.
    struct TemporarySchemaSource {
        let source: (any DatabaseSchemaSource)?
    }
}
