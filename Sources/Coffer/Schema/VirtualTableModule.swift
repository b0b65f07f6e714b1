/// A virtual table module, and the definition of its tables in Swift.
///
/// ``FTS3``, ``FTS4`` and ``FTS5`` are modules. Write your own for other modules of SQLite:
///
/// ```swift
/// /// The locations of items, in an R*Tree.
/// struct Places: VirtualTableModule {
///     final class Definition {
///         var dimensions: [String] = []
///     }
///
///     let moduleName = "rtree"
///
///     func makeTableDefinition(configuration: VirtualTableConfiguration) -> Definition { Definition() }
///
///     func moduleArguments(for definition: Definition, in db: Database) -> [String] {
///         ["id"] + definition.dimensions.flatMap { ["\($0)Min", "\($0)Max"] }
///     }
///
///     func database(_ db: Database, didCreate tableName: String, using definition: Definition) {}
/// }
///
/// // CREATE VIRTUAL TABLE "place" USING rtree(id, latitudeMin, latitudeMax, longitudeMin, longitudeMax)
/// try db.create(virtualTable: "place", using: Places()) { t in t.dimensions = ["latitude", "longitude"] }
/// ```
public protocol VirtualTableModule {
    /// The definition that the closure of ``Database/create(virtualTable:options:using:_:)`` fills in.
    associatedtype TableDefinition

    /// The name of the module after `USING` in SQL.
    var moduleName: String { get }

    /// Creates the definition of a table, before the closure that fills it in runs.
    func makeTableDefinition(configuration: VirtualTableConfiguration) -> TableDefinition

    /// Returns the module's arguments as SQL. They are written in parentheses and separated by commas. An
    /// empty array writes no parentheses.
    ///
    /// - Parameters:
    ///   - definition: the definition after the closure has filled it in.
    ///   - db: the connection, for reading the schema.
    /// - Throws: an error if the definition is invalid. The table is then not created.
    func moduleArguments(for definition: TableDefinition, in db: Database) throws -> [String]

    /// Completes a table that has just been created, for example with triggers or content.
    ///
    /// It also runs if the table existed already and ``VirtualTableOptions/ifNotExists`` allowed that.
    ///
    /// - Throws: any error, which rolls back the creation of the table.
    func database(_ db: Database, didCreate tableName: String, using definition: TableDefinition) throws
}

/// The configuration of a virtual table, for the module that makes its definition.
public struct VirtualTableConfiguration {
    let options: VirtualTableOptions
}

/// Options for the creation of a virtual table: see ``Database/create(virtualTable:options:using:_:)``.
public struct VirtualTableOptions: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Does nothing if a table or view of the same name exists already, even if it is not a virtual table.
    public static let ifNotExists = VirtualTableOptions(rawValue: 1 << 0)

    /// Creates a table that is visible to this connection only, and is dropped when the connection is closed.
    public static let temporary = VirtualTableOptions(rawValue: 1 << 1)
}
