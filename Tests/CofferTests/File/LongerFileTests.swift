import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

/// Files with bytes after the last page of their database, which SQLite does not read.
@Suite("Files that are longer than their database")
struct LongerFileTests {
    private let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    enum Tail: String, CaseIterable {
        case oneByte, partialPage, zeroPage, zeroPages, garbagePages, formerPages

        /// - Parameters:
        ///   - pageCount: the number of pages of the database.
        ///   - former: the bytes of the file from when it had more pages.
        func bytes(after pageCount: Int, former: [UInt8], pageSize: Int) -> [UInt8] {
            var random = SeededRandom("tail \(self)")
            func noise(_ count: Int) -> [UInt8] {
                (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            }
            switch self {
            case .oneByte: return [7]
            case .partialPage: return noise(pageSize / 3)
            case .zeroPage: return [UInt8](repeating: 0, count: pageSize)
            case .zeroPages: return [UInt8](repeating: 0, count: 5 * pageSize + 100)
            case .garbagePages: return noise(3 * pageSize)
            // As after a crash between a commit and the truncation of the file.
            case .formerPages: return Array(former[(pageCount * pageSize)...])
            }
        }
    }

    /// A file with a tail, and its original size and content.
    private struct LongerFile {
        let file: DatabaseFile
        let bytes: [UInt8]
        let size: Int
        let tailSize: Int
        let pageSize: Int
        let content: [String]
    }

    private func make(
        _ tail: Tail, key: DatabaseKey? = Keys.old, wal: Bool,
        _ change: (inout Configuration) -> Void = { _ in }
    ) throws -> LongerFile {
        let file = try directory.makeFile(key: key ?? Keys.old, wal: wal, rows: 60) {
            $0.key = key
            change(&$0)
        }
        let former = try directory.bytes(of: "a.db")
        var configuration = Configuration()
        configuration.key = key
        change(&configuration)
        let queue = try DatabaseQueue(path: file.path, configuration: configuration)
        // This removes the free pages.
        try queue.vacuum()
        try queue.close()
        let content = try content("a.db", key, change)
        let whole = try directory.bytes(of: "a.db")
        let pageSize = try file.inspect(key: key).pageSize
        try #require(whole.count < former.count && whole.count.isMultiple(of: pageSize))
        let bytes = tail.bytes(after: whole.count / pageSize, former: former, pageSize: pageSize)
        try directory.write(whole + bytes, to: "a.db")
        return LongerFile(
            file: file, bytes: whole + bytes, size: whole.count, tailSize: bytes.count, pageSize: pageSize,
            content: content)
    }

    private func content(
        _ name: String, _ key: DatabaseKey?, _ change: (inout Configuration) -> Void = { _ in }
    ) throws -> [String] {
        try directory.content(name, key: Keys.old) {
            change(&$0)
            $0.key = key
            $0.allowsPlaintext = key == nil
        }
    }

    /// Restores the longer file and removes everything else.
    private func reset(_ sample: LongerFile) throws {
        for name in directory.fileNames() { try FileManager.default.removeItem(atPath: directory.path(name)) }
        try directory.write(sample.bytes, to: "a.db")
        try #require(unsafe chmod(directory.path("a.db"), 0o600) == 0)
    }

    private func size(_ name: String) throws -> Int { try directory.bytes(of: name).count }

    @Test("every operation accepts them", arguments: Tail.allCases, [false, true])
    func everyOperation(tail: Tail, wal: Bool) throws {
        let sample = try make(tail, wal: wal)
        let file = sample.file
        func check(_ name: String, _ key: DatabaseKey, hasSize: Bool = true) throws {
            #expect(try content(name, key) == sample.content, "\(name)")
            let found = try DatabaseFile(path: directory.path(name)).verify(key: key)
            #expect(found.isIntact && found.trailingByteCount == 0, "\(name): \(found)")
            if hasSize { #expect(try size(name) == sample.size, "\(name)") }
        }
        if SQLCipherShell.isAvailable {
            let shell = SQLCipherShell(path: file.path)
            #expect(try shell.run("PRAGMA integrity_check; SELECT count(*) FROM t;") == ["ok", "60"])
            try reset(sample)
        }

        let before = try directory.snapshot()
        for structure in [DatabaseFile.VerificationOptions.StructureCheck.quick, .full] {
            var options = DatabaseFile.VerificationOptions()
            options.structure = structure
            let found = try file.verify(key: Keys.old, options: options)
            #expect(found.isIntact && found.contentFindings.isEmpty, "\(found)")
            #expect(found.pageCount * sample.pageSize == sample.size)
            #expect(found.trailingByteCount == Int64(sample.tailSize))
        }
        #expect(try file.inspect().kind == .encrypted)
        #expect(try file.inspect(key: Keys.old).pageCount * sample.pageSize == sample.size)
        #expect(reason { try file.verify(key: Keys.other) } == .key(.wrongKey))
        #expect(try directory.snapshot() == before)

        try file.rotate(from: Keys.old, to: Keys.new)
        try check("a.db", Keys.new)

        try reset(sample)
        var inPlace = DatabaseFile.RotationOptions()
        inPlace.method = .inPlace
        try file.rotate(from: Keys.old, to: Keys.new, options: inPlace)
        try check("a.db", Keys.new)

        try reset(sample)
        for whileInUse in [nil, DatabaseFile.WhileInUse()] {
            let pool = try directory.makePool()
            var options = DatabaseFile.RotationOptions()
            options.whileInUse = whileInUse
            try pool.write { try $0.execute(sql: "INSERT INTO t VALUES (1000, 'new', NULL)") }
            _ = try pool.rotateKey(to: Keys.new, options: options)
            try pool.write { try $0.execute(sql: "DELETE FROM t WHERE id = 1000") }
            try pool.close()
            try check("a.db", Keys.new, hasSize: false)
            try reset(sample)
        }

        try file.backup(to: directory.path("b.db"), key: Keys.old)
        try check("b.db", Keys.old)
        try file.backup(to: directory.path("c.db"), key: Keys.old, newKey: Keys.new)
        try check("c.db", Keys.new)
        var samePages = DatabaseFile.ConversionOptions()
        samePages.keepsStoredPages = true
        try file.backup(to: directory.path("d.db"), key: Keys.old, options: samePages)
        try check("d.db", Keys.old)
        #expect(try directory.bytes(of: "d.db") == Array(sample.bytes.prefix(sample.size)))
        try file.vacuum(into: directory.path("e.db"), key: Keys.old)
        try check("e.db", Keys.old, hasSize: false)
        #expect(
            try file.difference(from: DatabaseFile(path: directory.path("b.db")), key: Keys.old).isEmpty)
        #expect(
            try DatabaseFile(path: directory.path("b.db")).difference(from: file, key: Keys.old).isEmpty)
        try DatabaseFile(path: directory.path("f.db")).restore(from: file.path, key: Keys.old)
        try check("f.db", Keys.old)
        try file.decrypt(
            to: directory.path("g.db"), key: Keys.old, confirming: .contentBecomesReadableByAnyone)
        #expect(try content("g.db", nil) == sample.content)
        let salvage = try file.salvage(key: Keys.old, to: directory.path("h.db"))
        #expect(salvage.isComplete && salvage.pageCount * sample.pageSize == sample.size, "\(salvage)")
        try check("h.db", Keys.old, hasSize: false)
        do {
            let queue = try directory.makeQueue()
            let other = try directory.makeQueue("i.db")
            try queue.backup(to: other)
            try queue.vacuum(into: directory.path("j.db"))
            try queue.close()
            try other.close()
            try check("i.db", Keys.old)
            try check("j.db", Keys.old, hasSize: false)
        }
        #expect(try size("a.db") == sample.bytes.count)

        try DatabaseFile(path: directory.path("a.db")).restore(
            from: directory.path("b.db"), key: Keys.old)
        try check("a.db", Keys.old)
        try reset(sample)
        try file.vacuum(key: Keys.old)
        try check("a.db", Keys.old, hasSize: false)
        try reset(sample)
        try file.decrypt(key: Keys.old, confirming: .contentBecomesReadableByAnyone)
        #expect(try content("a.db", nil) == sample.content)
    }

