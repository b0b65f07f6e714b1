extension DatabaseMigrator {
    /// Whether the schema of a database is not what its migrations, as they are registered now, would make.
    ///
    /// So it is when a migration was changed, renamed or removed after it had been applied. To know, the migrations run on an empty
    /// database in memory. Tables of SQLite and of the library, whose names start with `sqlite_` and `grdb_`, are not compared.
    public func hasSchemaChanges(_ db: Database) throws -> Bool {
        let applied = try appliedIdentifiers(db)
        guard applied.isSubset(of: knownIdentifiers) else { return true }
        guard let last = registered.last(where: { !applied.isDisjoint(with: $0.allIdentifiers) }) else { return false }
        // An older migration that waits for the one it is merged into: what it made cannot be made again.
        guard applied.contains(last.identifier) else { return false }

        var migrator = self
        migrator.eraseDatabaseOnSchemaChange = false
        let expected = try DatabaseQueue(configuration: Self.scratchConfiguration(db.configuration))
        try migrator.migrate(expected, upTo: last.identifier)
        return try SchemaContent(db) != expected.inDatabase { try SchemaContent($0) }
    }

    /// Erases the database if it has to be, and may be.
    func eraseIfNeeded(_ db: Database) throws {
        guard eraseDatabaseOnSchemaChange else { return }
        var needsErasing = false
        try db.inTransaction(.deferred) {
            needsErasing = try hasSchemaChanges(db)
            return .commit
        }
        if needsErasing { try db.eraseContent() }
    }

    /// The configuration for a database in memory on which migrations run as they would on the real one.
    private static func scratchConfiguration(_ configuration: Configuration) -> Configuration {
        var configuration = configuration
        configuration.readonly = false
        configuration.journalMode = .default
        configuration.label = nil
        // The caller may be on one of these queues, and would wait for itself.
        configuration.targetQueue = nil
        configuration.writeTargetQueue = nil
        configuration.observesSuspensionNotifications = false
        return configuration
    }
}

/// The objects of the main database as their SQL describes them, without those that nobody defines.
private struct SchemaContent: Equatable {
    private struct Object: Hashable {
        let type: String
        let name: String
        let tableName: String
        let sql: String?
    }

    private let objects: Set<Object>

    init(_ db: Database) throws {
        let rows = try Row.fetchAll(db, sql: "SELECT type, name, tbl_name, sql FROM main.sqlite_master")
        objects = Set(
            rows.map { Object(type: $0[0], name: $0[1], tableName: $0[2], sql: $0[3]) }
                .filter { object in
                    ![object.name, object.tableName].contains { Database.isSQLiteInternalTable($0) || Database.isGRDBInternalTable($0) }
                })
    }
}
