import CofferTestSupport
import Foundation
import SQLCipherBridge
import Testing

@testable import Coffer

@Suite("The check of b-trees without the engine")
struct TreeCheckTests {
    private let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    /// Pages in memory.
    private final class Pages: StoredBytes {
        var bytes: [UInt8]
        var size: Int64 { Int64(bytes.count) }

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        func read(at offset: Int64, into target: inout MutableSpan<UInt8>) throws -> Int {
            let count = max(0, min(target.count, bytes.count - Int(offset)))
            for index in 0..<count { target[index] = bytes[Int(offset) + index] }
            return count
        }
    }

    /// Returns the results of both checks. The engine's result is nil if it finds nothing.
    private func verdicts(_ bytes: [UInt8]) throws -> (isWhole: Bool, engine: String?) {
        let pages = Pages(bytes)
        do {
            let connection = try FileView.open(pages)
            try connection.handle.execute("PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF")
            let isWhole = try TreeCheck.isWhole(Pages(bytes), schema: connection.handle) {}
            let found = try StructureCheck.quick.findings(connection.handle, progress: ProgressReport(nil))
            return (isWhole, found.damage.first)
        } catch {
            return (false, "\(error)")
        }
    }

    /// Makes rows of all sizes, in trees of both kinds and several levels, with free blocks and free pages.
    private func content(pageSize: Int, _ random: inout SeededRandom) throws -> [UInt8] {
        var script = """
            PRAGMA page_size = \(pageSize);
            CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b BLOB, c REAL); CREATE INDEX t_a ON t (a, c);
            CREATE TABLE w (k TEXT PRIMARY KEY, v) WITHOUT ROWID; CREATE TABLE empty (a UNIQUE);
            CREATE TABLE gone (a); CREATE VIEW v AS SELECT 1;
            INSERT INTO gone SELECT zeroblob(10000) FROM (VALUES (1), (2), (3), (4));
            BEGIN;

            """
        for id in 1...400 {
            let size = [0, 3, 50, 300, pageSize / 3, pageSize * 3].randomElement(using: &random) ?? 0
            script += "INSERT INTO t VALUES (\(id * 3 - 500), hex(randomblob(\(id % 40))), "
            script += "randomblob(\(id % 10 == 0 ? size : id % 90)), \(id).5);\n"
            script +=
                "INSERT INTO w VALUES (hex(randomblob(\(id % 30 + 4))), zeroblob(\(id % 25 == 0 ? size : 5)));\n"
        }
        script +=
            "COMMIT; DROP TABLE gone; DELETE FROM t WHERE id % 7 = 0; UPDATE t SET b = a WHERE id % 5 = 0;"
        let name = "\(pageSize)-\(random.next()).db"
        _ = try ShellFile(directory.path(name), format: .plaintext, script: script)
        return try directory.bytes(of: name)
    }

    @Test("trees written by the engine are intact", arguments: [512, 1024, 4096, 16384, 65536])
    func whole(pageSize: Int) throws {
        var random = SeededRandom("whole trees, \(pageSize)")
        for _ in 0..<3 {
            let found = try verdicts(content(pageSize: pageSize, &random))
            #expect(found.isWhole && found.engine == nil, "\(found)")
        }
    }

    /// Kinds of damage that random changes rarely cause.
    private static let kinds = [
        "two cells are one", "free pages in no list", "a page in two chains", "a divider",
    ]

    @Test("a page that belongs to two trees, to none, or to another place is reported", arguments: kinds)
    func misplaced(kind: String) throws {
        let file = try ShellFile(
            directory.path("a.db"), format: .plaintext,
            script: """
                PRAGMA page_size = 1024;
                CREATE TABLE o (id INTEGER PRIMARY KEY, a); INSERT INTO o VALUES (1, zeroblob(1500)), (2, zeroblob(1500));
                CREATE TABLE i (a); CREATE INDEX i_a ON i (a); INSERT INTO i (rowid, a) VALUES (2, 'one'), (3, 'two');
                CREATE TABLE d (id INTEGER PRIMARY KEY, a);
                INSERT INTO d VALUES (3, zeroblob(900)), (5, zeroblob(900)), (7, zeroblob(900));
                CREATE TABLE gone (a); INSERT INTO gone VALUES (zeroblob(5000)); DROP TABLE gone;
                """)
        var bytes = try directory.bytes(of: "a.db")
        let whole = try verdicts(bytes)
        #expect(whole.isWhole && whole.engine == nil)
        let roots = try file.shell.run(
            "SELECT rootpage FROM sqlite_master WHERE name IN ('o', 'i_a', 'd') ORDER BY name;")
        let starts = roots.compactMap { Int($0).map { ($0 - 1) * 1024 } }
        let (divided, entries, chains) = (starts[0], starts[1], starts[2])
        /// Returns the offset of a cell of a page.
        func cell(_ page: Int, _ index: Int, headerSize: Int) -> Int {
            let pointer = page + headerSize + 2 * index
            return page + Int(bytes[pointer]) << 8 + Int(bytes[pointer + 1])
        }
        switch kind {
        case "two cells are one":
            for index in 0..<2 { bytes[entries + 10 + index] = bytes[entries + 8 + index] }
        case "free pages in no list":
            for index in 32..<40 { bytes[index] = 0 }
        case "a page in two chains":
            // The cells have the same size and end with the number of the overflow page.
            let (second, first) = (cell(chains, 1, headerSize: 8), cell(chains, 0, headerSize: 8))
            for index in 1...4 { bytes[first - index] = bytes[first + first - second - index] }
        default:
            #expect(bytes[divided] == 5)
            bytes[cell(divided, 0, headerSize: 12) + 4] -= 1
        }
        let found = try verdicts(bytes)
        #expect(!found.isWhole && found.engine != nil, "\(found)")
    }

