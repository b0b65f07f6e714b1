/// A type that stands for a part of the database: requests, tables, and regions themselves.
public protocol DatabaseRegionConvertible: Sendable {
    /// The part of the database, which may depend on the schema.
    func databaseRegion(_ db: Database) throws -> DatabaseRegion
}

extension DatabaseRegion: DatabaseRegionConvertible {
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion { self }
}

extension DatabaseRegionConvertible where Self == DatabaseRegion {
    /// Everything in the database, including tables that do not exist yet.
    public static var fullDatabase: DatabaseRegion { DatabaseRegion.fullDatabase }
}

/// A region that a function returns, or that of another value whose type is of no interest.
public struct AnyDatabaseRegionConvertible: DatabaseRegionConvertible {
    private let region: @Sendable (Database) throws -> DatabaseRegion

    /// Creates a region that `region` returns each time it is asked for.
    public init(_ region: @escaping @Sendable (Database) throws -> DatabaseRegion) {
        self.region = region
    }

    /// Creates a region that stands for the same as `region`.
    public init(_ region: some DatabaseRegionConvertible) {
        self.region = region.databaseRegion
    }

    public func databaseRegion(_ db: Database) throws -> DatabaseRegion { try region(db) }
}

/// A query whose conditions may say that it reads only some rows.
protocol RegionNarrowing: Sendable {
    /// The part of the database that the query reads: of the region that SQLite knows for its statement, the
    /// rows that it asks for by ID.
    func narrowedRegion(_ region: DatabaseRegion, _ db: Database) throws -> DatabaseRegion

    /// Whether tables are read for the rows that the statement itself does not read.
    var mayReadOtherTables: Bool { get }
}
