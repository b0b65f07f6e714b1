import CofferTestSupport
import Foundation
import Testing

@testable import Coffer
@testable import SQLCipherBridge

/// A WAL belongs to a path, so a file with two names would have two WALs.
@Suite("A database file with another name")
struct OtherNameTests {
    let directory: TestDirectory
    private var path: String { directory.path("a.db") }

    init() throws { directory = try TestDirectory() }

    private func make(
        _ mode: Configuration.JournalModeConfiguration, _ change: (inout Configuration) -> Void = { _ in }
    )
        throws
    {
        let configuration = Configuration.rawKeyed.with {
            $0.journalMode = mode
            change(&$0)
        }
        let queue = try directory.makeQueue("a.db", configuration)
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        try queue.close()
    }

    private func link(_ name: String = "b.db") throws {
        try FileManager.default.linkItem(atPath: path, toPath: directory.path(name))
    }

    private func refusal(_ open: () throws -> any DatabaseWriter) -> EncryptionFailure? {
        do {
            try open().close()
            return nil
        } catch {
            return (error as? DatabaseError)?.encryptionFailure
        }
    }

    @Test(
        "a file with two names is not opened in WAL mode, and no file is created next to it",
        arguments: Access.allCases)
    func hardLinkInWAL(access: Access) throws {
        try make(.wal)
        try link()
        let before = try directory.snapshot()
        for name in ["a.db", "b.db"] {
            #expect(
                refusal { try directory.make(access, name) }
                    == .severalNames(path: directory.path(name), .hardLinks(count: 2)))
        }
        #expect(try directory.snapshot() == before)
        try FileManager.default.removeItem(atPath: directory.path("b.db"))
        #expect(try directory.make(access).read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
    }

    @Test("it is read in WAL mode, and read and written in rollback mode, but never switched to WAL mode")
    func hardLinkInRollbackMode() throws {
        try make(.default)
        try link()
        let queue = try directory.makeQueue()
        try queue.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
        let mode = try queue.writeWithoutTransaction {
            try String.fetchOne($0, sql: "PRAGMA journal_mode = WAL")
        }
        #expect(mode == "delete")
        // In this locking mode, the engine does not use shared memory for the WAL index.
        let kept = try queue.writeWithoutTransaction { db in
            _ = try String.fetchOne(db, sql: "PRAGMA locking_mode = EXCLUSIVE")
            let mode = try? String.fetchOne(db, sql: "PRAGMA journal_mode = WAL")
            try? db.execute(sql: "INSERT INTO t VALUES (3)")
            return mode
        }
        #expect(kept != nil)
        #expect(!directory.fileNames().contains("a.db-wal"))
        try queue.close()
        #expect(
            refusal { try directory.makePool() } == .severalNames(path: path, .hardLinks(count: 2)))
        #expect(throws: DatabaseError.self) {
            try directory.makeQueue("b.db", .rawKeyed.with { $0.journalMode = .wal })
        }
        try FileManager.default.removeItem(atPath: directory.path("b.db"))
        try makeWAL()
        try link()
        let reader = try directory.makeQueue("b.db", .rawKeyed.with { $0.readonly = true })
        #expect(try reader.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } ?? 0 >= 2)
    }

    private func makeWAL() throws {
        let queue = try directory.makeQueue("a.db", .rawKeyed.with { $0.journalMode = .wal })
        try queue.write { try $0.execute(sql: "INSERT INTO t VALUES (4)") }
        try queue.close()
    }

    @Test("an unencrypted database with two names is refused too, and the error gives the reason")
    func plaintext() throws {
        var plain = Configuration()
        plain.allowsPlaintext = true
        plain.journalMode = .wal
        let queue = try directory.makeQueue("a.db", plain)
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try queue.close()
        try link()
        let error = #expect(throws: DatabaseError.self) { try directory.makeQueue("a.db", plain) }
        #expect(error?.resultCode == .SQLITE_CANTOPEN)
        #expect(error?.message?.contains("2 names (hard links)") == true, "\(error as Any)")
    }

    @Test("an open pool stays in use, and opens readers, when the file gets another name")
    func laterName() throws {
        let pool = try directory.makePool()
        try pool.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        try link()
        pool.releaseMemory()
        #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
        try pool.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
        try pool.close()
        #expect(refusal { try directory.makePool() } == .severalNames(path: path, .hardLinks(count: 2)))
    }

    @Test("a file that this process has open by another name is refused, and the error gives that name")
    func openByAnotherName() throws {
        let pool = try directory.makePool()
        try pool.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try FileManager.default.moveItem(atPath: path, toPath: directory.path("b.db"))
        #expect(
            refusal { try directory.makeQueue("b.db") }
                == .severalNames(path: directory.path("b.db"), .openInThisProcess(path: path)))
        try FileManager.default.moveItem(atPath: directory.path("b.db"), toPath: path)
        // A link, and another path to the same folder, lead to the same name.
        try FileManager.default.createSymbolicLink(
            atPath: directory.path("link.db"), withDestinationPath: path)
        _ = try directory.makeFolder("folder")
        for name in ["link.db", "folder/../a.db"] {
            let queue = try directory.makeQueue(name)
            try queue.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
            try queue.close()
        }
        #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 2)
        try pool.close()
    }

    @Test(
        "a second name that an interrupted rotation has given to the file is removed at the next opening")
    func secondNameOfRun() throws {
        try make(.wal)
        var note = ReplacementNote(.rotate, id: .random(), step: "publish", journalMode: "wal")
        note.keepOldPath = directory.path("old.db")
        try directory.write(note.encoded(), to: "a.db.rotate.json")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: directory.path("a.db.rotate.json"))
        try link("old.db")
        let pool = try directory.makePool()
        #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
        #expect(!directory.fileNames().contains("old.db"))
        try pool.close()
        // A file that no note names stays, and so does one whose run is still active.
        try link("mine.db")
        #expect(refusal { try directory.makePool() } == .severalNames(path: path, .hardLinks(count: 2)))
        try FileManager.default.removeItem(atPath: directory.path("mine.db"))
        try link("old.db")
        let names = ReplacementNames(path: path, operation: .rotate)
        let working = try names.takeNote()
        #expect(refusal { try directory.makePool() } == .severalNames(path: path, .hardLinks(count: 2)))
        withExtendedLifetime(working) {}
        #expect(directory.fileNames() == ["a.db", "a.db.rotate.json", "old.db"])
    }

    @Test("mount points are found by a system call and in mountinfo, where names are escaped")
    func mountPoints() throws {
        try make(.default)
        #expect(MountPoint.isOne("/proc") && !MountPoint.isOne("/proc/self") && !MountPoint.isOne(path))
        let table = """
            22 27 0:21 / /proc rw,nosuid shared:12 - proc proc rw
            31 27 8:1 /srv/a\\040b.db /data/a\\040b\\134c.db rw,relatime - ext4 /dev/sda1 rw
            bad line

            """
        let points = MountPoint.points(in: Array(table.utf8))
        #expect(
            points == [
                Array("/proc".utf8CString.dropLast()), Array("/data/a b\\c.db".utf8CString.dropLast()),
            ])
    }
}
