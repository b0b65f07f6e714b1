import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("A file for this process only", .timeLimit(.minutes(Patience.minutes)))
struct FileLockingTests {
    private let directory: TestDirectory
    private let alone = Configuration.rawKeyed.with { $0.fileLocking = .thisProcessOnly }

    init() throws { directory = try TestDirectory() }

    private func count(_ reader: any DatabaseReader) throws -> Int? {
        try reader.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
    }

    private func makeFile(journalMode: String = "wal") throws {
        let queue = try directory.makeQueue("vault.db", .rawKeyed)
        try queue.writeWithoutTransaction { db in
            _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = \(journalMode)")
            try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        }
        try queue.close()
    }

    @Test(
        "is read and written by all connections of the process, and by no other process",
        arguments: Access.allCases, ["wal", "delete"])
    func otherProcesses(access: Access, journalMode: String) throws {
        try makeFile(journalMode: journalMode)
        let shell = SQLCipherShell(path: directory.path("vault.db"))
        let first = try directory.make(access, "vault.db", alone)
        let second = try directory.makeQueue("vault.db", alone)
        let third = try directory.makeQueue("vault.db", .rawKeyed)
        let all: [any DatabaseWriter] = [first, second, third]
        for writer in all { try writer.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") } }
        for reader in all { #expect(try count(reader) == 4) }

        let refusal = #expect(throws: SQLCipherShell.Failure.self) {
            try shell.run("SELECT count(*) FROM t;")
        }
        #expect(refusal?.description.contains("database is locked") == true)
        try first.close()
        try third.close()
        #expect(throws: SQLCipherShell.Failure.self) { try shell.run("SELECT count(*) FROM t;") }
        try second.close()
        #expect(
            try shell.run("SELECT count(*) FROM t; PRAGMA cipher_integrity_check; PRAGMA integrity_check;")
                == ["4", "ok"])
    }

    @Test("readers keep their snapshot during a write, without a WAL index file")
    func sideBySide() throws {
        let pool = try directory.makePool("vault.db", alone)
        try pool.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        let snapshot = try pool.makeSnapshot()
        try pool.write { db in
            try db.execute(sql: "INSERT INTO t VALUES (2)")
            #expect(try count(pool) == 1)
        }
        #expect(try count(pool) == 2)
        #expect(try count(snapshot) == 1)
        #expect(directory.fileNames() == ["vault.db", "vault.db-wal"])
    }