    @Test("an older format is upgraded, and a file without encryption is encrypted", arguments: Tail.allCases)
    func otherForms(tail: Tail) throws {
        for format in 1...3 {
            let older = try make(tail, key: .passphrase("p"), wal: false) {
                $0.cipher = .sqlcipher(format: format)
            }
            var options = DatabaseFile.VerificationOptions()
            options.cipher = .sqlcipher(format: format)
            #expect(try older.file.verify(key: .passphrase("p"), options: options).isIntact, "\(format)")
            try older.file.upgrade(key: .passphrase("p"))
            #expect(try content("a.db", .passphrase("p")) == older.content)
            try FileManager.default.removeItem(atPath: older.file.path)
        }
        let plain = try make(tail, key: nil, wal: false) { $0.allowsPlaintext = true }
        #expect(try plain.file.verify(key: nil).isIntact)
        #expect(try plain.file.salvage(key: nil, to: directory.path("h.db"), newKey: Keys.old).isComplete)
        try plain.file.encrypt(to: directory.path("e.db"), key: Keys.old)
        #expect(try content("e.db", Keys.old) == plain.content)
        try plain.file.vacuum(key: nil)
        #expect(try content("a.db", nil) == plain.content)
        try reset(plain)
        try plain.file.encrypt(key: Keys.old)
        #expect(try content("a.db", Keys.old) == plain.content)
    }

    @Test(
        "damage before the tail is reported, and so are the missing pages of a truncated file",
        arguments: Tail.allCases)
    func damageIsFound(tail: Tail) throws {
        let sample = try make(tail, wal: false)
        let pageCount = sample.size / sample.pageSize
        var bytes = sample.bytes
        bytes[(pageCount - 1) * sample.pageSize + 100] ^= 1
        try directory.write(bytes, to: "a.db")
        #expect(
            try sample.file.verify(key: Keys.old).findings == [.notAuthentic(page: pageCount)])
        #expect(
            reason { try sample.file.rotate(from: Keys.old, to: Keys.new) } == .damaged(pages: [pageCount]))
        let salvage = try sample.file.salvage(key: Keys.old, to: directory.path("h.db"))
        #expect(salvage.damagedPages == [pageCount] && salvage.missingPageCount == 0)
        // The header has a page count that exceeds the file, and the last page is cut off in the middle.
        try directory.write(sample.bytes.prefix(sample.size - 100), to: "a.db")
        let found = try sample.file.verify(key: Keys.old)
        #expect(found.findings == [.missing(pages: pageCount...pageCount)] && found.trailingByteCount == 0)
    }
}
