import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

@Suite("Vacuuming into another file")
struct VacuumIntoTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private let newKey = [UInt8](repeating: 0x77, count: 32)

    private var fresh: SQLCipherShell { SQLCipherShell(path: directory.path("copy.db"), rawKey: newKey) }

    @Test(
        "files of all formats are copied into format 4 with identical content and row IDs",
        arguments: ShellFile.Format.allCases, ["UTF-8", "UTF-16le", "UTF-16be"])
    func formats(format: ShellFile.Format, encoding: String) throws {
        let preparation = "PRAGMA encoding = '\(encoding)';\nPRAGMA auto_vacuum = INCREMENTAL;\n"
        let file = try ShellFile(
            directory.path("a.db"), format: format,
            script: preparation + SampleSchema.everything + SampleSchema.texts)
        let queue = try DatabaseQueue(path: file.path, configuration: format.configuration)
        try queue.vacuum(into: directory.path("copy.db"), key: .rawKey(newKey), cipher: CipherSettings())
        let before = try SampleSchema.dump(file.shell)
        let after = try SampleSchema.dump(fresh)
        #expect(before.count > 100)
        for (old, new) in zip(before, after) where old != new { Issue.record("\(old) became \(new)") }
        #expect(before.count == after.count)
        #expect(
            try fresh.run("PRAGMA integrity_check; PRAGMA cipher_integrity_check; PRAGMA page_size;") == [
                "ok", "4096",
            ])
        #expect(throws: SQLCipherShell.Failure.self) {
            try SQLCipherShell(path: directory.path("copy.db"), rawKey: ShellFile.key).run(
                "SELECT count(*) FROM sqlite_master;")
        }
        #expect(directory.fileNames().filter { !$0.hasPrefix("a.db") } == ["copy.db"])
    }

    @Test("full-text search, triggers, constraints, counters and generated columns work in the copy")
    func behaviour() throws {
        let file = try ShellFile(directory.path("a.db"), format: .sqlcipher3, script: SampleSchema.everything)
        let queue = try DatabaseQueue(
            path: file.path, configuration: ShellFile.Format.sqlcipher3.configuration)
        try queue.vacuum(into: directory.path("copy.db"), key: .rawKey(newKey), cipher: CipherSettings())
        let copy = try directory.makeQueue("copy.db", .rawKeyed(0x77))
        try copy.write { db throws in
            #expect(try Int.fetchAll(db, sql: "SELECT rowid FROM words WHERE words MATCH 'run'") == [5])
            #expect(try Int.fetchAll(db, sql: "SELECT docid FROM old WHERE old MATCH 'beta'") == [3])
            #expect(try Int.fetchAll(db, sql: "SELECT id FROM boxes WHERE x1 > 6") == [2])
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM log") == 0)
            try db.execute(sql: "INSERT INTO plain (a) VALUES (4711)")
            #expect(try Int.fetchOne(db, sql: "SELECT v FROM log ORDER BY rowid DESC") == 4711)
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO key (v) VALUES ('never')")
            }
            #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT INTO number VALUES (1, 1)") }
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO counted (v) VALUES ('x  ')")
            }
            try db.execute(sql: "INSERT INTO counted (v) VALUES ('z')")
            #expect(db.lastInsertedRowID == 501)
            #expect(try String.fetchAll(db, sql: "SELECT b || c FROM generated") == ["2s1", "4s2"])
            #expect(try String.fetchAll(db, sql: "PRAGMA integrity_check") == ["ok"])
        }
    }

    @Test(
        "the copy has the protection of its source, with any cipher settings, and its own salt",
        arguments: [
            CipherSettings.sqlcipher(format: 1), .sqlcipher(format: 2), .sqlcipher(format: 3),
            .sqlcipher(format: 4),
            .changed { $0.pageSize = 8192 }, .changed { $0.pageSize = 65536 },
            .changed { $0.usesHMAC = false },
            .changed { $0.hmacAlgorithm = .sha1 }, .changed { $0.kdfIterations = 1000 },
            .changed { $0.hmacKeyIterations = 9 },
            .changed { ($0.kdfAlgorithm, $0.hmacAlgorithm) = (.sha256, .sha256) },
        ])
    func settings(cipher: CipherSettings) throws {
        var configuration = Configuration.rawKeyed
        configuration.cipher = cipher
        let pool = try directory.makePool("a.db", configuration)
        try pool.write {
            try $0.execute(
                sql: "CREATE TABLE t (a); INSERT INTO t VALUES ('secret'); PRAGMA user_version = 7")
        }
        try pool.vacuum(into: directory.path("copy.db"))
        let copy = try directory.makeQueue("copy.db", configuration)
        try copy.read { db throws in
            #expect(try String.fetchOne(db, sql: "SELECT a FROM t") == "secret")
            #expect(try Int.fetchOne(db, sql: "PRAGMA user_version") == 7)
            #expect(try Int.fetchOne(db, sql: "PRAGMA page_size") == cipher.pageSize)
        }
        #expect(try directory.bytes(of: "copy.db").prefix(16) != directory.bytes(of: "a.db").prefix(16))
        #expect(throws: DatabaseError.self) {
            try directory.makeQueue("copy.db", configuration.with { $0.key = .rawKey(newKey) })
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: directory.path("copy.db"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("a key with a salt and a plaintext header are kept")
    func explicitSalt() throws {
        let salt = [UInt8](repeating: 7, count: 16)
        var configuration = Configuration()
        configuration.key = .rawKey([UInt8](repeating: 1, count: 32), salt: salt)
        configuration.cipher.plaintextHeaderSize = 32
        let queue = try directory.makeQueue("a.db", configuration)
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES ('secret')") }
        try queue.vacuum(into: directory.path("copy.db"))
        #expect(
            try directory.makeQueue("copy.db", configuration).read {
                try String.fetchOne($0, sql: "SELECT a FROM t")
            } == "secret")
        #expect(
            String(decoding: try directory.bytes(of: "copy.db").prefix(15), as: UTF8.self)
                == "SQLite format 3")
    }

    @Test("the copy has the key that opened its source: a prepared passphrase, or a previous key")
    func otherKeys() throws {
        var prepared = Configuration()
        prepared.prepareDatabase { try $0.usePassphrase("prepared") }
        let queue = try directory.makeQueue("a.db", prepared)
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try queue.vacuum(into: directory.path("copy.db"))
        _ = try directory.makeQueue("copy.db", .passphrase("prepared"))
        let rotating = try directory.makeQueue(
            "a.db", .passphrase("next").with { $0.previousKeys = [.passphrase("prepared")] })
        try rotating.vacuum(into: directory.path("copy 2.db"))
        #expect(throws: DatabaseError.self) { try directory.makeQueue("copy 2.db", .passphrase("next")) }
        _ = try directory.makeQueue("copy 2.db", .passphrase("prepared"))
    }

    @Test("a snapshot is copied with its state, and concurrent writes are not in the copy")
    func snapshot() throws {
        let pool = try directory.makePool()
        try pool.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        let snapshot = try pool.makeSnapshot()
        try pool.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
        try snapshot.vacuum(into: directory.path("copy.db"))
        #expect(
            try directory.makeQueue("copy.db").read { try Int.fetchAll($0, sql: "SELECT a FROM t") } == [1])
        let reader: any DatabaseReader = pool
        try reader.vacuum(into: directory.path("copy 2.db"))
        #expect(
            try directory.makeQueue("copy 2.db").read { try Int.fetchAll($0, sql: "SELECT a FROM t") } == [
                1, 2,
            ])
    }

    @Test(
        "the copy uses the application's functions and collations, and is refused without them"
    )
    func customizations() throws {
        let collation = DatabaseCollation("backwards") { $1.compare($0) }
        let function = DatabaseFunction("twice", argumentCount: 1, pure: true) {
            (Int.fromDatabaseValue($0[0]) ?? 0) * 2
        }
        var configuration = Configuration.rawKeyed
        configuration.prepareDatabase { db in
            db.add(collation: collation)
            db.add(function: function)
        }
        do {
            let queue = try directory.makeQueue("a.db", configuration)
            try queue.write { db in
                try db.execute(
                    sql: """
                        CREATE TABLE t (a TEXT COLLATE backwards PRIMARY KEY, b INTEGER, c AS (twice(b)) \
                        STORED) WITHOUT ROWID;
                        CREATE INDEX i ON t (twice(b));
                        INSERT INTO t (a, b) VALUES ('x', 1), ('y', 2);
                        """)
            }
            try queue.vacuum(into: directory.path("copy.db"))
        }
        let copy = try directory.makeQueue("copy.db", configuration)
        #expect(
            try copy.read { try String.fetchAll($0, sql: "SELECT a || c FROM t ORDER BY a") } == ["y4", "x2"])
        #expect(try copy.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") } == ["ok"])
        let without = try directory.makeQueue("a.db")
        let error = #expect(throws: DatabaseError.self) {
            try without.vacuum(into: directory.path("copy 2.db"))
        }
        #expect(
            error?.message?.contains("backwards") == true || error?.message?.contains("twice") == true,
            "\(error as Any)")
        #expect(directory.fileNames() == ["a.db", "copy.db"])
    }

    @Test("a database without a key is not written to a file, unless the configuration allows plaintext")
    func plaintext() throws {
        let memory = try DatabaseQueue()
        try memory.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        let error = #expect(throws: DatabaseError.self) { try memory.vacuum(into: directory.path("copy.db")) }
        #expect(error?.encryptionFailure == .noKey)
        #expect(directory.fileNames().isEmpty)
        try memory.vacuum(into: directory.path("copy.db"), key: .rawKey(newKey))
        #expect(try fresh.run("SELECT count(*) FROM t;") == ["0"])
        let plain = try directory.makeQueue("plain.db", Configuration().with { $0.allowsPlaintext = true })
        try plain.inDatabase { try $0.execute(sql: "PRAGMA page_size = 1024; CREATE TABLE t (a)") }
        try plain.vacuum(into: directory.path("plain copy.db"))
        #expect(
            try SQLCipherShell(plaintextPath: directory.path("plain copy.db")).run(
                "PRAGMA page_size; SELECT * FROM t;") == ["1024"])
    }

    @Test("nothing is overwritten, not even a dangling link, and a directory that does not exist is an error")
    func existing() throws {
        let queue = try directory.makeQueue()
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try directory.write([1, 2, 3], to: "there")
        try FileManager.default.createSymbolicLink(
            atPath: directory.path("link"), withDestinationPath: directory.path("nowhere"))
        for path in [
            directory.path("there"), directory.path("link"), directory.path("no/where"), "", directory.path,
            directory.path("a.db"),
        ] {
            let error = #expect(throws: DatabaseError.self) { try queue.vacuum(into: path) }
            let isThere = path != "" && !path.hasSuffix("where")
            #expect(error?.resultCode == (isThere ? .SQLITE_ERROR : .SQLITE_CANTOPEN), "\(path)")
        }
        #expect(try directory.bytes(of: "there") == [1, 2, 3])
        #expect(directory.fileNames() == ["a.db", "link", "there"])
    }

    @Test("a task that is cancelled ends the copy, and nothing is left")
    func cancellation() async throws {
        let queue = try directory.makeQueue()
        try await queue.write { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            try db.execute(
                sql:
                    "INSERT INTO t SELECT randomblob(100) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000) SELECT i FROM n)"
            )
        }
        let path = directory.path("copy.db")
        let task = Task { try await queue.vacuum(into: path) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(directory.fileNames() == ["a.db"])
        try await queue.vacuum(into: path)
        #expect(directory.fileNames() == ["a.db", "copy.db"])
    }

    @Test("vacuum frees pages and keeps the key; it cannot run in a transaction", arguments: Access.allCases)
    func inPlace(access: Access) async throws {
        let writer = try directory.make(access)
        try await writer.write { db in
            try db.execute(
                sql:
                    "CREATE TABLE t (a); INSERT INTO t SELECT zeroblob(100000); DELETE FROM t; INSERT INTO t VALUES (1)"
            )
        }
        try { () throws in try writer.vacuum() }()
        #expect(try await writer.read { try Int.fetchOne($0, sql: "PRAGMA freelist_count") } == 0)
        try await writer.vacuum()
        try writer.close()
        #expect(
            try SQLCipherShell(path: directory.path("a.db")).run("SELECT a FROM t; PRAGMA integrity_check;")
                == ["1", "ok"])
    }
}

extension CipherSettings {
    fileprivate static func changed(_ change: (inout CipherSettings) -> Void) -> CipherSettings {
        var settings = CipherSettings()
        change(&settings)
        return settings
    }
}