    @Test("is refused with the name of the process that holds it, and is intact once that one is killed")
    func refusal() throws {
        try makeFile()
        let path = directory.path("vault.db")
        let worker = try WorkerProcess("CofferTestWorker", ["hold", path, "alone"])
        try #require(worker.waitForLine("ready"))
        for configuration in [alone, .rawKeyed] {
            let error = #expect(throws: DatabaseError.self) {
                try DatabaseQueue(path: path, configuration: configuration)
            }
            #expect(error?.resultCode == .SQLITE_BUSY)
            #expect(
                error?.message?.contains("locked by CofferTestWorke (process ") == true,
                "\(error?.message ?? "")")
        }
        worker.kill()
        #expect(try count(directory.makeQueue("vault.db", alone)) == 2)
    }

    @Test("cannot be opened while another process uses it; the error names the process")
    func inUse() throws {
        try makeFile()
        let path = directory.path("vault.db")
        let worker = try WorkerProcess("CofferTestWorker", ["hold", path, "reading"])
        try #require(worker.waitForLine("ready"))
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: path, configuration: alone)
        }
        #expect(error?.resultCode == .SQLITE_BUSY)
        #expect(
            error?.message?.contains("locked by CofferTestWorke (process ") == true, "\(error?.message ?? "")"
        )
        #expect(try count(directory.makeQueue("vault.db", .rawKeyed)) == 1)
        worker.kill()
        #expect(try count(directory.makeQueue("vault.db", alone)) == 1)
    }

    @Test(
        "stays locked when shared or read-only connections of the process are closed",
        arguments: ["wal", "delete"])
    func joined(journalMode: String) throws {
        try makeFile(journalMode: journalMode)
        let shell = SQLCipherShell(path: directory.path("vault.db"))
        let first = try directory.makeQueue("vault.db", alone)
        for configuration in [Configuration.rawKeyed, alone, .rawKeyed].map({ $0.with { $0.readonly = true } }
        ) + [.rawKeyed] {
            let other = try directory.makeQueue("vault.db", configuration)
            #expect(try count(other) == 1)
            if configuration.readonly {
                #expect(throws: DatabaseError.self) {
                    try other.write { try $0.execute(sql: "DELETE FROM t") }
                }
            }
            #expect(throws: SQLCipherShell.Failure.self) { try shell.run("DELETE FROM t;") }
            try other.close()
            #expect(throws: SQLCipherShell.Failure.self) { try shell.run("DELETE FROM t;") }
        }
        #expect(
            try DatabaseFile(path: directory.path("vault.db")).verify(
                key: .rawKey([UInt8](repeating: 0x42, count: 32))
            ).isIntact)
        #expect(throws: SQLCipherShell.Failure.self) { try shell.run("DELETE FROM t;") }
        try first.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
        try first.close()
        #expect(try shell.run("SELECT count(*) FROM t; PRAGMA integrity_check;") == ["2", "ok"])
    }

    @Test("cannot be opened while a connection of the process shares it")
    func sharedBefore() throws {
        try makeFile()
        let first = try directory.makeQueue("vault.db", .rawKeyed)
        let error = #expect(throws: DatabaseError.self) { try directory.makeQueue("vault.db", alone) }
        #expect(error?.resultCode == .SQLITE_BUSY)
        #expect(error?.message?.contains("connections of this process share it") == true)
        try first.close()
        let second = try directory.makeQueue("vault.db", alone)
        #expect(try count(second) == 1)
    }

    @Test("cannot be opened while it is shared, even if the name of the directory is not valid text")
    func nameOfBytes() throws {
        try makeFile()
        let folder = directory.path("d").utf8.map { CChar(bitPattern: $0) } + [-1, 0]
        try #require(unsafe mkdir(folder, 0o700) == 0 && symlink(folder, directory.path("link")) == 0)
        defer {
            try? FileManager.default.removeItem(atPath: directory.path("link/vault.db"))
            unsafe rmdir(folder)
        }
        try directory.write(directory.bytes(of: "vault.db"), to: "link/vault.db")
        let first = try directory.makeQueue("link/vault.db", .rawKeyed)
        let error = #expect(throws: DatabaseError.self) { try directory.makeQueue("link/vault.db", alone) }
        #expect(error?.resultCode == .SQLITE_BUSY)
        try first.close()
        try directory.makeQueue("link/vault.db", alone).close()
    }

    @Test("a file that is attached is locked in the same way")
    func attached() throws {
        try makeFile(journalMode: "delete")
        let queue = try directory.makeQueue("other.db", alone)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "ATTACH ? AS vault", arguments: [directory.path("vault.db")])
            try db.execute(sql: "INSERT INTO vault.t VALUES (2)")
        }
        let shell = SQLCipherShell(path: directory.path("vault.db"))
        #expect(throws: SQLCipherShell.Failure.self) { try shell.run("SELECT count(*) FROM t;") }
        try queue.writeWithoutTransaction { try $0.execute(sql: "DETACH vault") }
        #expect(try shell.run("SELECT count(*) FROM t;") == ["2"])
    }

    @Test(
        "can be rotated after connections have been opened and closed, but not while another one is open",
        arguments: Access.allCases, ["wal", "delete"])
    func rotationAfterReads(access: Access, journalMode: String) throws {
        try makeFile(journalMode: journalMode)
        let writer = try directory.make(access, "vault.db", alone)
        #expect(try count(writer) == 1)
        let other = try directory.makeQueue("vault.db", alone)
        #expect(try count(other) == 1)
        let newKey = DatabaseKey.rawKey([UInt8](repeating: 9, count: 32))
        let refusal = #expect(throws: DatabaseFileError.self) { try writer.rotateKey(to: newKey) }
        #expect(refusal?.isPublished == false)
        guard case .busy = refusal?.reason else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        try other.close()

        try writer.rotateKey(to: newKey)
        #expect(try count(writer) == 1)
        try writer.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
        try writer.rotateKey(to: .rawKey([UInt8](repeating: 8, count: 32)))
        try writer.close()
        let shell = SQLCipherShell(path: directory.path("vault.db"), rawKey: [UInt8](repeating: 8, count: 32))
        #expect(try shell.run("SELECT count(*) FROM t; PRAGMA integrity_check;") == ["2", "ok"])
    }

    @Test("can be rotated, copied, vacuumed and erased like any other", arguments: Access.allCases)
    func work(access: Access) throws {
        let writer = try directory.make(access, "vault.db", alone)
        try writer.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        let newKey = DatabaseKey.rawKey([UInt8](repeating: 9, count: 32))
        try writer.rotateKey(to: newKey)
        #expect(try count(writer) == 1)
        try writer.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
        try writer.vacuum(into: directory.path("vacuumed.db"))
        let copy = try directory.makeQueue("copy.db", .rawKeyed(9))
        try writer.backup(to: copy)
        #expect(try count(copy) == 2)
        let shell = SQLCipherShell(path: directory.path("vault.db"), rawKey: [UInt8](repeating: 9, count: 32))
        #expect(throws: SQLCipherShell.Failure.self) { try shell.run("SELECT count(*) FROM t;") }
        try writer.vacuum()
        try writer.erase()
        #expect(try writer.read { try !$0.tableExists("t") })
        try writer.close()
        #expect(try shell.run("PRAGMA integrity_check;") == ["ok"])
    }
}
