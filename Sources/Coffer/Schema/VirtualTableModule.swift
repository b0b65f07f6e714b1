/// A kind of virtual table, and how its tables are defined in Swift.
///
/// ``FTS3``, ``FTS4`` and ``FTS5`` are modules. Write your own for other modules of SQLite:
///
/// ```swift
/// /// The places where the items of a vault are: an R*Tree.
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
    /// What the closure of ``Database/create(virtualTable:options:using:_:)`` is given.
    associatedtype TableDefinition

    /// The name of the module, as SQL has it after `USING`.
    var moduleName: String { get }

    /// Creates the definition of one table, before the closure that fills it runs.
    ///
    /// - Parameter configuration: how the table is created.
    func makeTableDefinition(configuration: VirtualTableConfiguration) -> TableDefinition

    /// The arguments of the module, as SQL: they are written in parentheses, with commas between them. None
    /// writes no parentheses.
    ///
    /// - Parameters:
    ///   - definition: the definition, as the closure has filled it.
    ///   - db: the connection, to look at the schema.
    /// - Throws: whatever is wrong with the definition. The table is not created then.
    func moduleArguments(for definition: TableDefinition, in db: Database) throws -> [String]

    /// Completes a table that has just been created: with triggers or content, for instance.
    ///
    /// It runs also if the table was there already and ``VirtualTableOptions/ifNotExists`` let that pass.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - tableName: the name of the table that is created.
    ///   - definition: what its closure has defined.
    /// - Throws: any error, which takes the table back.
    func database(_ db: Database, didCreate tableName: String, using definition: TableDefinition) throws
}

/// How a virtual table is created, for the module that makes its definition.
public struct VirtualTableConfiguration {
    let options: VirtualTableOptions
}

/// How a virtual table is created: see ``Database/create(virtualTable:options:using:_:)``.
public struct VirtualTableOptions: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Does nothing if there is a table or view of the same name already, whatever it is.
    public static let ifNotExists = VirtualTableOptions(rawValue: 1 << 0)

    /// Creates a table that only this connection sees, and that ends with it.
    public static let temporary = VirtualTableOptions(rawValue: 1 << 1)
}
