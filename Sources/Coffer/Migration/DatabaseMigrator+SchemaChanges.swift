internal import Foundation
internal import KeyMaterial

extension DatabaseMigrator {
    /// Whether the schema of a database is not what its migrations, as they are registered now, would make.
    ///
    /// So it is when a migration was changed, renamed or removed after it had been applied. To know, the
    /// migrations run on an empty database: for one in a file, in a temporary file, which is encrypted as the
    /// real one is, with a key that nobody knows. Tables of SQLite and of the library, whose names start with
    /// `sqlite_` and `grdb_`, are not compared.
    ///
    ///     let isOutdated = try queue.read { db in try vault.hasSchemaChanges(db) }
    ///
    /// - Parameter db: the connection of the access.
    /// - Throws: a ``DatabaseError`` if the schema cannot be read, and the error of a migration that fails on
    ///   an empty database.
    public func hasSchemaChanges(_ db: Database) throws -> Bool {
        let applied = try appliedIdentifiers(db)
        guard applied.isSubset(of: knownIdentifiers) else { return true }
        guard let last = registered.last(where: { !applied.isDisjoint(with: $0.allIdentifiers) }) else {
            return false
        }
        // An older migration that waits for the one it is merged into: what it made cannot be made again.
        guard applied.contains(last.identifier) else { return false }

        var migrator = self
        migrator.eraseDatabaseOnSchemaChange = false
        return try Self.withScratchDatabase(for: db) { expected in
            try migrator.migrate(expected, upTo: last.identifier)
            return try SchemaContent(db) != expected.inDatabase { try SchemaContent($0) }
        }
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

    /// Runs `body` with an empty database on which migrations run as they would on the real one.
    ///
    /// The preparations of the configuration may need a file, as those do that keep its log after the last
    /// connection was closed.
    private static func withScratchDatabase<T>(for db: Database, _ body: (DatabaseQueue) throws -> T) throws
        -> T
    {
        var configuration = scratchConfiguration(db.configuration)
        guard db.location.isFile else { return try body(DatabaseQueue(configuration: configuration)) }
        if configuration.key != nil || Configuration.defaultKey != nil {
            configuration.key = try .scratch(hasPlaintextHeader: configuration.cipher.plaintextHeaderSize > 0)
            configuration.previousKeys = []
        }
        // Nobody needs the file after a loss of power.
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = OFF") }
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
            "coffer-migrations-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: directory) }
        let queue = try DatabaseQueue(
            path: directory.appendingPathComponent("scratch").path, configuration: configuration)
        defer { try? queue.close() }
        return try body(queue)
    }

    /// The configuration of the real database, without what has to do with its file and with where it is
    /// used.
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

extension DatabaseKey {
    /// A key that nobody knows, for a file of one's own.
    fileprivate static func scratch(hasPlaintextHeader: Bool) throws -> DatabaseKey {
        // Such a file does not hold its salt.
        guard hasPlaintextHeader else { return .random() }
        return try .rawKey(SystemRandomness.bytes(count: 32), salt: SystemRandomness.bytes(count: 16))
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
            rows.map {
                Object(
                    type: $0[0], name: $0[1], tableName: $0[2],
                    sql: ($0[3] as String?).map(SchemaContent.normalized))
            }
            .filter { object in
                ![object.name, object.tableName].contains {
                    Database.isSQLiteInternalTable($0) || Database.isGRDBInternalTable($0)
                }
            })
    }

    /// SQL without what makes no difference and has been written in two ways: quotes around the name of a
    /// collation that needs none, and the resolution of conflicts that is SQLite's own. A database must not
    /// be erased because of them.
    fileprivate static func normalized(_ sql: String) -> String {
        let bytes = Array(sql.utf8)
        var scanner = SQLScanner(bytes)
        var tokens: [SQLScanner.Token] = []
        while let token = scanner.next() { tokens.append(token) }
        var result: [UInt8] = []
        var position = 0
        var index = 0
        while index < tokens.count {
            let words = tokens[index...].prefix(3).map { $0.kind == .word ? $0.word : "" }
            if words == ["on", "conflict", "abort"], index > 0 {
                result += bytes[position..<max(position, tokens[index - 1].range.upperBound)]
                position = tokens[index + 2].range.upperBound
                index += 3
            } else if words.first == "collate", index + 1 < tokens.count, tokens[index + 1].kind == .quoted {
                let name = tokens[index + 1].range
                let content = String(decoding: bytes[name].dropFirst().dropLast(), as: UTF8.self)
                if content.quotedUnlessWord == content {
                    result += bytes[position..<name.lowerBound] + Array(content.utf8)
                    position = name.upperBound
                }
                index += 2
            } else {
                index += 1
            }
        }
        return String(decoding: result + bytes[min(position, bytes.count)...], as: UTF8.self)
    }
}
