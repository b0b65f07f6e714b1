import GRDB
import GRDBSQLite

/// Code that was written for GRDB and does not handle keys.
struct Note: Codable, FetchableRecord, MutablePersistableRecord {
    var id: Int64?
    var text: String

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

func open(_ path: String) throws -> DatabasePool {
    let pool = try DatabasePool(path: path)
    try pool.write { (db: GRDB.Database) in
        try db.create(table: "note", options: .ifNotExists) { table in
            table.autoIncrementedPrimaryKey("id")
            table.column("text", .text).notNull()
        }
    }
    return pool
}

/// The version of the engine, from its C function.
var engineVersion: String { String(cString: sqlite3_libversion()) }
