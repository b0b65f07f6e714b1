import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

/// A file with a part of a transaction, and the journal to undo it, as a killed process leaves them.
@Suite("A damaged rollback journal")
struct DamagedJournalTests {
    let directory: TestDirectory
    private static let key = DatabaseKey.rawKey(ShellFile.key)
    private var path: String { directory.path("a.db") }

    init() throws { directory = try TestDirectory() }

    /// - Parameters:
    ///   - before: SQL to run before the transaction.
    ///   - rows: the number of rows that the transaction changes.
    private func makeFiles(before: String = "PRAGMA cache_size = 3", rows: Int = 40) throws {
        var configuration = Configuration()
        configuration.key = DamagedJournalTests.key
        configuration.allowsUnsafeTransactions = true
        let queue = try DatabaseQueue(path: directory.path("live.db"), configuration: configuration)
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t (x)")
            for _ in 1...40 { try db.execute(sql: "INSERT INTO t VALUES ('old' || hex(randomblob(1000)))") }
        }
        try FileManager.default.copyItem(atPath: queue.path, toPath: directory.path("before.db"))
        try queue.inDatabase { db in
            try db.execute(sql: before)
            try db.execute(
                sql: "BEGIN; UPDATE t SET x = 'new' || substr(x, 4) WHERE rowid <= ?", arguments: [rows])
        }
        for suffix in ["", "-journal"] {
            try FileManager.default.copyItem(atPath: queue.path + suffix, toPath: path + suffix)
        }
        try queue.inDatabase { try $0.execute(sql: "ROLLBACK") }
        try queue.close()
    }

    private func change(_ name: String, at offset: Int) throws {
        var bytes = try directory.bytes(of: name)
        bytes[offset] ^= offset == 11 ? bytes[11] : 0x40
        try directory.write(bytes, to: name)
    }

    private func open() throws -> [String] {
        var configuration = Configuration()
        configuration.key = DamagedJournalTests.key
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? queue.close() }
        return try queue.read { try String.fetchAll($0, sql: "SELECT DISTINCT substr(x, 1, 3) FROM t") }
    }

    // In the header (11: no record is counted), in the first record, and in later ones.
    @Test(
        "is not used, and a half-written transaction is not treated as an intact file",
        arguments: [0, 9, 11, 13, 22, 26, 512 + 2, 512 + 4 + 96, 512 + 4 + 4096, 512 + 4104 + 4 + 4096])
    func damaged(offset: Int) throws {
        try makeFiles()
        try change("a.db-journal", at: offset)
        let before = try (directory.bytes(of: "a.db"), directory.bytes(of: "a.db-journal"))
        let refusal = EncryptionFailure.foreignSideFile(path: path + "-journal", isFileWhole: false)
        let error = #expect(throws: DatabaseError.self) { try open() }
        #expect(error?.encryptionFailure == refusal)
        let other = #expect(throws: DatabaseFileError.self) {
            try DatabaseFile(path: path).verify(key: DamagedJournalTests.key)
        }
        #expect(other?.reason == .key(refusal))
        #expect(try (directory.bytes(of: "a.db"), directory.bytes(of: "a.db-journal")) == before)

        // A salvage takes the originals that are left, and says that there may be others.
        let salvage = try DatabaseFile(path: path).salvage(
            key: DamagedJournalTests.key, to: directory.path("b.db"))
        #expect(salvage.tables.map(\.rowCount) == [40] && salvage.problems.count == 1, "\(salvage)")
        let shell = SQLCipherShell(path: directory.path("b.db"), rawKey: ShellFile.key)
        // Each page has one row. At most one record is damaged, but a damaged number of records (9, 11) hides
        // the later parts of the journal, and a damaged start of the checksums (13) the first part.
        let oldCount = try shell.run("SELECT count(*) FROM t WHERE substr(x, 1, 3) = 'old'").first
        #expect([9, 11, 13].contains(offset) || ["39", "40"].contains(oldCount))
    }

    @Test(
        "is not confused with the remains of an older journal (journal_mode = PERSIST)",
        arguments: [1, 2, 3, 5, 8, 13, 21], [("FULL", 1), ("FULL", 3), ("FULL", 12), ("OFF", 3), ("OFF", 12)])
    func older(changedRows: Int, _ older: (synchronous: String, cacheSize: Int)) throws {
        try makeFiles(
            before: """
                PRAGMA journal_mode = PERSIST; PRAGMA synchronous = \(older.synchronous);
                PRAGMA cache_size = \(older.cacheSize); UPDATE t SET x = 'mid' || substr(x, 4);
                PRAGMA cache_size = 1
                """,
            rows: changedRows)
        #expect(try DatabaseFile(path: path).verify(key: DamagedJournalTests.key).isIntact)
        let salvage = try DatabaseFile(path: path).salvage(
            key: DamagedJournalTests.key, to: directory.path("b.db"))
        #expect(salvage.isComplete, "\(salvage)")
        let shell = SQLCipherShell(path: directory.path("b.db"), rawKey: ShellFile.key)
        #expect(try shell.run("SELECT DISTINCT substr(x, 1, 3) FROM t") == ["mid"])
        #expect(try open() == ["mid"])
    }

    @Test("that is cut off anywhere in its header is not used", arguments: [1, 12, 23, 28, 511, 512, 600])
    func cutOff(size: Int) throws {
        try makeFiles()
        try directory.write(directory.bytes(of: "a.db-journal").prefix(size), to: "a.db-journal")
        // Without a record, nothing shows that there was a transaction.
        #expect(throws: Never.self) { try DatabaseFile(path: path).verify(key: DamagedJournalTests.key) }
    }

    @Test("an undamaged journal rolls back the transaction")
    func undamaged() throws {
        try makeFiles()
        #expect(try DatabaseFile(path: path).verify(key: DamagedJournalTests.key).isIntact)
        #expect(try open() == ["old"])
    }

    /// With `synchronous = NORMAL`, the number of records and the records are synced together.
    @Test("is used up to a part that was being synced when the power was lost")
    func unsyncedPart() throws {
        try makeFiles()
        var (bytes, journal) = try (directory.bytes(of: "a.db"), directory.bytes(of: "a.db-journal"))
        let before = try directory.bytes(of: "before.db")
        func word(at offset: Int) -> Int { journal[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
        // The last part with records: no page was written to the file before they were synced.
        let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
        let headers = stride(from: 0, to: journal.count, by: 512).filter {
            journal[$0...].starts(with: magic) && word(at: $0 + 8) > 0
        }
        let header = try #require(headers.last)
        #expect(header > 0)
        for index in 0..<word(at: header + 8) {
            let page = word(at: header + 512 + index * 4104)
            let place = (page - 1) * 4096..<page * 4096
            bytes.replaceSubrange(place, with: before[place])
        }
        try directory.write(bytes, to: "a.db")
        journal[header + 512 + 4 + 4096] ^= 1
        try directory.write(journal, to: "a.db-journal")
        #expect(try DatabaseFile(path: path).verify(key: DamagedJournalTests.key).isIntact)
        #expect(try open() == ["old"])
    }

    @Test("is ignored if the file was not changed yet: a loss of power may leave it")
    func untouched() throws {
        try makeFiles()
        let journal = try directory.bytes(of: "a.db-journal")
        #expect(try open() == ["old"])
        // The originals are in the file now.
        try directory.write(journal, to: "a.db-journal")
        try change("a.db-journal", at: 512 + 4 + 4096)
        #expect(try DatabaseFile(path: path).verify(key: DamagedJournalTests.key).isIntact)
        #expect(try open() == ["old"])
    }
}
