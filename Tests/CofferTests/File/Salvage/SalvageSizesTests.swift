import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

@Suite("Salvage of files that are shorter than their headers declare")
struct SalvageSizesTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private static let key = DatabaseKey.rawKey(ShellFile.key)

    private func result(_ name: String) -> SQLCipherShell {
        SQLCipherShell(path: directory.path(name), rawKey: ShellFile.key)
    }

    private func bytes(_ path: String) throws -> [UInt8] {
        try Array(Data(contentsOf: URL(fileURLWithPath: path)))
    }

    @Test(
        "a salvage of a file shorter than a page fails, or yields no rows and is incomplete",
        arguments: [0, 1, 100, 511, 600, 4095])
    func shorterThanAPage(size: Int) throws {
        let file = try ShellFile(
            directory.path("a.db"), format: .plaintext,
            script: "CREATE TABLE item (a); INSERT INTO item VALUES (1);")
        try Data(bytes(file.path).prefix(size)).write(to: URL(fileURLWithPath: file.path))
        do {
            let salvage = try DatabaseFile(path: file.path).salvage(
                key: nil, to: directory.path("b.db"), newKey: SalvageSizesTests.key)
            #expect(salvage.tables.isEmpty && salvage.lostRowCount == 0 && !salvage.isComplete, "\(salvage)")
        } catch let error as DatabaseFileError {
            // A failure must leave nothing.
            #expect(!directory.fileNames().contains("b.db"), "\(error)")
        }
    }

    @Test("a truncated file reports the size of its missing part")
    func cutOff() throws {
        let file = try directory.makeFile("a.db", rows: 800)
        let whole = try bytes(file.path)
        try Data(whole.prefix(whole.count / 2 + 100)).write(to: URL(fileURLWithPath: file.path))
        let salvage = try file.salvage(key: Keys.old, to: directory.path("b.db"))
        #expect(
            salvage.missingPageCount == whole.count / 4096 - whole.count / 2 / 4096 && !salvage.isComplete,
            "\(salvage)")
        #expect((1..<800).contains(salvage.tables[0].rowCount))
    }

    /// Makes a file of 1000 rows. All transactions but the last are in the file itself; the WAL contains the
    /// last row with a different title.
    ///
    /// - Returns: the number of pages.
    private func makeFileWithLog(_ name: String, isEncrypted: Bool) throws -> Int {
        var configuration = Configuration()
        if isEncrypted { configuration.key = SalvageSizesTests.key }
        configuration.allowsPlaintext = !isEncrypted
        configuration.journalMode = .wal
        let queue = try DatabaseQueue(path: directory.path("wal.db"), configuration: configuration)
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE item (id INTEGER PRIMARY KEY, title, content)")
            for id in 1...1000 {
                try db.execute(
                    sql: "INSERT INTO item VALUES (?, 'old', randomblob(700))", arguments: [id])
            }
        }
        try queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        try queue.write { try $0.execute(sql: "UPDATE item SET title = 'new' WHERE id = 1000") }
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(
                atPath: directory.path("wal.db") + suffix, toPath: directory.path(name) + suffix)
        }
        try queue.close()
        return try bytes(directory.path(name)).count / 4096
    }

    @Test(
        "the pages in the log of a truncated file are salvaged, and the missing pages are counted",
        arguments: [true, false])
    func cutOffWithLog(isEncrypted: Bool) throws {
        let pageCount = try makeFileWithLog("a.db", isEncrypted: isEncrypted)
        let path = directory.path("a.db")
        // Truncate in the middle of a page.
        try Data(bytes(path).prefix(20 * 4096 + 1000)).write(to: URL(fileURLWithPath: path))
        let salvage = try DatabaseFile(path: path).salvage(
            key: isEncrypted ? SalvageSizesTests.key : nil, to: directory.path("b.db"),
            newKey: SalvageSizesTests.key)
        #expect(salvage.pageCount == pageCount && salvage.missingPageCount == pageCount - 21, "\(salvage)")
        #expect(salvage.damagedPages.isEmpty && !salvage.isComplete && salvage.lostRowCount == 0)
        let table = try #require(salvage.tables.first)
        #expect(table.missingPageCount == pageCount - 21 && (50..<200).contains(table.rowCount))
        #expect(try result("b.db").run("SELECT id FROM item WHERE title = 'new'") == ["1000"])
        // Every row is either salvaged or reported as lost.
        let found = try result("b.db").run("SELECT id FROM item").compactMap(Int64.init)
        #expect(table.missingRowIDs.count == 1)
        let lost = table.missingRowIDs.flatMap { Array($0.clamped(to: 0...1001)) }
        #expect(Set(found).union(lost).isSuperset(of: 1...1000), "\(table)")
    }

    @Test("a log that claims more pages than possible, or has an impossible page number, loses no rows")
    func forgedLog() throws {
        let pageCount = try makeFileWithLog("a.db", isEncrypted: false)
        let path = directory.path("a.db")
        let log = try bytes(path + "-wal")
        #expect(log.count == 32 + 24 + 4096)
        for page in [nil, UInt32.max - 1] {
            var forged = log
            func set(_ offset: Int, _ value: UInt32) {
                for index in 0..<4 {
                    forged[offset + index] = UInt8(truncatingIfNeeded: value >> (24 - 8 * index))
                }
            }
            // A second frame, so the content of the first one stays unchanged.
            forged += log[32...]
            if let page { set(32 + 24 + 4096, page) }
            set(32 + 24 + 4096 + 4, UInt32.max - 1)
            LogSums.correct(&forged, pageSize: 4096)
            try Data(forged).write(to: URL(fileURLWithPath: path + "-wal"))
            let name = "b\(page ?? 0).db"
            var options = DatabaseFile.SalvageOptions()
            options.includesFreePages = true
            options.includesDamagedPages = true
            options.includesDamagedLog = true
            let salvage = try DatabaseFile(path: path).salvage(
                key: nil, to: directory.path(name), newKey: SalvageSizesTests.key, options: options)
            // As for SQLite, the number in the database header counts.
            #expect(salvage.pageCount == pageCount && salvage.tables[0].rowCount == 1000)
            #expect(salvage.damagedPages.isEmpty && salvage.tables[0].missingPageCount == 0)
            #expect(try result(name).run("SELECT id FROM item WHERE title = 'new'") == ["1000"])
            #expect(salvage.unassignedPages.isEmpty, "\(salvage)")

            // The same after a damaged frame.
            forged[32 + 24 + 100] ^= 1
            try Data(forged).write(to: URL(fileURLWithPath: path + "-wal"))
            let behind = try DatabaseFile(path: path).salvage(
                key: nil, to: directory.path("behind-" + name), newKey: SalvageSizesTests.key,
                options: options)
            #expect(behind.pageCount == pageCount && behind.tables[0].rowCount == 1000, "\(behind)")
        }
    }
}

