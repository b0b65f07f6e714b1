import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("A database whose file is removed while it is open")
struct MovedFileTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    struct Mode: Sendable, CustomTestStringConvertible {
        var access: Access
        var journal: String
        var testDescription: String { "\(access), \(journal)" }

        static let all = [
            Mode(access: .queue, journal: "delete"), Mode(access: .queue, journal: "memory"),
            Mode(access: .queue, journal: "wal"), Mode(access: .pool, journal: "wal"),
        ]
    }

    /// The change to the file.
    enum Fate: String, CaseIterable, Sendable {
        case removed, moved, replacedWithSameKey, replacedWithOtherKey, folderRenamed, nameOfLinkRemoved
    }

    private func open(_ mode: Mode) throws -> any DatabaseWriter {
        _ = try directory.makeFolder("folder")
        let writer = try directory.make(mode.access, "folder/a.db")
        try writer.writeWithoutTransaction {
            _ = try String.fetchOne($0, sql: "PRAGMA journal_mode = \(mode.journal)")
        }
        try writer.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        return writer
    }

    private func bring(_ fate: Fate) throws {
        let files = FileManager.default
        let path = directory.path("folder/a.db")
        switch fate {
        case .removed: try files.removeItem(atPath: path)
        case .moved: try files.moveItem(atPath: path, toPath: directory.path("folder/b.db"))
        case .replacedWithSameKey, .replacedWithOtherKey:
            let other = try directory.makeQueue(
                "other.db", fate == .replacedWithSameKey ? .rawKeyed : .rawKeyed(0x17))
            try other.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (10)") }
            try other.close()
            try files.removeItem(atPath: path)
            try files.moveItem(atPath: directory.path("other.db"), toPath: path)
        case .folderRenamed:
            try files.moveItem(atPath: directory.path("folder"), toPath: directory.path("elsewhere"))
        case .nameOfLinkRemoved:
            try files.linkItem(atPath: path, toPath: directory.path("folder/link.db"))
            try files.removeItem(atPath: path)
        }
        // Statements within half a millisecond of each other share one check of the name.
        usleep(1000)
    }

    @Test("the next write fails, for every kind of write", arguments: Mode.all, Fate.allCases)
    func nextWrite(mode: Mode, fate: Fate) throws {
        let writer = try open(mode)
        try bring(fate)
        let ways: [(any DatabaseWriter) throws -> Void] = [
            { try $0.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") } },
            { try $0.writeWithoutTransaction { try $0.execute(sql: "INSERT INTO t VALUES (2)") } },
            { try $0.writeWithoutTransaction { try $0.execute(sql: "BEGIN; INSERT INTO t VALUES (2)") } },
            { try $0.writeWithoutTransaction { try MovedFileTests.deleteInSavepoint($0) } },
            { try $0.writeWithoutTransaction { try MovedFileTests.releaseSavepoint($0) } },
        ]
        for (number, way) in ways.enumerated() {
            usleep(1000)
            let error = #expect(throws: DatabaseError.self, "way \(number)") {
                if number == 2 {
                    // In rollback modes, SQLite detects it at the first change. Otherwise, the commit does.
                    try writer.unsafeReentrantWrite { db in
                        try db.beginTransaction(.deferred)
                        defer { try? db.rollback() }
                        try db.execute(sql: "INSERT INTO t VALUES (2)")
                        try db.commit()
                    }
                } else {
                    try way(writer)
                }
            }
            #expect(error?.extendedResultCode == .SQLITE_READONLY_DBMOVED, "way \(number)")
        }
        // The connection can still read its file.
        #expect(try writer.unsafeReentrantWrite { try Int.fetchAll($0, sql: "SELECT a FROM t") } == [1])
        try? writer.close()
    }

    private static func deleteInSavepoint(_ db: Database) throws {
        try db.inSavepoint {
            try db.execute(sql: "DELETE FROM t")
            return .commit
        }
    }

    /// Releases a savepoint outside of a transaction, which is a commit.
    private static func releaseSavepoint(_ db: Database) throws {
        defer { try? db.rollback() }
        try db.execute(sql: "SAVEPOINT s; INSERT INTO t VALUES (2); RELEASE s")
    }

    @Test("writes work again once the file is moved back", arguments: Mode.all)
    func back(mode: Mode) throws {
        let writer = try open(mode)
        try bring(.moved)
        #expect(throws: DatabaseError.self) {
            try writer.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
        }
        try FileManager.default.moveItem(
            atPath: directory.path("folder/b.db"), toPath: directory.path("folder/a.db"))
        try writer.write { try $0.execute(sql: "INSERT INTO t VALUES (3)") }
        #expect(try writer.read { try Int.fetchAll($0, sql: "SELECT a FROM t") } == [1, 3])
    }

    @Test(
        "after a replacement, neither a second pool nor a new reader mixes the two files",
        arguments: [Fate.replacedWithSameKey, .replacedWithOtherKey])
    func secondPool(fate: Fate) throws {
        let first = try open(Mode(access: .pool, journal: "wal"))
        try bring(fate)
        let configuration = fate == .replacedWithSameKey ? Configuration.rawKeyed : .rawKeyed(0x17)
        let replacement = try directory.bytes(of: "folder/a.db")

        // The pool has only its writer, and no reader yet.
        let reading = #expect(throws: DatabaseError.self) {
            try first.read { try Int.fetchAll($0, sql: "SELECT a FROM t") }
        }
        #expect(
            [.SQLITE_READONLY_DBMOVED, .SQLITE_CANTOPEN, .SQLITE_NOTADB].contains(reading?.extendedResultCode)
        )

        // The WAL of the old file still exists and does not belong to the new file.
        let error = #expect(throws: DatabaseError.self) {
            _ = try directory.makePool("folder/a.db", configuration)
        }
        #expect(
            error?.encryptionFailure
                == .foreignSideFile(path: directory.path("folder/a.db-wal"), isFileWhole: true))
        #expect(try directory.bytes(of: "folder/a.db") == replacement)
        try first.close()
        try FileManager.default.moveItem(
            atPath: directory.path("folder/a.db-wal"), toPath: directory.path("former-wal"))
        let second = try directory.makePool("folder/a.db", configuration)
        #expect(try second.read { try Int.fetchAll($0, sql: "SELECT a FROM t") } == [10])
    }

    @Test(
        "a write fails if the log was moved, but not if the connection itself has replaced the log",
        arguments: [Access.queue, .pool])
    func removedLog(access: Access) throws {
        let writer = try open(Mode(access: access, journal: "wal"))
        if access == .queue {
            for journal in ["delete", "wal"] {
                try writer.writeWithoutTransaction {
                    _ = try String.fetchOne($0, sql: "PRAGMA journal_mode = \(journal)")
                }
                usleep(1000)
                try writer.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
            }
        }
        let log = directory.path("folder/a.db-wal")
        try FileManager.default.moveItem(atPath: log, toPath: directory.path("moved-wal"))
        usleep(1000)
        let error = #expect(throws: DatabaseError.self) {
            try writer.write { try $0.execute(sql: "INSERT INTO t VALUES (3)") }
        }
        #expect(error?.extendedResultCode == .SQLITE_READONLY_DBMOVED)
        #expect(error?.message?.contains("a.db-wal") == true)
        try FileManager.default.moveItem(atPath: directory.path("moved-wal"), toPath: log)
        usleep(1000)
        try writer.write { try $0.execute(sql: "INSERT INTO t VALUES (4)") }
        try writer.close()
        let queue = try directory.makeQueue("folder/a.db")
        #expect(try queue.read { try Int.fetchAll($0, sql: "SELECT a FROM t WHERE a > 2") } == [4])
    }

    @Test("a pool opens no reader on a file that has replaced its own, even if no log is left")
    func newReader() throws {
        let pool = try open(Mode(access: .pool, journal: "wal"))
        try bring(.replacedWithSameKey)
        for suffix in ["-wal", "-shm"] {
            try FileManager.default.removeItem(atPath: directory.path("folder/a.db\(suffix)"))
        }
        let error = #expect(throws: DatabaseError.self) {
            try pool.read { try Int.fetchAll($0, sql: "SELECT a FROM t") }
        }
        #expect(error?.extendedResultCode == .SQLITE_READONLY_DBMOVED)
        try pool.close()
    }

    @Test("closing the pool of a replaced file removes no files of the pool of the new file")
    func lateEnd() throws {
        let first = try open(Mode(access: .pool, journal: "wal"))
        try bring(.replacedWithSameKey)
        for suffix in ["-wal", "-shm"] {
            try FileManager.default.removeItem(atPath: directory.path("folder/a.db\(suffix)"))
        }
        let second = try directory.makePool("folder/a.db")
        try second.write { try $0.execute(sql: "INSERT INTO t VALUES (11)") }
        try first.close()
        #expect(FileManager.default.fileExists(atPath: directory.path("folder/a.db-wal")))
        try second.write { try $0.execute(sql: "INSERT INTO t VALUES (12)") }
        try second.close()
        #expect(
            try directory.makeQueue("folder/a.db").read { try Int.fetchAll($0, sql: "SELECT a FROM t") } == [
                10, 11, 12,
            ])
    }

    @Test(
        "no operation of a connection whose file was replaced destroys commits to the new file",
        arguments: Access.allCases, ["checkpoint", "copy", "in place", "erase", "backup", "read"])
    func neighborOfNewFile(access: Access, work: String) throws {
        let first = try open(Mode(access: access, journal: access == .pool ? "wal" : "delete"))
        try bring(.replacedWithSameKey)
        if access == .pool {
            for suffix in ["-wal", "-shm"] {
                try FileManager.default.removeItem(atPath: directory.path("folder/a.db\(suffix)"))
            }
        }
        let second = try directory.makePool("folder/a.db")
        for _ in 0..<20 { try second.write { try $0.execute(sql: "INSERT INTO t VALUES (11)") } }
        var options = DatabaseFile.RotationOptions()
        if work == "in place" { options.method = .inPlace }
        let error = #expect(throws: (any Error).self) {
            switch work {
            case "checkpoint": try first.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
            case "erase": try first.erase()
            case "backup": try DatabaseQueue(configuration: .rawKeyed).backup(to: first)
            case "read":
                // A pool has the log of its own file open.
                if access == .pool { throw CancellationError() }
                _ = try first.read { try Int.fetchAll($0, sql: "SELECT a FROM t") }
            default: try first.rotateKey(to: .rawKey(Array(repeating: 9, count: 32)), options: options)
            }
        }
        if work != "read" { #expect("\(error as Any)".contains("removed, renamed or replaced")) }
        for _ in 0..<20 { try second.write { try $0.execute(sql: "INSERT INTO t VALUES (12)") } }
        try? first.close()
        try second.close()
        let count = try directory.makeQueue("folder/a.db").read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM t")
        }
        #expect(count == 41)
    }

    @Test("a database that was opened through a link stays the same file when the link is changed")
    func changedLink() throws {
        for folder in ["1", "2"] {
            _ = try directory.makeFolder(folder)
            let queue = try directory.makeQueue("\(folder)/a.db")
            try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (\(folder))") }
            try queue.close()
        }
        let link = directory.path("current")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "1")
        let pool = try directory.makePool("current/a.db")
        #expect(pool.path == directory.path("current/a.db"))
        try FileManager.default.removeItem(atPath: link)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "2")
        #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
        try pool.rotateKey(to: Configuration.rawKeyed(0x17).key!)
        try pool.write { try $0.execute(sql: "UPDATE t SET a = 10") }
        #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 10)
        try pool.close()
        #expect(
            try directory.makeQueue("1/a.db", .rawKeyed(0x17)).read {
                try Int.fetchOne($0, sql: "SELECT a FROM t")
            } == 10)
        #expect(
            try directory.makeQueue("2/a.db").read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 2)
    }

    @Test(
        "a write to an attached file that was removed fails, even if the main database is in memory",
        arguments: [false, true], ["wal", "delete"])
    func attached(isInMemory: Bool, mode: String) throws {
        let other = try directory.makeQueue("b.db")
        try other.writeWithoutTransaction {
            _ = try String.fetchOne($0, sql: "PRAGMA journal_mode = \(mode)")
        }
        try other.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try other.close()
        let queue = isInMemory ? try DatabaseQueue(configuration: .rawKeyed) : try directory.makeQueue()
        let path = directory.path("b.db")
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "ATTACH ? AS b", arguments: [path])
            try db.execute(sql: "INSERT INTO b.t VALUES (1)")
        }
        try FileManager.default.moveItem(atPath: path, toPath: directory.path("c.db"))
        usleep(1000)
        let error = #expect(throws: DatabaseError.self) {
            try queue.write { try $0.execute(sql: "INSERT INTO b.t VALUES (2)") }
        }
        #expect(error?.extendedResultCode == .SQLITE_READONLY_DBMOVED)
        // Writes to the other databases continue.
        try queue.writeWithoutTransaction { try $0.execute(sql: "CREATE TABLE main.own (a)") }
        try queue.write { db in
            try db.execute(sql: "INSERT INTO own VALUES (1); CREATE TEMP TABLE passing (a)")
        }
        try FileManager.default.moveItem(atPath: directory.path("c.db"), toPath: path)
        usleep(1000)
        try queue.write { try $0.execute(sql: "INSERT INTO b.t VALUES (3)") }
        try queue.close()
        let found = try directory.makeQueue("b.db").read { try Int.fetchAll($0, sql: "SELECT a FROM t") }
        #expect(found == [1, 3])
    }

    @Test("a replaced file that was overwritten is reported as moved, not as damaged")
    func spoiledFile() throws {
        let queue = try open(Mode(access: .queue, journal: "delete"))
        let file = try FileHandle(
            forUpdating: URL(fileURLWithPath: directory.path("folder/a.db")))
        try bring(.replacedWithSameKey)
        try file.write(contentsOf: Data((0..<512).map { _ in UInt8.random(in: 0...255) }))
        // Closing it would drop the locks of the connection.
        withExtendedLifetime(file) {
            let error = #expect(throws: DatabaseError.self) {
                try queue.read { try Int.fetchOne($0, sql: "SELECT a FROM t") }
            }
            #expect(error?.extendedResultCode == .SQLITE_READONLY_DBMOVED)
        }
    }
}
