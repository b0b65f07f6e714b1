internal import Foundation
internal import KeyMaterial

extension DatabaseMigrator {
    /// Returns whether the schema of a database differs from the schema that its migrations create now.
    ///
    /// This happens if a migration has been changed, renamed, or removed after it was applied. To compare the
    /// schemas, the migrations run on an empty database. For a database in a file, this is a temporary file
    /// that is encrypted in the same way, with a random key. Tables of SQLite and of this library, whose
    /// names start with `sqlite_` and `grdb_`, are not compared.
    ///
    ///     let isOutdated = try queue.read { db in try vault.hasSchemaChanges(db) }
    ///
    /// - Throws: a ``DatabaseError`` if the schema cannot be read, and the error of a migration that fails on
    ///   an empty database.
    public func hasSchemaChanges(_ db: Database) throws -> Bool {
        let applied = try appliedIdentifiers(db)
        guard applied.isSubset(of: knownIdentifiers) else { return true }
        guard let last = registered.last(where: { !applied.isDisjoint(with: $0.allIdentifiers) }) else {
            return false
        }
        // An older migration is waiting for the migration that it is merged into. Its result cannot be
        // reproduced.
        guard applied.contains(last.identifier) else { return false }

        var migrator = self
        migrator.eraseDatabaseOnSchemaChange = false
        return try Self.withScratchDatabase(for: db) { expected in
            try migrator.migrate(expected, upTo: last.identifier)
            return try SchemaContent(db) != expected.inDatabase { try SchemaContent($0) }
        }
    }

    /// Erases the database if the schema has changed and erasing is enabled.
    func eraseIfNeeded(_ db: Database) throws {
        guard eraseDatabaseOnSchemaChange else { return }
        var needsErasing = false
        try db.inTransaction(.deferred) {
            needsErasing = try hasSchemaChanges(db)
            return .commit
        }
        if needsErasing { try db.eraseContent() }
    }

    /// Runs `body` with an empty database in which migrations behave as in the real one.
    ///
    /// The scratch database is a file if the real one is, because the configuration's preparations may need a
    /// file, for example to keep the WAL after the last connection is closed.
    private static func withScratchDatabase<T>(for db: Database, _ body: (DatabaseQueue) throws -> T) throws
        -> T
    {
        var configuration = scratchConfiguration(db.configuration)
        guard db.location.isFile else { return try body(DatabaseQueue(configuration: configuration)) }
        if configuration.key != nil || Configuration.defaultKey != nil {
            configuration.key = try .scratch(hasPlaintextHeader: configuration.cipher.plaintextHeaderSize > 0)
            configuration.previousKeys = []
        }
        // The file does not need to survive a power failure.
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

    /// Returns the configuration of the real database, without the settings of its file and its queues.
    private static func scratchConfiguration(_ configuration: Configuration) -> Configuration {
        var configuration = configuration
        configuration.readonly = false
        configuration.journalMode = .default
        configuration.label = nil
        // The caller may be running on one of these queues, which would deadlock.
        configuration.targetQueue = nil
        configuration.writeTargetQueue = nil
        configuration.observesSuspensionNotifications = false
        return configuration
    }
}

extension DatabaseKey {
    /// Returns a random key for a temporary file.
    fileprivate static func scratch(hasPlaintextHeader: Bool) throws -> DatabaseKey {
        // A file with a plaintext header does not contain its salt.
        guard hasPlaintextHeader else { return .random() }
        return try .rawKey(SystemRandomness.bytes(count: 32), salt: SystemRandomness.bytes(count: 16))
    }
}

/// The objects of the main database with their SQL, without the internal ones of SQLite and of this library.
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

    /// Returns SQL without two differences that have no effect, because different versions have written them
    /// differently: quotes around a collation name that needs none, and `ON CONFLICT ABORT`, which is
    /// SQLite's default. A database must not be erased because of them.
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