/// The checksums of a WAL, which anyone can compute: <https://www.sqlite.org/fileformat2.html#walformat>.
private enum LogSums {
    /// Recomputes the checksums of all frames.
    static func correct(_ log: inout [UInt8], pageSize: Int) {
        let isBigEndian = log[3] & 1 == 1
        var sum: (UInt32, UInt32) = (0, 0)
        func word(_ offset: Int, isBigEndian: Bool) -> UInt32 {
            log[offset..<offset + 4].enumerated().reduce(0) {
                $0 | UInt32($1.element) << (8 * UInt32(isBigEndian ? 3 - $1.offset : $1.offset))
            }
        }
        func add(_ range: Range<Int>) {
            for offset in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
                sum.0 = sum.0 &+ word(offset, isBigEndian: isBigEndian) &+ sum.1
                sum.1 = sum.1 &+ word(offset + 4, isBigEndian: isBigEndian) &+ sum.0
            }
        }
        add(0..<24)
        for frame in stride(from: 32, to: log.count, by: 24 + pageSize) {
            add(frame..<frame + 8)
            add(frame + 24..<frame + 24 + pageSize)
            for (index, value) in [sum.0, sum.1].enumerated() {
                for byte in 0..<4 {
                    log[frame + 16 + 4 * index + byte] = UInt8(
                        truncatingIfNeeded: value >> (24 - 8 * UInt32(byte)))
                }
            }
        }
    }
}
