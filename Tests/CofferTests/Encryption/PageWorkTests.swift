import CofferTestSupport
import Foundation
import SQLCipherBridge
import Testing

@testable import Coffer

@Suite("The memo of verified pages")
struct PageWorkTests {
    private let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private static var isInstalled: Bool {
        if case .kept? = try? Engine.pageProvider { true } else { false }
    }

    private func configuration(_ change: (inout CipherSettings) -> Void = { _ in }) -> Configuration {
        Configuration.rawKeyed.with { change(&$0.cipher) }
    }

    private func open(_ access: Access) throws -> any DatabaseWriter {
        switch access {
        case .queue: try DatabaseQueue(path: directory.path("a.db"), configuration: configuration())
        case .pool: try DatabasePool(path: directory.path("a.db"), configuration: configuration())
        }
    }

    private static let fill = """
        CREATE TABLE item (id INTEGER PRIMARY KEY, content BLOB);
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 400) INSERT INTO item SELECT \
        i, randomblob(700) FROM n
        """
    private static let read = "SELECT sum(length(hex(content))) FROM item"

    /// Empties the page cache of a connection but keeps the memo.
    private func readAgain(_ db: Database) throws -> Int? {
        try db.execute(sql: "PRAGMA shrink_memory")
        return try Int.fetchOne(db, sql: PageWorkTests.read)
    }

    private func memo(_ db: Database) throws -> PageMemo { try #require(db.keying.keys.pageMemo) }

    // MARK: Refusal

    enum Place: CaseIterable {
        case content, initializationVector, firstOfCode, lastOfCode
    }

    @Test(
        "a flipped bit is detected even if its page was in the memo",
        .enabled(if: PageWorkTests.isInstalled),
        arguments: [1024, 4096, 65536], Place.allCases)
    func flippedBit(_ pageSize: Int, _ place: Place) throws {
        for page in [1, 4] {
            let name = "\(page).db"
            let queue = try DatabaseQueue(
                path: directory.path(name), configuration: configuration { $0.pageSize = pageSize })
            try queue.write { try $0.execute(sql: PageWorkTests.fill) }
            let known = try queue.read(memo)
            let hits = known.hits
            #expect(try queue.read(readAgain) == 400 * 1400)
            #expect(known.hits > hits)
            let whole = try directory.bytes(of: name)
            let offset =
                switch place {
                case .content: 60
                case .initializationVector: pageSize - 80
                case .firstOfCode: pageSize - 64
                case .lastOfCode: pageSize - 1
                }
            try change(name, at: (page - 1) * pageSize + offset) { $0 ^ 0x40 }
            for _ in 0..<2 {
                let error = #expect(throws: DatabaseError.self) { try queue.read(readAgain) }
                #expect(
                    [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error?.resultCode),
                    "page \(page): \(String(describing: error))")
            }
            try queue.close()
            // The bit is the only cause.
            try directory.write(whole, to: name)
            let again = try DatabaseQueue(
                path: directory.path(name), configuration: configuration { $0.pageSize = pageSize })
            #expect(try again.read(readAgain) == 400 * 1400)
        }
    }

