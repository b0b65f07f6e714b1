import CofferTestSupport
import Foundation
import SQLCipherBridge
import Testing

@testable import Coffer

@Suite("Verifying a file")
struct FileVerificationTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test("an intact file has no findings, and nothing is changed or left behind", arguments: [false, true])
    func intact(wal: Bool) throws {
        let file = try directory.makeFile(wal: wal)
        let before = try directory.snapshot()
        var options = DatabaseFile.VerificationOptions()
        options.structure = .full
        var last = 0
        let result = try file.verify(key: Keys.old, options: options) {
            if $0.phase == .verifying { last = $0.completedPageCount }
        }
        #expect(result.isIntact && result.isAuthenticated)
        #expect(result.cipher == CipherSettings())
        #expect(result.pageCount * 4096 == before["a.db"]?.count)
        #expect(last == result.pageCount)
        #expect(result.pageCountFromLog == 0)
        let contents = try file.inspect(key: Keys.old)
        #expect(
            contents.format == 4 && contents.tables == ["implicit", "t"] && contents.userVersion == 42
                && contents.applicationID == 1234)
        #expect(contents.journalMode == (wal ? "wal" : "delete"))
        #expect(contents.pageCount == result.pageCount && contents.freePageCount > 0)
        #expect(try directory.snapshot() == before)
    }

    @Test("the schema of a file that is verified is not trusted")
    func untrustedSchema() throws {
        let file = try directory.makeFile(wal: false)
        let opened = try OpenedView(file.path, key: Keys.old, cipher: nil, timeout: 0)
        #expect(try opened.handle?.firstText(trusted: "PRAGMA trusted_schema") == "0")
    }

    @Test("a file can be inspected without a key")
    func inspectWithoutKey() throws {
        let file = try directory.makeFile(wal: true)
        try directory.write([1, 2, 3], to: "short")
        try directory.write([], to: "empty")
        try directory.write([UInt8](repeating: 7, count: 8192), to: "regular")
        _ = try directory.makeFile("plain.db", rows: 3) {
            $0.key = nil; $0.allowsPlaintext = true
        }
        // A note that has not been written yet is accessible only to its owner.
        try directory.write([], to: "a.db.rotate.json")
        try #require(unsafe chmod(directory.path("a.db.rotate.json"), 0o600) == 0)
        let before = try directory.snapshot()
        let inspection = try file.inspect()
        #expect(inspection.kind == .encrypted && inspection.pageSize == 4096 && inspection.isPageSizeGuessed)
        #expect(inspection.salt == Array(before["a.db"]?.prefix(16) ?? []))
        #expect(inspection.linkCount == 1 && inspection.mode == 0o600 && inspection.companions.isEmpty)
        #expect(inspection.leftovers == [directory.path("a.db.rotate.json")])
        #expect(try DatabaseFile(path: directory.path("short")).inspect().kind == .notADatabase)
        #expect(try DatabaseFile(path: directory.path("regular")).inspect().kind == .notADatabase)
        #expect(try DatabaseFile(path: directory.path("empty")).inspect().kind == .empty)
        let plain = try DatabaseFile(path: directory.path("plain.db")).inspect()
        #expect(
            plain.kind == .plaintext && plain.pageSize == 4096 && !plain.isPageSizeGuessed
                && plain.salt == nil)
        #expect(reason { _ = try DatabaseFile(path: directory.path("none")).inspect() } == .missing)
        #expect(try DatabaseFile(path: directory.path("plain.db")).verify(key: nil).isIntact)
        #expect(
            try DatabaseFile(path: directory.path("plain.db")).inspect(key: nil).tables == ["implicit", "t"])
        #expect(try directory.snapshot() == before)
    }

    @Test("formats 1 to 4 are detected", arguments: 1...4)
    func formats(format: Int) throws {
        let file = try directory.makeFile(key: .passphrase("p"), rows: 20) {
            $0.cipher = .sqlcipher(format: format)
        }
        let result = try file.verify(key: .passphrase("p"))
        #expect(result.isIntact && result.cipher == .sqlcipher(format: format))
        #expect(result.isAuthenticated == (format > 1))
        #expect(try file.inspect(key: .passphrase("p")).format == format)
    }

    @Test("a wrong key, a missing key and a file that is not a database are typed errors")
    func refusals() throws {
        let file = try directory.makeFile()
        #expect(reason { _ = try file.verify(key: Keys.other) } == .key(.wrongKey))
        #expect(reason { _ = try file.verify(key: nil) } == .key(.noKey))
        #expect(reason { _ = try file.inspect(key: Keys.other) } == .key(.wrongKey))
        _ = try directory.makeFile("plain.db", rows: 3) {
            $0.key = nil; $0.allowsPlaintext = true
        }
        #expect(
            reason { _ = try DatabaseFile(path: directory.path("plain.db")).verify(key: Keys.old) }
                == .key(.plaintextFile))
        #expect(
            reason { _ = try DatabaseFile(path: directory.path).verify(key: Keys.old) }
                == .unsafeFile(.notARegularFile))
    }

    @Test("one changed byte in each region of every page is found, and the page is named")
    func changedBytes() throws {
        let file = try directory.makeFile(rows: 60)
        let intact = try directory.bytes(of: "a.db")
        var random = SeededRandom("changed bytes")
        for page in 1...intact.count / 4096 {
            // Start, content, IV, MAC, padding. The MAC does not cover the padding.
            for region in [0..<16, 16..<4016, 4016..<4032, 4032..<4096] {
                let offset = (page - 1) * 4096 + Int.random(in: region, using: &random)
                var bytes = intact
                bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                try directory.write(bytes, to: "a.db")
                let result = try file.verify(key: Keys.old)
                #expect(result.damagedPages == [page], "page \(page), offset \(offset)")
            }
        }
        try directory.write(intact, to: "a.db")
        #expect(try file.verify(key: Keys.old).isIntact)
    }

    @Test("a never-written free page that a table also uses is structural damage")
    func freePageInUse() throws {
        let file = try directory.makeFile()
        var configuration = Configuration()
        configuration.key = Keys.old
        let queue = try DatabaseQueue(path: file.path, configuration: configuration)
        let page = try queue.write { db in
            let pages = try PageFile(db.handle, .encrypted(Keys.old, cipher: CipherSettings()))
            let page = try #require(
                FreeList.leaves(pageCount: pages.pageCount, content: pages.content).max())
            try db.execute(sql: "PRAGMA writable_schema = ON")
            try db.execute(
                sql: "UPDATE sqlite_master SET rootpage = ? WHERE name = 'implicit'", arguments: [page])
            return page
        }
        try queue.close()
        var bytes = try directory.bytes(of: "a.db")
        for offset in (page - 1) * 4096..<page * 4096 { bytes[offset] = 0 }
        try directory.write(bytes, to: "a.db")
        let result = try file.verify(key: Keys.old)
        #expect(result.damagedPages.isEmpty)
        #expect(result.findings.count == 1, "\(result.findings)")
    }

    @Test("a page that changes between two reads is a finding")
    func pageThatChanges() throws {
        // More than the page cache can hold, so the engine reads all rows twice.
        let file = try directory.makeFile(rows: 1)
        let queue = try directory.makeQueue("a.db", .rawKeyed.with { $0.key = Keys.old })
        try queue.write { db in
            try db.execute(
                sql: """
                    WITH n (i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n LIMIT 10000)
                    INSERT INTO t SELECT i, NULL, randomblob(1000) FROM n
                    """)
        }
        try queue.close()
        #expect(try file.verify(key: Keys.old).isIntact)
        let bytes = try directory.bytes(of: "a.db")
        let protection = try FileProtection.encrypted(Keys.old, cipher: CipherSettings())
        // The b-trees are checked from the end, so this page is no longer in the cache.
        let page = bytes.count / 4096 * 9 / 10
        for readCount in [1, 2] {
            let stored = ChangingBytes(bytes, page: page, readCount: readCount)
            let content = try DecryptedContent(checkingCodesOf: stored, protection)
            let damage = try content.findings(.quick, progress: ProgressReport(nil)).damage
            #expect(damage.count == 1 && damage[0].contains("page \(page)"), "\(readCount): \(damage)")
        }
    }

    /// Stored pages, one of which changes after it has been read a number of times.
    private final class ChangingBytes: StoredBytes {
        private var bytes: [UInt8]
        private let page: Int
        private var readCount: Int
        var size: Int64 { Int64(bytes.count) }

        init(_ bytes: [UInt8], page: Int, readCount: Int) {
            (self.bytes, self.page, self.readCount) = (bytes, page, readCount)
        }

        func read(at offset: Int64, into target: inout MutableSpan<UInt8>) throws -> Int {
            let place = Int(offset)..<min(Int(offset) + target.count, bytes.count)
            if place.contains((page - 1) * 4096) {
                readCount -= 1
                if readCount == 0 { bytes[(page - 1) * 4096] ^= 1 }
            }
            let bytes = bytes
            target.copy(bytes.span.extracting(place))
            return place.count
        }
    }

    @Test("a header that claims four billion pages costs neither memory nor time")
    func forgedSize() throws {
        let plain = try directory.makeFile("plain.db", rows: 3) {
            $0.key = nil; $0.allowsPlaintext = true
        }
        var bytes = try directory.bytes(of: "plain.db")
        let count = bytes.count / 4096
        bytes.replaceSubrange(28..<32, with: [0xff, 0xff, 0xff, 0xfe])
        try directory.write(bytes, to: "plain.db")
        let result = try plain.verify(key: nil)
        let lockPage = 262_145
        #expect(
            result.findings == [
                .missing(pages: count + 1...lockPage - 1), .missing(pages: lockPage + 1...0xffff_fffe),
            ])
        #expect(result.damagedPageCount == 0xffff_fffe - 1 - count && result.damagedPages.count == 2000)
    }

    @Test("truncation at any multiple of 512 bytes is found, and excess bytes are counted")
    func sizes() throws {
        let file = try directory.makeFile(rows: 30)
        let intact = try directory.bytes(of: "a.db")
        for size in stride(from: 4096, to: intact.count, by: 512) {
            try directory.write(intact.prefix(size), to: "a.db")
            let result = try file.verify(key: Keys.old)
            let missing = size / 4096 + 1...intact.count / 4096
            #expect(result.findings == [.missing(pages: missing)], "\(size)")
            #expect(result.damagedPages == Array(missing), "\(size)")
        }
        for size in stride(from: 512, to: 4096, by: 512) {
            try directory.write(intact.prefix(size), to: "a.db")
            #expect(throws: DatabaseFileError.self) { try file.verify(key: Keys.old) }
        }
        for growth in stride(from: 512, through: 8192, by: 512) {
            try directory.write(intact + [UInt8](repeating: UInt8(growth / 512), count: growth), to: "a.db")
            let result = try file.verify(key: Keys.old)
            #expect(result.isIntact && result.trailingByteCount == Int64(growth))
        }
    }

    @Test(
        "pages that were exchanged, taken from a copy with another salt, or overwritten with zeros are found")
    func exchangedPages() throws {
        let file = try directory.makeFile(rows: 60)
        let intact = try directory.bytes(of: "a.db")
        let other = try directory.makeFile("b.db", rows: 60)
        let foreign = try directory.bytes(of: "b.db")
        #expect(try other.verify(key: Keys.old).isIntact)
        let count = min(intact.count, foreign.count) / 4096
        func page(_ number: Int) -> Range<Int> { (number - 1) * 4096..<number * 4096 }
        var zeroed = 0
        defer { #expect(zeroed > 3) }
        for number in 2...count - 1 {
            var bytes = intact
            bytes.replaceSubrange(page(number), with: intact[page(number + 1)])
            bytes.replaceSubrange(page(number + 1), with: intact[page(number)])
            try directory.write(bytes, to: "a.db")
            #expect(try file.verify(key: Keys.old).damagedPages == [number, number + 1])
            bytes = intact
            bytes.replaceSubrange(page(number), with: foreign[page(number)])
            try directory.write(bytes, to: "a.db")
            #expect(try file.verify(key: Keys.old).damagedPages == [number])
            bytes = intact
            bytes.replaceSubrange(page(number), with: [UInt8](repeating: 0, count: 4096))
            try directory.write(bytes, to: "a.db")
            let findings = try file.verify(key: Keys.old).findings
            // A zeroed free page was never written, which is fine.
            #expect(findings == [.zeroed(page: number)] || findings.isEmpty)
            zeroed += findings.count
            if number == 2 { #expect(findings == [.zeroed(page: number)]) }
            if !findings.isEmpty {
                #expect(reason { try file.rotate(from: Keys.old, to: Keys.new) } == .damaged(pages: [number]))
            }
        }
    }

    @Test("a rotation reports the damaged pages, and does not change the file")
    func rotationOfDamagedFile() throws {
        let file = try directory.makeFile()
        var bytes = try directory.bytes(of: "a.db")
        for page in [9, 30] { bytes[page * 4096 + 100] ^= 1 }
        try directory.write(bytes, to: "a.db")
        let before = try directory.snapshot()
        #expect(reason { try file.rotate(from: Keys.old, to: Keys.new) } == .damaged(pages: [10, 31]))
        #expect(try directory.snapshot() == before)
    }

    @Test(
        "a write-ahead log is verified in the state that a reader sees, damage in it is found, and it stays unchanged"
    )
    func writeAheadLog() throws {
        let writer = try directory.makePool("a.db")
        try writer.write { try $0.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, b BLOB)") }
        try writer.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        try writer.write { db in
            for _ in 0..<200 { try db.execute(sql: "INSERT INTO t (b) VALUES (randomblob(500))") }
        }
        // The state that a killed process leaves.
        for name in ["a.db", "a.db-wal"] {
            try directory.write(directory.bytes(of: name), to: name.replacing("a.db", with: "b.db"))
        }
        let live = try DatabaseFile(path: directory.path("a.db")).verify(key: Keys.old)
        #expect(live.isIntact && live.pageCountFromLog > 20)
        try writer.close()

        let file = DatabaseFile(path: directory.path("b.db"))
        let before = try directory.snapshot()
        let result = try file.verify(key: Keys.old)
        #expect(
            result.isIntact && result.pageCount == live.pageCount
                && result.pageCountFromLog == live.pageCountFromLog)
        #expect(try file.inspect(key: Keys.old).pageCount == live.pageCount)
        #expect(try file.inspect().companions.map(\.role) == [.wal])
        #expect(try directory.snapshot() == before)

        // Damage to a page does not matter to a reader if its content is in the WAL.
        var bytes = try directory.bytes(of: "b.db")
        bytes[4096 + 200] ^= 1
        try directory.write(bytes, to: "b.db")
        #expect(try file.verify(key: Keys.old).isIntact)

        // For SQLite, a damaged frame ends the WAL, which loses the rows after it.
        var log = try directory.bytes(of: "b.db-wal")
        log[log.count / 2] ^= 1
        try directory.write(log, to: "b.db-wal")
        #expect(try !file.verify(key: Keys.old).isIntact)
    }

    @Test("a hot journal is taken into account by a verification, and stays unchanged")
    func hotJournal() throws {
        let file = try directory.makeFile(rows: 300)
        let old = try directory.content(key: Keys.old)
        let queue = try directory.makeQueue("a.db", .rawKeyed.with { $0.pageCacheSize = 16 * 1024 })
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try queue.write { db in
                try db.execute(sql: "UPDATE t SET a = a || 'x', b = randomblob(400)")
                try db.execute(sql: "INSERT INTO t (a) VALUES ('y')")
                // The cache is too small for the transaction, so the file contains parts of it.
                for name in ["a.db", "a.db-journal"] {
                    try directory.write(directory.bytes(of: name), to: name.replacing("a.db", with: "b.db"))
                }
                throw Stop()
            }
        }
        try queue.close()
        #expect(try directory.bytes(of: "b.db") != directory.bytes(of: "a.db"))
        let crashed = DatabaseFile(path: directory.path("b.db"))
        let before = try directory.snapshot()
        let result = try crashed.verify(key: Keys.old)
        #expect(result.isIntact && result.pageCountFromLog > 0)
        #expect(try crashed.inspect(key: Keys.old).pageCount == result.pageCount)
        #expect(try directory.snapshot() == before)
        #expect(try file.verify(key: Keys.old).pageCount == result.pageCount)
        // A rotation rolls it back first, as every connection does.
        try crashed.rotate(from: Keys.old, to: Keys.new)
        #expect(try directory.content("b.db", key: Keys.new) == old)
        #expect(directory.fileNames() == ["a.db", "b.db"])
    }

    @Test("pages that were never written, because they were free at the commit, are not damage")
    func holes() throws {
        let file = try directory.makeFile(rows: 10)
        let queue = try directory.makeQueue()
        try queue.write { db in
            try db.execute(
                sql:
                    "CREATE TABLE u (a); INSERT INTO u VALUES (zeroblob(400000)); CREATE TABLE v (a); DROP TABLE u"
            )
            try db.execute(sql: "INSERT INTO v VALUES (randomblob(3000))")
        }
        try queue.close()
        #expect(try file.verify(key: Keys.old).isIntact)
        try file.rotate(from: Keys.old, to: Keys.new)
        #expect(try file.verify(key: Keys.new).isIntact)
    }

    @Test("a file that a pool is writing is verified as intact, or is reported as busy")
    func live() async throws {
        let pool = try directory.makePool()
        try await pool.write { try Bank.open($0) }
        let file = DatabaseFile(path: pool.path)
        let writer = Task {
            var number = 0
            while !Task.isCancelled {
                number += 1
                let current = number
                try await pool.write { try Bank.transfer($0, teller: 1, number: current, noteSize: 2000) }
                if number.isMultiple(of: 20) {
                    try await pool.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
                }
            }
        }
        var busy = 0
        for _ in 0..<20 {
            do {
                #expect(try file.verify(key: Keys.old).isIntact)
            } catch let error as DatabaseFileError {
                guard case .busy = error.reason else { throw error }
                busy += 1
            }
        }
        writer.cancel()
        _ = try? await writer.value
        #expect(try file.verify(key: Keys.old).isIntact)
        try await pool.read { try Bank.audit($0) }
        #expect(busy < 20)
    }

    @Test("a wrong key is reported as wrong, not as busy, during constant writes by a pool")
    func wrongKeyBesideWriter() async throws {
        let pool = try directory.makePool()
        try await pool.write { try Bank.open($0) }
        let writer = Task {
            var number = 0
            while !Task.isCancelled {
                number += 1
                let current = number
                try await pool.write { try Bank.transfer($0, teller: 1, number: current, noteSize: 100) }
            }
        }
        let file = DatabaseFile(path: pool.path)
        for _ in 0..<5 {
            let error = #expect(throws: DatabaseFileError.self) { try file.verify(key: Keys.new) }
            #expect(error?.reason == .key(.wrongKey))
        }
        writer.cancel()
        _ = try? await writer.value
    }

    @Test("it can be ended by progress, and by the cancellation of the task")
    func cancellation() async throws {
        struct Stop: Error {}
        let file = try directory.makeFile()
        #expect(throws: Stop.self) { try file.verify(key: Keys.old) { _ in throw Stop() } }
        #expect(throws: Stop.self) {
            try file.verify(key: Keys.old) { if $0.phase == .checkingStructure { throw Stop() } }
        }
        let task = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try file.verify(key: Keys.old)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
