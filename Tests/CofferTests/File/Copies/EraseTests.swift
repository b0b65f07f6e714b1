import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

@Suite("Erasing a database")
struct EraseTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test(
        "all content is erased, and the key, the format, the encoding and the journal mode are kept",
        arguments: Access.allCases, 1...4)
    func everything(access: Access, format: Int) throws {
        let kind = ShellFile.Format.allCases[format]
        let preparation = "PRAGMA encoding = 'UTF-16le';\nPRAGMA auto_vacuum = FULL;\n"
        let file = try ShellFile(
            directory.path("a.db"), format: kind, script: preparation + SampleSchema.everything)
        let writer = try directory.make(access, "a.db", kind.configuration)
        // Cached statements and schemas must not survive.
        #expect(try writer.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM plain") } == 5)
        try writer.erase()
        try writer.read { db throws in
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") == 0)
            #expect(try Int.fetchOne(db, sql: "PRAGMA user_version") == 0)
            #expect(try Int.fetchOne(db, sql: "PRAGMA application_id") == 0)
            #expect(try !db.tableExists("plain"))
            #expect(
                try String.fetchOne(db, sql: "PRAGMA journal_mode") == (access == .pool ? "wal" : "delete"))
            #expect(throws: DatabaseError.self) { try Int.fetchOne(db, sql: "SELECT count(*) FROM plain") }
        }
        let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int
        #expect(size == kind.configuration.cipher.pageSize)
        try writer.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES ('new')") }
        try writer.erase()
        try writer.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES ('newer')") }
        try writer.close()
        #expect(
            try file.shell.run(
                "SELECT a FROM t; PRAGMA encoding; PRAGMA auto_vacuum; PRAGMA integrity_check;")
                == ["newer", "UTF-16le", "1", "ok"])
    }

    @Test("databases in memory and plain files are erased, too")
    func others() throws {
        let plain = try directory.makeQueue("plain.db", Configuration().with { $0.allowsPlaintext = true })
        try plain.inDatabase { try $0.execute(sql: "PRAGMA page_size = 1024") }
        for queue in [
            try DatabaseQueue(), try DatabaseQueue(named: "erase"),
            try DatabaseQueue(configuration: .rawKeyed), plain,
        ] {
            try queue.write {
                try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t SELECT randomblob(9000)")
            }
            try queue.erase()
            #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master") } == 0)
            try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        }
        try plain.close()
        #expect(
            try SQLCipherShell(plaintextPath: directory.path("plain.db")).run(
                "PRAGMA page_size; PRAGMA integrity_check;") == [
                    "1024", "ok",
                ])
    }

    @Test("foreign keys, recursive triggers and immediate constraints do not prevent the erasure")
    func foreignKeys() async throws {
        let pool = try directory.makePool()
        try await pool.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE a (id INTEGER PRIMARY KEY, b NOT NULL REFERENCES b ON DELETE RESTRICT);
                    CREATE TABLE b (id INTEGER PRIMARY KEY, a REFERENCES a ON DELETE RESTRICT);
                    INSERT INTO b VALUES (1, NULL); INSERT INTO a VALUES (1, 1); UPDATE b SET a = 1;
                    CREATE TRIGGER never BEFORE DELETE ON a BEGIN SELECT RAISE(ABORT, 'never'); END;
                    """)
        }
        try await pool.erase()
        #expect(try await pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master") } == 0)
    }

    @Test("a snapshot keeps its state; other connections that read make a file in rollback mode busy")
    func readers() throws {
        let pool = try directory.makePool()
        try pool.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        let snapshot = try pool.makeSnapshot()
        try pool.erase()
        #expect(try snapshot.read { try Int.fetchAll($0, sql: "SELECT a FROM t") } == [1])
        #expect(try !pool.read { try $0.tableExists("t") })
        try snapshot.close()

        let queue = try directory.makeQueue("b.db")
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        let other = try directory.makeQueue("b.db")
        try other.read { db throws in
            _ = try Int.fetchOne(db, sql: "SELECT a FROM t")
            let error = #expect(throws: DatabaseError.self) { try queue.erase() }
            #expect(error?.resultCode == .SQLITE_BUSY)
        }
        #expect(try queue.read { try Int.fetchAll($0, sql: "SELECT a FROM t") } == [1])
        try queue.erase()
        #expect(try !other.read { try $0.tableExists("t") })
    }

    @Test("the files of a plaintext database contain nothing of the erased content")
    func remains() throws {
        let pool = try directory.makePool("a.db", Configuration().with { $0.allowsPlaintext = true })
        try pool.write {
            try $0.execute(
                sql: "CREATE TABLE t (a); INSERT INTO t VALUES (replace(hex(zeroblob(9000)), '00', 'needle'))"
            )
        }
        try pool.erase()
        for name in directory.fileNames() {
            #expect(
                Data(try directory.bytes(of: name)).range(of: Data("needleneedle".utf8)) == nil, "\(name)")
        }
    }

    @Test("a read-only database, and one in a transaction, are not erased")
    func refusals() throws {
        do {
            let queue = try directory.makeQueue()
            try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
            let misuse = #expect(throws: DatabaseError.self) { try queue.write { try $0.eraseContent() } }
            #expect(misuse?.resultCode == .SQLITE_MISUSE)
        }
        let readonly = try directory.makeQueue("a.db", .rawKeyed.with { $0.readonly = true })
        let error = #expect(throws: DatabaseError.self) { try readonly.erase() }
        #expect(error?.resultCode == .SQLITE_READONLY)
        #expect(try readonly.read { try $0.tableExists("t") })
    }

    @Test("a file that replaces a journal during the erasure is not touched")
    func swappedJournal() throws {
        let file = try directory.makeFile()
        let other = Array("another file of the same user".utf8)
        try directory.write([1, 2, 3], to: "a.db-journal")
        try directory.write(other, to: "other")
        let (path, target) = (directory.path("other"), directory.path("a.db-journal"))
        let error = #expect(throws: DatabaseFileError.self) {
            try FailPoint.$passing.withValue({ step in
                if step == .locked { unsafe #expect(rename(path, target) == 0) }
            }) {
                try file.erase(confirming: "a.db")
            }
        }
        // The database itself, which comes first, was overwritten already.
        #expect(
            error?.reason == .unsafeFile(.replaced) && error?.path == target && error?.isPublished == true)
        #expect(try directory.bytes(of: "a.db-journal") == other)
    }
}
