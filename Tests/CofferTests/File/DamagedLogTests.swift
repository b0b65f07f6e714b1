import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

/// A log of a crashed process with a damaged frame or header, and transactions after it.
@Suite("A damaged write-ahead log")
struct DamagedLogTests {
    enum Damage: CaseIterable {
        case frame, header

        /// The offset of a damaged byte in a log with frames of 4096 bytes.
        var offset: Int { self == .frame ? 32 + 24 + 4096 + 24 + 500 : 24 }
    }

    let directory: TestDirectory
    private static let key = DatabaseKey.rawKey(ShellFile.key)
    private var path: String { directory.path("a.db") }
    private var file: DatabaseFile { DatabaseFile(path: path) }

    init() throws { directory = try TestDirectory() }

    /// Makes the files of a process that was killed after it had created a table in the file, and inserted
    /// rows by single transactions into the log, each of one frame.
    private func makeFiles(rows: Int) throws {
        for name in directory.fileNames() { try FileManager.default.removeItem(atPath: directory.path(name)) }
        var configuration = Configuration()
        configuration.key = DamagedLogTests.key
        configuration.journalMode = .wal
        let queue = try DatabaseQueue(path: directory.path("live.db"), configuration: configuration)
        try queue.write { try $0.execute(sql: "CREATE TABLE t (x)") }
        try queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        for row in 1...rows { try queue.write { try $0.execute(sql: "INSERT INTO t VALUES (\(row))") } }
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(
                atPath: directory.path("live.db") + suffix, toPath: path + suffix)
        }
        try queue.close()
    }

    private func damage(_ damage: Damage) throws {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
        bytes[damage.offset] ^= 1
        try bytes.write(to: URL(fileURLWithPath: path + "-wal"))
    }

    /// Returns the number of transactions that a verification counts after damage.
    private func unreadCount() throws -> Int {
        let result = try file.verify(key: DamagedLogTests.key)
        #expect(result.isIntact)
        return result.unreadCommitCount
    }

    @Test(
        "has transactions that SQLite does not read: a verification counts them", arguments: Damage.allCases)
    func damaged(damage: Damage) throws {
        try makeFiles(rows: 6)
        #expect(try unreadCount() == 0)
        try self.damage(damage)
        let count = damage == .frame ? 5 : 6
        #expect(try unreadCount() == count)

        var options = DatabaseFile.SalvageOptions()
        options.includesDamagedLog = true
        let salvage = try file.salvage(
            key: DamagedLogTests.key, to: directory.path("b.db"), options: options)
        // All rows are on one page: its last content has them all.
        #expect(salvage.lostRowCount == count && !salvage.isComplete, "\(salvage)")

        let newKey = DatabaseKey.rawKey([UInt8](repeating: 7, count: 32))
        #expect(try file.rotate(from: DamagedLogTests.key, to: newKey).isChanged)
        #expect(try file.verify(key: newKey).unreadCommitCount == 0)
    }

    @Test("has no unread transactions if a crash during a commit may have caused the damage")
    func crash() throws {
        try makeFiles(rows: 2)
        // The only transaction after the damage is the one that may not have been reported.
        try damage(.frame)
        #expect(try unreadCount() == 0)
        // An incomplete frame at the end.
        try makeFiles(rows: 6)
        let log = try FileHandle(forUpdating: URL(fileURLWithPath: path + "-wal"))
        try log.truncate(atOffset: UInt64(32 + 5 * (24 + 4096) + 100))
        try log.close()
        #expect(try unreadCount() == 0)
    }

    @Test("is not checked for unread transactions while a process uses it")
    func inUse() throws {
        try makeFiles(rows: 6)
        var configuration = Configuration()
        configuration.key = DamagedLogTests.key
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 6)
        try damage(.header)
        #expect(try UnreadCommits.count(path) == 0)
        try queue.close()
    }
}
