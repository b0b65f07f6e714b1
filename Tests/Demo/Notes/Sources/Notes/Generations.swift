import Coffer

/// The number of the newest generation of keys, in a database of its own, so that it is as durable as the
/// keys' files.
struct Generations: Sendable {
    private struct State: Codable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "generations"
        var id = 1
        /// The generation of new files, and of those that are rotated.
        var newest = 0
        /// The generation that all files have at least.
        var complete = 0
    }

    let pool: DatabasePool

    static func open(_ path: String, master: DatabaseKey) async throws -> Generations {
        var configuration = Configuration()
        configuration.key = .derived(from: master, info: "generations")
        let pool = try await DatabasePool.open(path: path, configuration: configuration)
        // A generation must be on the disk before the first file has its key.
        try await pool.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA synchronous = FULL") }
        try await pool.write { db in
            try db.create(table: State.databaseTableName, options: .ifNotExists) { table in
                table.primaryKey("id", .integer)
                table.column("newest", .integer).notNull()
                table.column("complete", .integer).notNull()
            }
            if try State.fetchCount(db) == 0 { try State().insert(db) }
        }
        return Generations(pool: pool)
    }

    /// Called where a database is opened, on a thread that may wait.
    func newest() throws -> Int { try pool.read { db in try State.find(db, key: 1).newest } }

    /// Begins the next generation, unless the last one is incomplete: then that rotation is continued.
    func begin() async throws -> Int {
        try await pool.write { db in
            var state = try State.find(db, key: 1)
            if state.newest == state.complete {
                state.newest += 1
                try state.update(db)
            }
            return state.newest
        }
    }

    /// Records that all files have the keys of a generation.
    func end(_ generation: Int) async throws {
        try await pool.write { db in
            var state = try State.find(db, key: 1)
            state.complete = generation
            try state.update(db)
        }
    }
}
