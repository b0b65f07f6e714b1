import CofferTestSupport
import Foundation
import SQLCipherBridge
import Testing

@testable import Coffer

@Suite("Backups")
struct BackupTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private static func configuration(format: Int, byte: UInt8 = 0x42) -> Configuration {
        Configuration.rawKeyed(byte).with { $0.cipher = .sqlcipher(format: format) }
    }

    private func fill(_ writer: some DatabaseWriter, rows: Int = 50) throws {
        try writer.write { db in
            try db.execute(
                sql:
                    "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT); CREATE INDEX i ON t (a); PRAGMA user_version = 5"
            )
            for id in 1...rows {
                try db.execute(sql: "INSERT INTO t VALUES (?, hex(randomblob(200)))", arguments: [id])
            }
        }
    }

    private func rows(_ reader: some DatabaseReader) throws -> [String] {
        try reader.read { try String.fetchAll($0, sql: "SELECT id || a FROM t ORDER BY id") }
    }

    // MARK: - The destination in between

    @Test(
        "the destination cannot be used before the copy is complete, and has no content until then",
        arguments: Access.allCases)
    func destinationInUse(access: Access) throws {
        let (from, to) = try (directory.makeQueue("a.db"), directory.make(access, "b.db"))
        try fill(from)
        try fill(to, rows: 1)
        let uses: [(Database) throws -> Void] = [
            { _ = try Int.fetchOne($0, sql: "SELECT count(*) FROM t") },
            { try $0.execute(sql: "INSERT INTO t (a) VALUES ('x')") },
            { _ = try $0.tableExists("t") }, { try $0.execute(sql: "PRAGMA journal_mode = WAL") },
            { try $0.execute(sql: "VACUUM") },
            { try $0.checkpoint() }, { try $0.inTransaction { .commit } }, { try $0.readOnly {} },
        ]
        var (reports, refusals) = (0, 0)
        try from.backup(to: to, pagesPerStep: 1) { progress in
            guard !progress.isCompleted else { return }
            reports += 1
            for use in uses {
                let error = #expect(throws: DatabaseError.self) {
                    try to.unsafeReentrantWrite { try use($0) }
                }
                if error?.resultCode == .SQLITE_LOCKED { refusals += 1 }
            }
            to.unsafeReentrantWrite { $0.releaseMemory() }
            // The source stays usable.
            let count = try from.unsafeReentrantRead { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
            #expect(count == 50)
        }
        #expect(reports > 5 && refusals == reports * uses.count)
        #expect(try rows(to) == rows(from))
        try to.write { try $0.execute(sql: "INSERT INTO t (a) VALUES ('x')") }
        try to.close()
        #expect(try DatabaseFile(path: directory.path("b.db")).verify(key: Keys.old).isIntact)
    }

    // MARK: - Layouts

    @Test(
        "a backup between any two formats is complete, and the shell can read it",
        arguments: ShellFile.Format.allCases.filter { $0 != .plaintext }, 1...4)
    func formats(source: ShellFile.Format, destination: Int) throws {
        // The pages of these files reserve exactly the space that their format needs, which the engine does
        // not compare with the needs of other formats.
        let file = try ShellFile(directory.path("a.db"), format: source, script: SampleSchema.everything)
        let from = try DatabaseQueue(path: file.path, configuration: source.configuration)
        let to = try directory.makeQueue("b.db", BackupTests.configuration(format: destination, byte: 0x43))
        try to.write { try $0.execute(sql: "CREATE TABLE gone (a); INSERT INTO gone VALUES (1)") }
        try from.backup(to: to)
        #expect(try to.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM plain") } == 5)
        try to.write {
            try $0.execute(
                sql:
                    "INSERT INTO plain (a) VALUES (1); DELETE FROM plain WHERE a = 1 AND b IS NULL; DELETE FROM log"
            )
        }
        try to.close()
        let shell = SQLCipherShell(
            path: directory.path("b.db"), rawKey: [UInt8](repeating: 0x43, count: 32),
            preparation: "PRAGMA cipher_compatibility = \(destination);")
        try from.write { try $0.execute(sql: "DELETE FROM log") }
        let before = try SampleSchema.dump(file.shell)
        let after = try SampleSchema.dump(shell)
        for (old, new) in zip(before, after) where old != new { Issue.record("\(old) became \(new)") }
        #expect(before.count == after.count)
        #expect(try shell.run("PRAGMA integrity_check;") == ["ok"])
    }

    @Test(
        "SQLite still copies pages into a database whose codec reserves more bytes, and reports success"
    )
    func engineFact() throws {
        let file = try ShellFile(
            directory.path("a.db"), format: .sqlcipher3,
            script: "CREATE TABLE t (a); INSERT INTO t VALUES ('x');")
        let from = try DatabaseQueue(
            path: file.path, configuration: ShellFile.Format.sqlcipher3.configuration)
        let wide = Configuration.rawKeyed.with { $0.cipher.pageSize = 1024 }
        let to = try directory.makeQueue("b.db", wide)
        try from.inDatabase { source in
            try to.inDatabase { destination throws in
                let layout = try PageLayout(of: source.handle, isEncrypted: true)
                let other = try PageLayout(of: destination.handle, isEncrypted: true)
                #expect((layout.pageSize, layout.reservedBytes, layout.codecBytes) == (1024, 48, 48))
                #expect((other.pageSize, other.codecBytes) == (1024, 80))
                #expect(!layout.canGo(to: other, canChangePageSize: true))
                let backup = try BackupHandle(from: source.handle, to: destination.handle)
                guard case .done = backup.step(pages: -1) else {
                    Issue.record("the engine has learned to refuse")
                    return
                }
                try backup.finish()
            }
        }
        try to.close()
        #expect(throws: DatabaseError.self) {
            try directory.makeQueue("b.db", wide).read { try String.fetchOne($0, sql: "SELECT a FROM t") }
        }
    }

    // MARK: - Protection

    @Test(
        "an in-memory database can be filled from an encrypted file, and saved into one",
        arguments: [true, false])
    func memory(isKeyed: Bool) throws {
        let queue = try directory.makeQueue()
        try fill(queue)
        let memory = try DatabaseQueue(configuration: isKeyed ? .rawKeyed : Configuration())
        try queue.backup(to: memory)
        #expect(try rows(memory) == rows(queue))
        try memory.write { try $0.execute(sql: "DELETE FROM t WHERE id > 10") }
        let saved = try directory.makeQueue("saved.db", .rawKeyed(0x43))
        try memory.backup(to: saved)
        try saved.close()
        let shell = SQLCipherShell(
            path: directory.path("saved.db"), rawKey: [UInt8](repeating: 0x43, count: 32))
        #expect(try shell.run("SELECT count(*) FROM t; PRAGMA user_version;") == ["10", "5"])
    }

    @Test(
        "an encrypted database is copied into an allowed plaintext file, but not into a temporary one"
    )
    func plaintext() throws {
        let queue = try directory.makeQueue()
        try fill(queue)
        let temporary = try DatabaseQueue(path: "")
        let refusal = #expect(throws: DatabaseError.self) { try queue.backup(to: temporary) }
        #expect(refusal?.resultCode == .SQLITE_MISUSE)
        #expect(try temporary.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master") } == 0)
        let plain = try directory.makeQueue("plain.db", Configuration().with { $0.allowsPlaintext = true })
        try queue.backup(to: plain)
        #expect(try rows(plain) == rows(queue))
        let again = try directory.makeQueue("again.db")
        try plain.backup(to: again)
        try again.close()
        #expect(try rows(directory.makeQueue("again.db")) == rows(queue))
    }

    @Test(
        "plain databases of different page sizes are copied, into files in WAL mode and into memory as well")
    func plainPageSizes() throws {
        var configuration = Configuration()
        configuration.allowsPlaintext = true
        let small = try directory.makeQueue("small.db", configuration)
        try small.inDatabase { try $0.execute(sql: "PRAGMA page_size = 1024") }
        try fill(small)
        let pool = try directory.makePool("pool.db", configuration)
        let memory = try DatabaseQueue()
        let file = try directory.makeQueue("file.db", configuration)
        for destination in [pool, memory, file] as [any DatabaseWriter] {
            try destination.write { try $0.execute(sql: "CREATE TABLE gone (a)") }
            try small.backup(to: destination)
            #expect(try rows(destination) == rows(small))
            #expect(try destination.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") } == ["ok"])
        }
    }

    // MARK: - Semantics

    @Test(
        "snapshots can be sources, and queues and pools destinations, whose readers see the new content"
    )
    func sources() throws {
        let pool = try directory.makePool()
        try fill(pool)
        let snapshot = try pool.makeSnapshot()
        let snapshots = try pool.makeSnapshotPool()
        let expected = try rows(pool)
        try pool.write { try $0.execute(sql: "DELETE FROM t") }
        for (number, source) in ([snapshot, snapshots] as [any DatabaseReader]).enumerated() {
            for access in Access.allCases {
                let destination = try directory.make(access, "\(number)\(access).db", .rawKeyed(0x43))
                try destination.write { try $0.execute(sql: "CREATE TABLE gone (a)") }
                #expect(try destination.read { try $0.tableExists("gone") })
                try source.backup(to: destination)
                #expect(try rows(destination) == expected)
                #expect(try !destination.read { try $0.tableExists("gone") })
                #expect(try destination.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
            }
        }
    }

    @Test(
        "a page that the destination stored differently is found; in the file itself, even a free page",
        arguments: [(true, false), (false, false), (false, true)])
    func damagedDestination(wal: Bool, isFree: Bool) throws {
        let configuration = Configuration.rawKeyed.with { $0.journalMode = wal ? .wal : .default }
        let queue = try directory.makeQueue("a.db", configuration)
        try fill(queue)
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE gone AS SELECT randomblob(30000); DROP TABLE gone")
        }
        let copy = try directory.makeQueue("b.db", configuration)
        let last = try #require(queue.read { try Int.fetchOne($0, sql: "PRAGMA page_count") })
        let directory = directory
        let error = #expect(throws: DatabaseError.self) {
            try queue.backup(to: copy) { step in
                guard step.isCompleted else { return }
                // The last page belonged to the dropped table, and page 2 contains the first rows.
                try directory.damage(page: isFree ? last : 2, of: "b.db", isInLog: wal)
            }
        }
        #expect(error?.resultCode == .SQLITE_CORRUPT)
    }

    @Test("progress is reported after each step, once at the end, and counts pages")
    func progress() throws {
        let queue = try directory.makeQueue()
        try fill(queue)
        let pageCount = try #require(try queue.read { try Int.fetchOne($0, sql: "PRAGMA page_count") })
        let copy = try directory.makeQueue("b.db")
        var reports: [DatabaseBackupProgress] = []
        try queue.backup(to: copy, pagesPerStep: 3) { reports.append($0) }
        #expect(reports.allSatisfy { $0.totalPageCount == pageCount })
        #expect(reports.map(\.completedPageCount) == stride(from: 3, to: pageCount, by: 3) + [pageCount])
        #expect(reports.map(\.isCompleted) == reports.dropLast().map { _ in false } + [true])
        reports = []
        try queue.backup(to: copy) { reports.append($0) }
        #expect(reports.map(\.completedPageCount) == [pageCount])
        #expect(reports.map(\.remainingPageCount) == [0])
        #expect(reports.map(\.isCompleted) == [true])
    }

    @Test(
        "a progress error leaves the destination unchanged; after the last step it is ignored",
        arguments: [4, 3])
    func throwingProgress(format: Int) throws {
        struct Stop: Error {}
        let queue = try directory.makeQueue()
        try fill(queue)
        let copy = try directory.makeQueue("b.db", BackupTests.configuration(format: format))
        try copy.write { try $0.execute(sql: "CREATE TABLE before (a); INSERT INTO before VALUES (1)") }
        #expect(throws: Stop.self) { try queue.backup(to: copy, pagesPerStep: 1) { _ in throw Stop() } }
        #expect(try copy.read { try Int.fetchAll($0, sql: "SELECT a FROM before") } == [1])
        try copy.write { try $0.execute(sql: "INSERT INTO before VALUES (2)") }
        try queue.backup(to: copy, pagesPerStep: 1) { if $0.isCompleted { throw Stop() } }
        #expect(try rows(copy) == rows(queue))
        #expect(throws: DatabaseError.self) { try queue.backup(to: copy, pagesPerStep: 0) }
    }

    @Test("a task that is cancelled ends the backup", arguments: [4, 3])
    func cancellation(format: Int) async throws {
        let queue = try directory.makeQueue()
        try fill(queue)
        let copy = try directory.makeQueue("b.db", BackupTests.configuration(format: format))
        let task = Task {
            try await queue.unsafeRead { source in
                while !Task.isCancelled { Thread.sleep(forTimeInterval: 0.001) }
                try copy.writeWithoutTransaction { try source.backup(to: $0, pagesPerStep: 1) }
            }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await copy.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master") } == 0)
    }

    @Test("a backup is refused in a write transaction of the source, or any of the destination")
    func transactions() throws {
        let queue = try directory.makeQueue()
        try fill(queue)
        let copy = try directory.makeQueue("b.db")
        let busy = #expect(throws: DatabaseError.self) {
            try queue.write { source in
                try source.execute(sql: "DELETE FROM t")
                try copy.writeWithoutTransaction { try source.backup(to: $0) }
            }
        }
        #expect(busy?.resultCode == .SQLITE_BUSY)
        #expect(throws: DatabaseError.self) {
            try copy.write { destination in try queue.read { try $0.backup(to: destination) } }
        }
        try queue.read { source in try copy.writeWithoutTransaction { try source.backup(to: $0) } }
        #expect(try rows(copy) == rows(queue))
    }

    @Test("a backup is busy, and changes nothing, while another connection reads the destination")
    func busyDestination() throws {
        let queue = try directory.makeQueue()
        try fill(queue)
        let copy = try directory.makeQueue("b.db")
        try copy.write { try $0.execute(sql: "CREATE TABLE before (a); INSERT INTO before VALUES (1)") }
        let other = try directory.makeQueue("b.db")
        try other.read { db throws in
            _ = try Int.fetchOne(db, sql: "SELECT a FROM before")
            let error = #expect(throws: DatabaseError.self) { try queue.backup(to: copy) }
            #expect(error?.resultCode == .SQLITE_BUSY)
        }
        #expect(try copy.read { try Int.fetchOne($0, sql: "SELECT a FROM before") } == 1)
        try queue.backup(to: copy)
        #expect(try rows(other) == rows(queue))
    }

    @Test("the destination may use a prepared passphrase and the exclusive locking mode")
    func preparedKeyAndExclusiveLock() throws {
        var prepared = Configuration()
        prepared.prepareDatabase { db in
            try db.usePassphrase("prepared")
            try db.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
        }
        let queue = try directory.makeQueue()
        try fill(queue)
        let copy = try directory.makeQueue("b.db", prepared)
        try queue.backup(to: copy)
        #expect(try rows(copy) == rows(queue))
        try copy.close()
        #expect(
            try SQLCipherShell(path: directory.path("b.db"), passphrase: "prepared").run(
                "SELECT count(*) FROM t;") == ["50"])
    }
}

extension TestDirectory {
    /// Changes some bytes of a stored page of 4096 bytes.
    fileprivate func damage(page: Int, of name: String, isInLog: Bool) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path(isInLog ? "\(name)-wal" : name)))
        var offset = UInt64(page - 1) * 4096
        if isInLog {
            let bytes = [UInt8](try #require(try file.readToEnd()))
            for frame in stride(from: 32, to: bytes.count, by: 24 + 4096)
            where Int(bytes[frame + 2]) << 8 + Int(bytes[frame + 3]) == page {
                offset = UInt64(frame + 24)
            }
        }
        try file.seek(toOffset: offset + 100)
        try file.write(contentsOf: [1, 2, 3, 4])
        try file.close()
    }
}
