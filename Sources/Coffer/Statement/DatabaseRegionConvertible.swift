/// A type that represents a part of the database: requests, tables, and regions themselves.
public protocol DatabaseRegionConvertible: Sendable {
    /// Returns the part of the database, which may depend on the schema.
    func databaseRegion(_ db: Database) throws -> DatabaseRegion
}

extension DatabaseRegion: DatabaseRegionConvertible {
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion { self }
}

extension DatabaseRegionConvertible where Self == DatabaseRegion {
    /// The whole database, including tables that do not exist yet.
    public static var fullDatabase: DatabaseRegion { DatabaseRegion.fullDatabase }
}

/// A type-erased region: the result of a closure, or another value's region.
public struct AnyDatabaseRegionConvertible: DatabaseRegionConvertible {
    private let region: @Sendable (Database) throws -> DatabaseRegion

    /// Creates a region from a closure, which is called each time the region is needed.
    public init(_ region: @escaping @Sendable (Database) throws -> DatabaseRegion) {
        self.region = region
    }

    /// Creates a region that is equivalent to `region`.
    public init(_ region: some DatabaseRegionConvertible) {
        self.region = region.databaseRegion
    }

    public func databaseRegion(_ db: Database) throws -> DatabaseRegion { try region(db) }
}

/// A query whose conditions may restrict it to some rows.
protocol RegionNarrowing: Sendable {
    /// Returns the part of the database that the query reads: the region that SQLite reports for its
    /// statement, restricted to the rows that the query selects by ID.
    func narrowedRegion(_ region: DatabaseRegion, _ db: Database) throws -> DatabaseRegion

    /// True if associated rows are fetched from other tables, which the statement itself does not read.
    var mayReadOtherTables: Bool { get }
}
