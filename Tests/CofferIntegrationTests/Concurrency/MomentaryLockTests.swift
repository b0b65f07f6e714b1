import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

/// A reader that encounters a commit briefly takes the writer lock to read the WAL index again.
@Suite("Locks that last a moment")
struct MomentaryLockTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private func patience(of writer: some DatabaseWriter) throws -> Int? {
        try writer.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA busy_timeout") }
    }

    @Test(
        "the writer of a pool waits 50 ms for locks unless configured otherwise; its readers wait 10 s"
    )
    func timeouts() throws {
        #expect(try patience(of: directory.makePool("pool.db")) == 50)
        #expect(try patience(of: directory.makeQueue("queue.db")) == 0)
        var configuration = Configuration.rawKeyed
        configuration.busyMode = .timeout(3)
        #expect(try patience(of: directory.makePool("patient.db", configuration)) == 3000)
        #expect(
            try directory.makePool("read.db").read { try Int.fetchOne($0, sql: "PRAGMA busy_timeout") }
                == 10_000)
    }

    @Test("a write is not refused because readers of the pool are being opened")
    func openingBesideWrites() async throws {
        let pool = try directory.makePlayersPool()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for _ in 0..<300 { try await pool.write { try $0.insertPlayer() } }
            }
            group.addTask {
                for _ in 0..<60 {
                    pool.invalidateReadOnlyConnections()
                    _ = try await pool.read { try $0.playerCount() }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await pool.read { try $0.playerCount() } == 300)
    }

    @Test("a lasting lock fails the write with SQLITE_BUSY")
    func lastingLock() throws {
        let pool = try directory.makePlayersPool()
        let other = try directory.makeQueue("players.db")
        try other.writeWithoutTransaction { db in
            try db.inTransaction(.immediate) {
                #expect { try pool.write { try $0.insertPlayer() } } throws: { isError(.SQLITE_BUSY)($0) }
                return .rollback
            }
        }
        try pool.write { try $0.insertPlayer() }
    }
}
