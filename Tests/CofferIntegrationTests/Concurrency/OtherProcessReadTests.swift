import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

/// The guarantees in the other files of this folder that involve other writers, with a writer in another
/// process. Each test has the number of the guarantee that it repeats.
///
/// A pool uses WAL mode, in which writers and readers do not wait for each other. A queue uses rollback mode,
/// in which a reader keeps the other process from committing: the commit fails with `busy`.
@Suite("Guarantees of readers while another process writes")
struct OtherProcessReadTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test(
        "R7, R10, R19: a read sees one state; the next one sees later commits",
        arguments: Access.allCases)
    func isolation(access: Access) async throws {
        let writer = try directory.makePlayers(access)
        let other = try OtherProcess(path: writer.path, access)
        let answer = access == .pool ? "done" : "busy"
        let read: @Sendable (Database) throws -> Void = { db in
            let before = try db.playerCount()
            #expect(try other.tell("insert") == answer)
            #expect(try db.playerCount() == before)
        }
        try Job { try writer.read(read) }.value()
        try await writer.read(read)
        try await withCheckedThrowingContinuation { continuation in
            writer.asyncRead { result in continuation.resume(with: Result { try read(result.get()) }) }
        }
        #expect(try await writer.read { try $0.playerCount() } == (access == .pool ? 3 : 0))
        #expect(try other.tell("insert") == "done")
        #expect(try await writer.read { try $0.playerCount() } == (access == .pool ? 4 : 1))
    }

    @Test("R11, R14, R15: an unsafe read sees each commit at once", arguments: Access.allCases)
    func unsafeReads(access: Access) async throws {
        let writer = try directory.makePlayers(access)
        let other = try OtherProcess(path: writer.path, access)
        let read: @Sendable (Database) throws -> Void = { db in
            let before = try db.playerCount()
            #expect(try other.tell("insert") == "done")
            #expect(try db.playerCount() == before + 1)
        }
        try Job { try writer.unsafeRead(read) }.value()
        try Job { try writer.unsafeReentrantRead(read) }.value()
        try await writer.unsafeRead(read)
        try await withCheckedThrowingContinuation { continuation in
            writer.asyncUnsafeRead { result in continuation.resume(with: Result { try read(result.get()) }) }
        }
        #expect(try await writer.read { try $0.playerCount() } == 4)
    }

    @Test("R12: an iteration is isolated, also in an unsafe read", arguments: Access.allCases)
    func cursorIsolation(access: Access) throws {
        let writer = try directory.makePlayers(access)
        let other = try OtherProcess(path: writer.path, access)
        try writer.write { db in for _ in 0..<10 { try db.insertPlayer() } }
        try writer.unsafeRead { db in
            let rows = try Row.fetchCursor(db, sql: "SELECT id FROM player")
            var count = 0
            while try rows.next() != nil {
                count += 1
                if count == 3 { #expect(try other.tell("delete") == (access == .pool ? "done" : "busy")) }
            }
            #expect(count == 10)
            #expect(try db.playerCount() == (access == .pool ? 0 : 10))
        }
    }

    @Test("W4: no part of a transaction of the other process is visible", arguments: Access.allCases)
    func noPartialWrite(access: Access) throws {
        let writer = try directory.makePlayers(access)
        let other = try OtherProcess(path: writer.path, access)
        for end in ["rollback", "commit"] {
            for command in ["begin", "part", "part"] {
                #expect(try other.tell(command) == "done")
                #expect(try writer.read { try $0.playerCount() } == 0)
                #expect(try writer.unsafeRead { try $0.playerCount() } == 0)
            }
            #expect(try other.tell(end) == "done")
        }
        #expect(try writer.read { try $0.playerCount() } == 2)
    }

    @Test(
        "W4b: reads see whole transactions, and no older state than before, while the other process writes",
        arguments: Access.allCases)
    func manyWrites(access: Access) throws {
        let writer = try directory.makePlayers(
            access, .rawKeyed.with { $0.busyMode = .timeout(Patience.seconds) })
        let other = try OtherProcess(path: writer.path, access, patience: Patience.seconds)
        #expect(try other.tell("pairs") == "done")
        let counts = try (0..<300).map { _ in
            try writer.read { db in
                let count = try db.playerCount()
                #expect(try db.playerCount() == count)
                return count
            }
        }
        let pairs = Int(try other.tell("end pairs"))
        #expect(counts.allSatisfy { $0 % 2 == 0 })
        #expect(counts == counts.sorted())
        #expect(try writer.read { try $0.playerCount() } == pairs.map { 2 * $0 })
    }

    @Test("every reader sees a change of the schema by the other process", arguments: Access.allCases)
    func schemaChange(access: Access) throws {
        let writer = try directory.makePlayers(access)
        let other = try OtherProcess(path: writer.path, access)
        try writer.write { try $0.insertPlayer() }
        let names: @Sendable (Database) throws -> [String] = { db in
            let kept = try Row.fetchOne(db.cachedStatement(sql: "SELECT * FROM player")).map {
                Array($0.columnNames)
            }
            #expect(try db.columns(in: "player").map(\.name) == kept)
            return kept ?? []
        }
        #expect(try writer.read(names) == ["id", "name"])
        #expect(try writer.write(names) == ["id", "name"])
        #expect(try other.tell("alter") == "done")
        #expect(try writer.read(names) == ["id", "name", "score"])
        #expect(try writer.write(names) == ["id", "name", "score"])
        if let pool = writer as? DatabasePool {
            #expect(
                try inAllReaders(of: pool, names) == [[String]](repeating: ["id", "name", "score"], count: 5))
        }
    }

    @Test(
        "R18: a backup is a copy of one state, and writes of the other process cause no error",
        arguments: Access.allCases)
    func backup(access: Access) throws {
        let writer = try directory.makePlayers(access)
        try writer.write { db in
            for _ in 0..<1000 {
                try db.execute(sql: "INSERT INTO player (name) VALUES (hex(randomblob(200)))")
            }
        }
        let other = try OtherProcess(path: writer.path, access, patience: Patience.seconds)
        let copy = try directory.makeQueue("copy.db", .rawKeyed(0x43))
        let inserts = Notes<String>()
        try writer.backup(to: copy, pagesPerStep: 20) { _ in
            // Each commit makes the backup start over.
            if inserts.values.count < 3 { inserts.append(try other.tell("insert")) }
        }
        #expect(inserts.values == ["done", "done", "done"])
        let count = try copy.read { try $0.playerCount() }
        #expect(1000...1003 ~= count)
        #expect(try copy.read { try Row.fetchOne($0, sql: "PRAGMA integrity_check")?[0] as String? } == "ok")
    }
}