    /// A state that only a forger writes.
    private struct Forgery: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let script: String
        /// Statements that change the schema, with `writable_schema` on.
        var schema = "SELECT 1"
        /// Changes the bytes of the file. The second argument is the page of the table `t`.
        var change: @Sendable (inout [UInt8], Int) -> Void = { _, _ in }

        /// Turns the page at `start` into a page with a single cell.
        static func setCell(_ cell: [UInt8], _ bytes: inout [UInt8], _ start: Int) {
            for index in start + 1..<start + 1024 { bytes[index] = 0 }
            let place = 1024 - cell.count
            (bytes[start + 4], bytes[start + 5], bytes[start + 6]) = (
                1, UInt8(place >> 8), UInt8(place & 255)
            )
            (bytes[start + 8], bytes[start + 9]) = (bytes[start + 5], bytes[start + 6])
            bytes.replaceSubrange(start + place..<start + 1024, with: cell)
        }
    }

    private static let forgeries = [
        Forgery(
            testDescription: "two free blocks in a row",
            script: """
                CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(60)), (zeroblob(60)), (zeroblob(60));
                DELETE FROM t WHERE rowid = 2;
                """,
            change: { bytes, page in
                let block = Int(bytes[page + 1]) << 8 + Int(bytes[page + 2])
                let size = Int(bytes[page + block + 2]) << 8 + Int(bytes[page + block + 3])
                let (first, second) = (size / 2, size - size / 2)
                let next = block + first
                for (place, value) in [(block, next), (block + 2, first), (next, 0), (next + 2, second)] {
                    bytes[page + place] = UInt8(value >> 8)
                    bytes[page + place + 1] = UInt8(value & 255)
                }
            }),
        Forgery(
            testDescription: "incremental vacuum without auto-vacuum", script: "CREATE TABLE t (a);",
            change: { bytes, _ in bytes[67] = 1 }),
        Forgery(
            testDescription: "a size of nine bytes", script: "CREATE TABLE t (a); INSERT INTO t VALUES (1);",
            change: { bytes, page in
                let header: [UInt8] = [
                    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x85, 1, 3, 0x82, 0x10,
                ]
                Forgery.setCell(header + [UInt8](repeating: 0, count: 130), &bytes, page)
            }),
        Forgery(
            testDescription: "a record of nothing", script: "CREATE TABLE t (a); INSERT INTO t VALUES (1);",
            change: { bytes, page in Forgery.setCell([1, 1, 1, 0], &bytes, page) }),
        Forgery(
            testDescription: "a table in capital letters", script: "CREATE TABLE t (a);",
            schema: "INSERT INTO sqlite_master VALUES ('TABLE', 'x', 'x', 0, 'CREATE TABLE x (a)')"),
        Forgery(
            testDescription: "a table whose type is a blob", script: "CREATE TABLE t (a);",
            schema: "INSERT INTO sqlite_master VALUES (x'7461626c65', 'x', 'x', 0, 'CREATE TABLE x (a)')"),
        Forgery(
            testDescription: "the key of a table without row IDs as an index",
            script: "CREATE TABLE t (a); CREATE TABLE y (b); CREATE INDEX yi ON y (b);",
            schema: """
                UPDATE sqlite_master SET sql = 'CREATE TABLE t (a PRIMARY KEY) WITHOUT ROWID' WHERE name = 't';
                UPDATE sqlite_master SET name = 'sqlite_autoindex_t_1', tbl_name = 't', sql = NULL
                WHERE name = 'yi'
                """),
        Forgery(
            testDescription: "a table with row IDs without the index of its constraint",
            script: "CREATE TABLE t (a);",
            schema: "UPDATE sqlite_master SET sql = 'CREATE TABLE t (a UNIQUE)' WHERE name = 't'",
            change: { bytes, page in bytes[page] = 10 }),
        Forgery(
            testDescription: "an index of no page",
            script: "CREATE TABLE t (a PRIMARY KEY, b) WITHOUT ROWID;",
            schema: "INSERT INTO sqlite_master VALUES ('INDEX', 'x', 't', 0, 'CREATE INDEX x ON t (b)')"),
    ]

    @Test("forged trees are reported", arguments: forgeries)
    private func forged(_ forgery: Forgery) throws {
        let file = try ShellFile(
            directory.path("a.db"), format: .plaintext,
            script: """
                PRAGMA page_size = 1024;
                \(forgery.script)
                .dbconfig defensive off
                PRAGMA writable_schema = ON;
                \(forgery.schema);
                """)
        let roots = try? file.shell.run("SELECT rootpage FROM sqlite_master WHERE name = 't';")
        var bytes = try directory.bytes(of: "a.db")
        forgery.change(&bytes, ((roots?.last.flatMap { Int($0) } ?? 2) - 1) * 1024)
        let found = try verdicts(bytes)
        #expect(!found.isWhole && found.engine != nil, "\(found)")
    }

    @Test("an encrypted database with constantly changing rows is intact, and so are its copies")
    func used() throws {
        var random = SeededRandom("changing trees")
        let queue = try directory.makeQueue("a.db")
        try queue.write {
            try $0.execute(
                sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE, b); CREATE INDEX i ON t (b)")
        }
        for _ in 0..<40 {
            try queue.write { db in
                for _ in 0..<50 {
                    let id = Int.random(in: 0..<500, using: &random)
                    if Bool.random(using: &random) {
                        try db.execute(
                            sql: "INSERT OR REPLACE INTO t VALUES (?, randomblob(?), ?)",
                            arguments: [id, id * 11, id % 9])
                    } else {
                        try db.execute(
                            sql: "DELETE FROM t WHERE id BETWEEN ? AND ?", arguments: [id, id + 9])
                    }
                }
            }
            let isWhole = try queue.read { db in
                let protection = try #require(db.keying.ring.map { FileProtection.encrypted($0) })
                let view = try DecryptedView(ConnectionBytes(db.handle), protection)
                return try TreeCheck.isWhole(view, schema: db.handle) {}
            }
            #expect(isWhole)
        }
    }

    @Test(
        "a tree that it reports as intact is intact for the engine, after any change",
        arguments: [512, 1024, 4096])
    func damaged(pageSize: Int) throws {
        var random = SeededRandom("damaged trees, \(pageSize)")
        let whole = try content(pageSize: pageSize, &random)
        let count = whole.count / pageSize
        var (broken, doubtful, unseen) = (0, 0, 0)
        for _ in 0..<Nightly.pick(40_000, byDay: 400) {
            var bytes = whole
            let page = Int.random(in: 0..<count, using: &random) * pageSize
            let header = page == 0 ? 100 : page
            switch Int.random(in: 0..<7, using: &random) {
            case 0:
                bytes[header + Int.random(in: 0..<12, using: &random)] = UInt8.random(
                    in: 0...255, using: &random)
            case 1:
                bytes[header + Int.random(in: 8..<40, using: &random)] ^=
                    1 << UInt8.random(in: 0..<8, using: &random)
            case 2:
                bytes[page + Int.random(in: 0..<pageSize, using: &random)] ^=
                    1 << UInt8.random(in: 0..<8, using: &random)
            case 3:
                // A cell, if there is one: its child, its sizes, its row ID.
                let index = 2 * Int.random(in: 0..<8, using: &random)
                let pointer = header + (bytes[header] < 8 ? 12 : 8) + index
                let cell = page + (Int(bytes[pointer]) << 8 | Int(bytes[pointer + 1])) % (pageSize - 12)
                bytes[cell + Int.random(in: 0..<12, using: &random)] = UInt8.random(
                    in: 0...255, using: &random)
            case 4:
                let other = Int.random(in: 1..<count, using: &random) * pageSize
                guard page > 0 else { continue }
                for index in 0..<pageSize { bytes.swapAt(page + index, other + index) }
            case 5:
                bytes[Int.random(in: 28..<56, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            default:
                let words = Int.random(in: 0..<pageSize / 4, using: &random) * 4
                bytes[page + words + 3] = bytes[page + words + 3] &+ 1
            }
            let found = try verdicts(bytes)
            if found.isWhole, let damage = found.engine {
                Issue.record("whole, says the check; the engine: \(damage)")
            }
            switch (found.isWhole, found.engine) {
            case (true, _): unseen += 1
            case (false, nil): doubtful += 1
            case (false, _): broken += 1
            }
        }
        print("\(broken) are broken, of \(doubtful) only the engine knows, \(unseen) are whole")
        #expect(broken > 50 && unseen > 50)
    }

    private static let cases = ProcessInfo.processInfo.environment["COFFER_DATABASE_CASES"]

    @Test(
        "each file in the case folder that the check reports as intact is intact for the engine",
        .enabled(if: cases != nil, "COFFER_DATABASE_CASES is a folder of them: see Tests/salvage-fuzz"))
    func casesOfFolder() throws {
        let folder = try #require(Self.cases)
        var wholeCount = 0
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        for name in names {
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)")))
            let found = try verdicts(bytes)
            if found.isWhole {
                wholeCount += 1
                #expect(found.engine == nil, "\(name)")
            }
        }
        print("\(names.count) cases, \(wholeCount) whole")
        #expect(!names.isEmpty)
    }
}