    /// Changes a byte of a file in place.
    private func change(_ name: String, at offset: Int, _ body: (UInt8) -> UInt8) throws {
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: directory.path(name)))
        defer { try? handle.close() }
        try handle.seek(toOffset: UInt64(offset))
        let byte = try #require(try handle.read(upToCount: 1)?.first)
        try handle.seek(toOffset: UInt64(offset))
        try handle.write(contentsOf: Data([body(byte)]))
    }

    @Test("two pages in the memo that were swapped are refused", .enabled(if: PageWorkTests.isInstalled))
    func exchangedPages() throws {
        let queue = try DatabaseQueue(path: directory.path("a.db"), configuration: configuration())
        try queue.write { try $0.execute(sql: PageWorkTests.fill) }
        #expect(try queue.read(readAgain) == 400 * 1400)
        let whole = try directory.bytes(of: "a.db")
        for offset in 0..<4096 {
            try change("a.db", at: 4 * 4096 + offset) { _ in whole[5 * 4096 + offset] }
            try change("a.db", at: 5 * 4096 + offset) { _ in whole[4 * 4096 + offset] }
        }
        #expect(throws: DatabaseError.self) { try queue.read(readAgain) }
    }

    // MARK: Results

    @Test("the memo changes neither results nor files", arguments: 1...4)
    func results(_ format: Int) throws {
        var contents: [[String]] = []
        let isOn: [(states: Bool, memo: Bool)] = [(true, true), (true, false), (false, false)]
        for (index, isOn) in isOn.enumerated() {
            var settings = CipherSettings.sqlcipher(format: format)
            settings.keepsPageStates = isOn.states
            if !isOn.memo { settings.pageMemoSize = 0 }
            let configuration = Configuration.rawKeyed.with { $0.cipher = settings }
            let path = directory.path("\(index).db")
            let pool = try DatabasePool(path: path, configuration: configuration)
            try pool.write { try $0.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)") }
            for round in 0..<20 {
                try pool.write { db in
                    for row in 0..<50 {
                        try db.execute(
                            sql: "INSERT INTO t (a) VALUES (?)",
                            arguments: ["\(round) \(row) \(row * 31 % 17)"])
                    }
                    try db.execute(sql: "UPDATE t SET a = a || '+' WHERE id % 7 = ?", arguments: [round % 7])
                    if round % 5 == 4 { try db.execute(sql: "DELETE FROM t WHERE id % 11 = 3") }
                }
                if round % 6 == 5 { try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) } }
                pool.invalidateReadOnlyConnections()
                _ = try pool.read { try String.fetchAll($0, sql: "SELECT a FROM t") }
            }
            contents.append(
                try pool.read { try String.fetchAll($0, sql: "SELECT id || a FROM t ORDER BY id") })
            try pool.close()
            if SQLCipherShell.isAvailable {
                let shell = SQLCipherShell(
                    path: path, preparation: format == 4 ? "" : "PRAGMA cipher_compatibility = \(format);")
                #expect(
                    try shell.run("PRAGMA integrity_check; SELECT count(*) FROM t;") == [
                        "ok", "\(contents[index].count)",
                    ])
                if format > 1 { #expect(try shell.run("PRAGMA cipher_integrity_check;") == []) }
            }
        }
        #expect(contents[0].count > 500 && contents[0] == contents[1] && contents[1] == contents[2])
    }

    @Test("settings that do not affect files do not change the format")
    func formats() throws {
        for format in 1...4 {
            var settings = CipherSettings.sqlcipher(format: format)
            settings.pageMemoSize = 0
            settings.keepsPageStates = false
            #expect(settings.format == format)
        }
        let queue = try DatabaseQueue(
            path: directory.path("a.db"), configuration: configuration { $0.pageMemoSize = 0 })
        try queue.inDatabase { db in
            #expect(try memoCount(db) == nil)
            try db.execute(sql: "ATTACH ? AS other", arguments: [directory.path("b.db")])
            try db.execute(sql: "CREATE TABLE other.t (a)")
        }
    }

    private func memoCount(_ db: Database) throws -> Int? { db.keying.keys.pageMemo?.count }

    // MARK: The life of a memo

    @Test(
        "a pool's reader finds pages in the memo that another connection wrote",
        .enabled(if: PageWorkTests.isInstalled))
    func sharing() throws {
        let pool = try DatabasePool(path: directory.path("a.db"), configuration: configuration())
        try pool.write { try $0.execute(sql: PageWorkTests.fill) }
        let known = try pool.write(memo)
        let hits = known.hits
        #expect(try pool.read { try Int.fetchOne($0, sql: PageWorkTests.read) } == 400 * 1400)
        #expect(known.hits > hits + 50)
    }

    @Test(
        "a memo is blank once its queue or pool is closed", .enabled(if: PageWorkTests.isInstalled),
        arguments: Access.allCases)
    func closing(_ access: Access) throws {
        let writer = try open(access)
        try writer.write { try $0.execute(sql: PageWorkTests.fill) }
        let known = try writer.write(memo)
        #expect(known.count > 50)
        try writer.close()
        known.note([UInt8](repeating: 1, count: PageMemo.tagSize), number: 1)
        #expect(known.count == 0)
    }

    @Test(
        "releasing memory blanks the memo, which fills again", .enabled(if: PageWorkTests.isInstalled),
        arguments: Access.allCases)
    func pressure(_ access: Access) throws {
        let writer = try open(access)
        try writer.write { try $0.execute(sql: PageWorkTests.fill) }
        let known = try writer.write(memo)
        try writer.write { db in
            db.releaseMemory()
            #expect(known.count == 0)
            let size = try readAgain(db)
            #expect(size == 400 * 1400)
            #expect(known.count > 50)
        }
    }

    @Test(
        "rotating a key clears the memo of pages under the former key",
        .enabled(if: PageWorkTests.isInstalled),
        arguments: Access.allCases)
    func rotation(_ access: Access) throws {
        let writer = try open(access)
        try writer.write { try $0.execute(sql: PageWorkTests.fill) }
        let known = try writer.write(memo)
        #expect(known.count > 50)
        try writer.rotateKey(to: .rawKey([UInt8](repeating: 0x43, count: 32)))
        #expect(known.count < 10)
        #expect(try writer.read(readAgain) == 400 * 1400)
        #expect(known.count > 50)
        let hits = known.hits
        #expect(try writer.read(readAgain) == 400 * 1400)
        #expect(known.hits > hits + 50)
    }
}
