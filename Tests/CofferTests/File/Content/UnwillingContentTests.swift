import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

@Suite("Content that is hard to copy")
struct UnwillingContentTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private func make(_ sql: String, key: DatabaseKey? = nil) throws -> DatabaseFile {
        var configuration = Configuration()
        (configuration.key, configuration.allowsPlaintext) = (key, key == nil)
        let queue = try DatabaseQueue(path: directory.path("a.db"), configuration: configuration)
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
        return DatabaseFile(path: directory.path("a.db"))
    }

    @Test(
        "a table with a name that the copy would use itself is copied",
        arguments: ["coffer sequence", "COFFER Sequence"])
    func names(name: String) throws {
        let file = try make(
            """
            CREATE TABLE "\(name)" (a); INSERT INTO "\(name)" VALUES ('mine');
            CREATE TABLE "coffer sequence_" (b);
            CREATE TABLE gone (id INTEGER PRIMARY KEY AUTOINCREMENT); DROP TABLE gone
            """)
        try file.encrypt(key: Keys.old)
        var configuration = Configuration()
        configuration.key = Keys.old
        let queue = try DatabaseQueue(path: file.path, configuration: configuration)
        #expect(try queue.read { try String.fetchOne($0, sql: "SELECT a FROM \"\(name)\"") } == "mine")
        #expect(
            try queue.read {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master WHERE name = 'sqlite_sequence'")
            } == 1)
    }

    @Test(
        "definitions whose comments and literals are not UTF-8 are copied byte by byte",
        arguments: [
            "CREATE TABLE t (a /* XX */)", "CREATE TABLE t (a DEFAULT 'XX')",
            "CREATE TABLE t (a, CHECK (a <> 'XX.'))",
            "CREATE TABLE t (a); CREATE INDEX i ON t (a) WHERE a = 'XX'",
            "CREATE TABLE t (a, b AS (a || 'XX') STORED)",
        ])
    func otherEncoding(schema: String) throws {
        let bytes = "CAST(x'F6DF' AS TEXT)"
        let file = try make(
            """
            \(schema); INSERT INTO t (a) VALUES ('x'); PRAGMA writable_schema = 1;
            UPDATE sqlite_master SET sql = replace(sql, 'XX', \(bytes)); PRAGMA writable_schema = 0
            """)
        _ = try make("DELETE FROM t; INSERT INTO t (a) VALUES (1), (\(bytes) || ''), ('x'); REINDEX")
        let copy = DatabaseFile(path: directory.path("copy.db"))
        try file.encrypt(to: copy.path, key: Keys.old)
        var options = DatabaseFile.VerificationOptions()
        options.structure = .full
        #expect(try copy.verify(key: Keys.old, options: options).isIntact)
        var configuration = Configuration()
        configuration.key = Keys.old
        let queue = try DatabaseQueue(path: copy.path, configuration: configuration)
        let count = "SELECT count(*) FROM sqlite_master WHERE instr(CAST(sql AS BLOB), x'F6DF') > 0"
        #expect(try queue.read { try Int.fetchOne($0, sql: count) } == 1)
        try queue.close()
    }

    /// Names in a schema that are not UTF-8: XX stands for two bytes of another encoding.
    private func makeOtherNames() throws -> DatabaseFile {
        let bytes = "CAST(x'F6DF' AS TEXT)"
        return try make(
            """
            CREATE TABLE "t XX" (id INTEGER PRIMARY KEY AUTOINCREMENT, "c XX" DEFAULT 1 UNIQUE, "XX" BLOB);
            CREATE TABLE "k XX" ("a XX", "b XX", PRIMARY KEY ("b XX", "a XX")) WITHOUT ROWID;
            CREATE INDEX "i XX" ON "t XX" ("XX");
            CREATE VIEW "v XX" AS SELECT "c XX" FROM "t XX";
            CREATE TRIGGER "r XX" AFTER INSERT ON "k XX" BEGIN DELETE FROM "t XX"; END;
            CREATE VIRTUAL TABLE "f XX" USING fts5(x);
            INSERT INTO "t XX" VALUES (2, 'x', x'00'), (5, \(bytes), 2);
            INSERT INTO "k XX" VALUES (1, 2), (2, 1); INSERT INTO "t XX" VALUES (7, 8, 9);
            INSERT INTO "f XX" VALUES ('word');
            UPDATE sqlite_sequence SET name = replace(name, 'XX', \(bytes)); PRAGMA writable_schema = 1;
            UPDATE sqlite_master SET name = replace(name, 'XX', \(bytes)),
                tbl_name = replace(tbl_name, 'XX', \(bytes)), sql = replace(sql, 'XX', \(bytes));
            PRAGMA writable_schema = 0
            """)
    }

    /// Returns the number of names and definitions with the two bytes.
    private func otherNameCount(_ path: String, key: DatabaseKey?) throws -> Int? {
        var configuration = Configuration()
        (configuration.key, configuration.allowsPlaintext) = (key, key == nil)
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? queue.close() }
        let sql = """
            SELECT sum(instr(CAST(name AS BLOB), x'F6DF') > 0) + sum(instr(CAST(sql AS BLOB), x'F6DF') > 0)
                + (SELECT count(*) FROM sqlite_sequence WHERE instr(CAST(name AS BLOB), x'F6DF') > 0)
            FROM sqlite_master
            """
        return try queue.read { try Int.fetchOne($0, sql: sql) }
    }

    @Test("names that are not UTF-8 are copied byte by byte")
    func otherNames() throws {
        let file = try makeOtherNames()
        let count = try #require(try otherNameCount(file.path, key: nil))
        #expect(count > 20)
        let files = ["encrypted.db", "backup.db", "decrypted.db", "again.db"].map {
            DatabaseFile(path: directory.path($0))
        }
        try file.encrypt(to: files[0].path, key: Keys.old)
        try files[0].backup(to: files[1].path, key: Keys.old)
        try files[1].vacuum(key: Keys.old)
        try files[1].decrypt(
            to: files[2].path, key: Keys.old, confirming: .contentBecomesReadableByAnyone)
        try files[2].encrypt(to: files[3].path, key: Keys.old)
        for copy in files {
            let key = copy == files[2] ? nil : Keys.old
            #expect(try otherNameCount(copy.path, key: key) == count)
            guard key != nil else { continue }
            var options = DatabaseFile.VerificationOptions()
            options.structure = .full
            #expect(try copy.verify(key: key, options: options).isIntact)
            #expect(try copy.difference(from: files[0], key: key).isEmpty)
        }
    }

    @Test("names that are not UTF-8 are salvaged byte by byte, and reported readably")
    func otherNamesInSalvage() throws {
        let source = DatabaseFile(path: directory.path("encrypted.db"))
        let copy = DatabaseFile(path: directory.path("salvaged.db"))
        try makeOtherNames().encrypt(to: source.path, key: Keys.old)
        let salvage = try source.salvage(key: Keys.old, to: copy.path)
        #expect(salvage.lostRowCount == 0 && salvage.problems.isEmpty, "\(salvage.problems)")
        #expect(salvage.tables.contains { $0.name == "t \u{fffd}\u{fffd}" && $0.rowCount == 1 })
        #expect(
            try otherNameCount(copy.path, key: Keys.old) == otherNameCount(source.path, key: Keys.old))
        #expect(try copy.difference(from: source, key: Keys.old).isEmpty)
    }

    @Test("definitions that differ in bytes that are not UTF-8 are reported as different")
    func otherBytesInDefinitions() throws {
        let files = try ["F6", "FC"].map { byte in
            let file = try make(
                """
                CREATE TABLE t (a /* XX */); PRAGMA writable_schema = 1;
                UPDATE sqlite_master SET sql = replace(sql, 'XX', CAST(x'\(byte)' AS TEXT));
                PRAGMA writable_schema = 0
                """)
            let encrypted = DatabaseFile(path: directory.path("\(byte).db"))
            try file.encrypt(to: encrypted.path, key: Keys.old)
            try FileManager.default.removeItem(atPath: file.path)
            return encrypted
        }
        let difference = try files[0].difference(from: files[1], key: Keys.old)
        #expect(difference.schema.map(\.before) == ["CREATE TABLE t (a /* \u{fffd} */)"])
        #expect(try files[0].difference(from: files[0], key: Keys.old).isEmpty)
    }

    @Test("names that are not UTF-8 are refused in scripts, because a script is UTF-8")
    func otherNamesInScripts() throws {
        let file = try makeOtherNames()
        let queue = try DatabaseQueue(
            path: file.path, configuration: Configuration().with { $0.allowsPlaintext = true })
        let error = #expect(throws: DatabaseError.self) {
            try queue.read { try $0.writeScript({ _ in Issue.record("written") }, checkpoint: {}) }
        }
        #expect(error?.message?.contains("is not valid UTF-8") == true)
        try queue.close()
    }

    @Test(
        "values that their columns would convert are reported with a remedy, and nothing is changed",
        arguments: [("INTEGER", "'12'"), ("TEXT", "12")])
    func unconverted(type: String, value: String) throws {
        let file = try make(
            """
            CREATE TABLE t (a); INSERT INTO t VALUES (\(value)); PRAGMA writable_schema = 1;
            UPDATE sqlite_master SET sql = 'CREATE TABLE t (a \(type))'; PRAGMA writable_schema = 0
            """)
        let before = try directory.bytes(of: "a.db")
        let problem = try #require(reason { try file.encrypt(key: Keys.old) })
        guard case .copyRejected(let words) = problem else {
            Issue.record("\(problem)")
            return
        }
        #expect(words.contains("UPDATE t SET column = column"))
        #expect(try directory.bytes(of: "a.db") == before)
        _ = try make("UPDATE t SET a = a")
        #expect(try file.encrypt(key: Keys.old).isChanged)
    }

    @Test(
        "rows that violate their schema are reported as such, and nothing is changed",
        arguments: ["CREATE TABLE t (a NOT NULL, b)", "CREATE TABLE t (a, b PRIMARY KEY)"])
    func contradictions(schema: String) throws {
        let file = try make(
            """
            CREATE TABLE t (a, b); INSERT INTO t VALUES (NULL, 1), (NULL, 1);
            PRAGMA writable_schema = 1;
            UPDATE sqlite_master SET sql = '\(schema.replacing(" PRIMARY KEY", with: ""))' WHERE name = 't';
            PRAGMA writable_schema = 0;
            \(schema.contains("PRIMARY") ? "PRAGMA user_version = 1" : "")
            """)
        if schema.contains("PRIMARY") {
            // Two rows that are missing from a unique index.
            let queue = try DatabaseQueue(
                path: file.path, configuration: Configuration().with { $0.allowsPlaintext = true })
            try queue.writeWithoutTransaction { db in
                try db.execute(
                    sql: "DELETE FROM t; CREATE UNIQUE INDEX i ON t (b); INSERT INTO t VALUES (1, 1)")
                try db.execute(
                    sql:
                        "PRAGMA writable_schema = 1; UPDATE sqlite_master SET sql = 'CREATE INDEX i ON t (b)' WHERE name = 'i'"
                )
                try db.execute(sql: "PRAGMA writable_schema = 0")
            }
            try queue.close()
            let second = try DatabaseQueue(
                path: file.path, configuration: Configuration().with { $0.allowsPlaintext = true })
            try second.writeWithoutTransaction { db in
                try db.execute(sql: "INSERT INTO t VALUES (2, 1); PRAGMA writable_schema = 1")
                try db.execute(
                    sql: "UPDATE sqlite_master SET sql = 'CREATE UNIQUE INDEX i ON t (b)' WHERE name = 'i'")
                try db.execute(sql: "PRAGMA writable_schema = 0")
            }
            try second.close()
        }
        let before = try directory.snapshot()
        for work in ["encrypt", "encrypt into", "vacuum"] {
            let problem = reason {
                switch work {
                case "encrypt": try file.encrypt(key: Keys.old)
                case "encrypt into": try file.encrypt(to: directory.path("b.db"), key: Keys.old)
                default: try file.vacuum(key: nil)
                }
            }
            guard case .inconsistent(let words)? = problem else {
                Issue.record("\(work): \(String(describing: problem))")
                continue
            }
            #expect(words.contains("constraint failed"), "\(words)")
            #expect(try directory.snapshot() == before)
        }
        #expect(
            DatabaseFileError(.inconsistent("x"), path: "a.db").databaseError.resultCode == .SQLITE_CONSTRAINT
        )
    }

    @Test("a backup of a damaged database reports the damage, and the pages", arguments: [false, true])
    func damage(wal: Bool) throws {
        let file = try directory.makeFile(wal: wal)
        var bytes = try directory.bytes(of: "a.db")
        let damaged = [2, bytes.count / 4096 - 1]
        for page in damaged { bytes[(page - 1) * 4096 + 1000] ^= 1 }
        try directory.write(bytes, to: "a.db")
        for work in ["backup", "vacuum into", "decrypt into"] {
            let problem = reason {
                switch work {
                case "backup": try file.backup(to: directory.path("b.db"), key: Keys.old)
                case "vacuum into": try file.vacuum(into: directory.path("b.db"), key: Keys.old)
                default:
                    try file.decrypt(
                        to: directory.path("b.db"), key: Keys.old, confirming: .contentBecomesReadableByAnyone
                    )
                }
            }
            #expect(problem == .damaged(pages: damaged), "\(work)")
            #expect(directory.fileNames() == ["a.db"])
        }
    }
}
