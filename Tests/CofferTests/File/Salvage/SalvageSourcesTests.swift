import CofferTestSupport
import Foundation
import SQLCipherBridge
import Testing

@testable import Coffer

@Suite("The sources of a salvage")
struct SalvageSourcesTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private static let key = DatabaseKey.rawKey(ShellFile.key)

    private func result(_ name: String) -> SQLCipherShell {
        SQLCipherShell(path: directory.path(name), rawKey: ShellFile.key)
    }

    private func bytes(_ path: String) throws -> [UInt8] {
        try Array(Data(contentsOf: URL(fileURLWithPath: path)))
    }

    private func overwrite(_ path: String, _ change: (inout [UInt8]) -> Void) throws {
        var bytes = try bytes(path)
        change(&bytes)
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    private func fingerprint(_ path: String, _ settings: CipherSettings?) throws -> ContentFingerprint {
        let protection: FileProtection =
            if let settings { try .encrypted(SalvageSourcesTests.key, cipher: settings) } else { .plaintext }
        let connection = try protection.open(path, flags: .readOnly)
        return try ContentFingerprint(of: connection.handle)
    }

    @Test(
        "the content has the fingerprint of the source, with any page size",
        arguments: [true, false])
    func pageSizes(isEncrypted: Bool) throws {
        let sizes = (isEncrypted ? 10...16 : 9...16).map { 1 << $0 }
        for size in sizes where Nightly.isOn || [512, 1024, 65536].contains(size) {
            for autoVacuum in 0...(Nightly.isOn ? 2 : 0) {
                let script =
                    "PRAGMA \(isEncrypted ? "cipher_page_size" : "page_size") = \(size);\nPRAGMA auto_vacuum = \(autoVacuum);\n"
                let file = try ShellFile(
                    directory.path("\(size)-\(autoVacuum).db"),
                    format: isEncrypted ? .sqlcipher4 : .plaintext,
                    script: script + SampleSchema.everything + SampleSchema.texts)
                var settings = CipherSettings()
                settings.pageSize = size
                let before = try fingerprint(file.path, isEncrypted ? settings : nil)
                let salvage = try DatabaseFile(path: file.path).salvage(
                    key: isEncrypted ? SalvageSourcesTests.key : nil, to: directory.path("new.db"),
                    newKey: SalvageSourcesTests.key)
                #expect(salvage.isComplete, "\(size): \(salvage)")
                if isEncrypted { #expect(salvage.cipher.pageSize == size) }
                #expect(try fingerprint(directory.path("new.db"), CipherSettings()) == before, "\(size)")
                try FileManager.default.removeItem(atPath: directory.path("new.db"))
            }
        }
    }

    @Test(
        "a file of each format without its first page is salvaged with its key and salt",
        arguments: ShellFile.Format.allCases)
    func firstPageOfEachFormat(format: ShellFile.Format) throws {
        let script = """
            CREATE TABLE item (id INTEGER PRIMARY KEY, title TEXT, content BLOB);
            WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
            INSERT INTO item SELECT i, 'item ' || i, randomblob(100) FROM n;
            """
        for size in format == .plaintext ? [512, 8192] : [format.configuration.cipher.pageSize, 8192] {
            let pragma = format == .plaintext ? "page_size" : "cipher_page_size"
            let settings =
                "PRAGMA \(pragma) = \(size); PRAGMA encoding = '\(size == 8192 ? "UTF-16be" : "UTF-8")';\n"
            let file = try ShellFile(directory.path("\(size).db"), format: format, script: settings + script)
            var options = DatabaseFile.SalvageOptions()
            options.salt = format == .plaintext ? nil : Array(try bytes(file.path).prefix(16))
            try overwrite(file.path) {
                for index in 0..<size { $0[index] = UInt8(truncatingIfNeeded: index &* 7 &+ 3) }
            }
            let salvage = try DatabaseFile(path: file.path).salvage(
                key: format == .plaintext ? nil : SalvageSourcesTests.key,
                to: directory.path("\(size) new.db"),
                newKey: SalvageSourcesTests.key,
                options: options)
            if format != .plaintext { #expect(salvage.cipher.pageSize == size) }
            #expect(
                try result("\(size) new.db").run(
                    "SELECT count(*), count(DISTINCT c1) FROM lost_and_found_3 WHERE c1 = 'item ' || row_id")
                    == ["400|400"])
        }
    }

    @Test("a plaintext header is detected")
    func plaintextHeader() throws {
        var configuration = Configuration()
        let salt = [UInt8](repeating: 9, count: 16)
        configuration.key = .rawKey(ShellFile.key, salt: salt)
        configuration.cipher.plaintextHeaderSize = 32
        let queue = try DatabaseQueue(path: directory.path("a.db"), configuration: configuration)
        try queue.write {
            try $0.execute(sql: "CREATE TABLE item (title); INSERT INTO item VALUES ('ring'), ('coin')")
        }
        try queue.close()
        let key = DatabaseKey.rawKey(ShellFile.key, salt: salt)
        let salvage = try DatabaseFile(path: directory.path("a.db")).salvage(
            key: key, to: directory.path("b.db"), newKey: SalvageSourcesTests.key)
        #expect(salvage.isComplete && salvage.cipher.plaintextHeaderSize == 32, "\(salvage)")
        #expect(try result("b.db").run("SELECT title FROM item") == ["ring", "coin"])
        // The key itself includes the salt.
        configuration.cipher.plaintextHeaderSize = 0
        let other = try DatabaseQueue(path: directory.path("c.db"), configuration: configuration)
        try other.write {
            try $0.execute(sql: "CREATE TABLE item (title); INSERT INTO item VALUES ('ring'), ('coin')")
        }
        try other.close()
        try overwrite(directory.path("c.db")) { for index in 0..<16 { $0[index] = 0 } }
        let again = try DatabaseFile(path: directory.path("c.db")).salvage(
            key: key, to: directory.path("d.db"), newKey: SalvageSourcesTests.key)
        #expect(again.isComplete, "\(again)")
    }

    @Test(
        "pages of a log replace pages of the file, and a hot journal is applied, while the file stays unchanged"
    )
    func sideFiles() throws {
        // A WAL that was not checkpointed.
        var configuration = Configuration()
        configuration.key = SalvageSourcesTests.key
        configuration.journalMode = .wal
        let path = directory.path("wal.db")
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { db in
            try db.execute(
                sql:
                    "CREATE TABLE item (id INTEGER PRIMARY KEY, title); INSERT INTO item VALUES (1, 'old'), (2, 'coin')"
            )
        }
        try queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        try queue.write { try $0.execute(sql: "UPDATE item SET title = 'new' WHERE id = 1") }
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(
                atPath: path + suffix, toPath: directory.path("copy.db") + suffix)
        }
        try queue.close()
        let before = try (bytes(directory.path("copy.db")), bytes(directory.path("copy.db-wal")))
        let salvage = try DatabaseFile(path: directory.path("copy.db")).salvage(
            key: SalvageSourcesTests.key, to: directory.path("a.db"))
        #expect(salvage.isComplete)
        #expect(try result("a.db").run("SELECT title FROM item") == ["new", "coin"])
        #expect(try (bytes(directory.path("copy.db")), bytes(directory.path("copy.db-wal"))) == before)

        // Commits after a damaged frame are lost to all readers, and this is reported.
        try overwrite(directory.path("copy.db-wal")) { $0[32 + 24 + 100] ^= 1 }
        let partial = try DatabaseFile(path: directory.path("copy.db")).salvage(
            key: SalvageSourcesTests.key, to: directory.path("partial.db"))
        #expect(!partial.isComplete && partial.problems.count == 1, "\(partial.problems)")
        #expect(try result("partial.db").run("SELECT title FROM item") == ["old", "coin"])

        // A frame whose writer died while writing it was never committed.
        try overwrite(directory.path("copy.db-wal")) { $0 = Array($0.prefix(32 + 24 + 2000)) }
        let torn = try DatabaseFile(path: directory.path("copy.db")).salvage(
            key: SalvageSourcesTests.key, to: directory.path("torn.db"))
        #expect(torn.isComplete, "\(torn.problems)")
        #expect(try result("torn.db").run("SELECT title FROM item") == ["old", "coin"])

        // The journal of a transaction that had reached the file when its process died.
        configuration.journalMode = .default
        let other = directory.path("journal.db")
        let writer = try DatabaseQueue(path: other, configuration: configuration)
        try writer.write { db in
            try db.execute(sql: "CREATE TABLE item (id INTEGER PRIMARY KEY, title, filler)")
            for id in 1...300 {
                try db.execute(sql: "INSERT INTO item VALUES (?, 'old', randomblob(500))", arguments: [id])
            }
        }
        try? writer.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA cache_size = 1; BEGIN; UPDATE item SET title = 'new'")
            for suffix in ["", "-journal"] {
                try FileManager.default.copyItem(
                    atPath: other + suffix, toPath: directory.path("hot.db") + suffix)
            }
            try db.execute(sql: "ROLLBACK")
        }
        try writer.close()
        let hot = try DatabaseFile(path: directory.path("hot.db")).salvage(
            key: SalvageSourcesTests.key, to: directory.path("b.db"))
        #expect(hot.isComplete, "\(hot)")
        #expect(try result("b.db").run("SELECT title, count(*) FROM item GROUP BY 1") == ["old|300"])
        #expect(directory.fileNames().contains("hot.db-journal"))
    }

    @Test(
        "rows of pages with a wrong MAC are salvaged on request only, marked with the page's table"
    )
    func damagedPages() throws {
        let script = """
            CREATE TABLE item (title, note);
            WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
            INSERT INTO item SELECT 'item ' || i, hex(randomblob(40)) FROM n;
            """
        let file = try ShellFile(directory.path("a.db"), format: .sqlcipher4, script: script)
        try overwrite(file.path) { $0[3 * 4096 + 2000] ^= 1 }
        let without = try DatabaseFile(path: file.path).salvage(
            key: SalvageSourcesTests.key, to: directory.path("b.db"))
        #expect(without.damagedPages == [4] && without.lostRowCount == 0, "\(without)")
        let lost = 300 - without.tables[0].rowCount
        #expect(abs(try #require(without.tables[0].estimatedLostRowCount) - lost) <= lost / 3, "\(without)")
        var options = DatabaseFile.SalvageOptions()
        options.includesDamagedPages = true
        let with = try DatabaseFile(path: file.path).salvage(
            key: SalvageSourcesTests.key, to: directory.path("c.db"), options: options)
        #expect(with.lostRowCount >= lost - 2 && !with.isComplete, "\(with)")
        #expect(
            try result("c.db").run("SELECT DISTINCT table_name, page, reason FROM lost_and_found_2") == [
                "item|4|the page is not authentic"
            ]
        )
    }

    @Test(
        "rows committed after a damaged log frame are salvaged on request only, if they can be verified",
        arguments: [true, false])
    func damagedLog(isEncrypted: Bool) throws {
        var configuration = Configuration()
        if isEncrypted { configuration.key = SalvageSourcesTests.key }
        configuration.allowsPlaintext = !isEncrypted
        configuration.journalMode = .wal
        let path = directory.path("wal.db")
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE item (id INTEGER PRIMARY KEY, title); CREATE TABLE owner (name, note);
                    INSERT INTO item VALUES (1, 'old'), (2, 'coin'), (3, 'ring');
                    INSERT INTO owner VALUES ('Ada', 1);
                    """)
        }
        try queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        try queue.write { try $0.execute(sql: "UPDATE item SET title = 'new' WHERE id = 1") }
        try queue.write { try $0.execute(sql: "INSERT INTO owner VALUES ('Bob', 2)") }
        try queue.write { try $0.execute(sql: "INSERT INTO item VALUES (4, 'spoon')") }
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(
                atPath: path + suffix, toPath: directory.path("copy.db") + suffix)
        }
        try queue.close()
        let log = directory.path("copy.db-wal")
        let frameSize = 24 + 4096
        #expect(try bytes(log).count == 32 + 3 * frameSize)
        var options = DatabaseFile.SalvageOptions()
        func lostRows(_ name: String) throws -> (salvage: DatabaseFile.Salvage, rows: [String]) {
            let salvage = try DatabaseFile(path: directory.path("copy.db")).salvage(
                key: isEncrypted ? SalvageSourcesTests.key : nil, to: directory.path(name),
                newKey: SalvageSourcesTests.key, options: options)
            #expect(try result(name).run("SELECT title FROM item") == ["old", "coin", "ring"])
            #expect(try result(name).run("SELECT name FROM owner") == ["Ada"])
            guard salvage.lostRowCount > 0 else { return (salvage, []) }
            let reasons = try result(name).run("SELECT DISTINCT reason FROM lost_and_found_2")
            #expect(reasons == ["it was committed after a damaged frame of the log"])
            return (
                salvage,
                try result(name).run(
                    "SELECT table_name, row_id, coalesce(c0, '') || c1 FROM lost_and_found_2 ORDER BY 1, 2")
            )
        }

        try overwrite(log) { $0[32 + 24 + 100] ^= 1 }
        let without = try lostRows("without.db")
        #expect(without.rows.isEmpty && !without.salvage.isComplete, "\(without)")
        options.includesDamagedLog = true
        let with = try lostRows("with.db")
        #expect(
            with.rows == ["item|1|new", "item|4|spoon", "owner|2|Bob2"] && !with.salvage.isComplete, "\(with)"
        )
        // Damage the checksum of the preceding frame, which is needed to verify the next one.
        try overwrite(log) { $0[32 + frameSize + 17] ^= 1 }
        #expect(try lostRows("sum.db").rows == (isEncrypted ? with.rows : []))
        // Damage the frame itself.
        try overwrite(log) { $0[32 + 2 * frameSize + 24 + 3000] ^= 1 }
        #expect(try lostRows("both.db").rows == (isEncrypted ? ["owner|2|Bob2"] : []))
    }

    @Test(
        "after a damaged frame, rows that changed only on their last page are found, and no others",
        arguments: ["", "WITHOUT ROWID"])
    func damagedLogOfLongRows(clustered: String) throws {
        let setup = """
            PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0;
            CREATE TABLE z (a); INSERT INTO z VALUES (1); CREATE TABLE item (id INTEGER PRIMARY KEY, content) \(clustered);
            INSERT INTO item VALUES (1, zeroblob(10000)), (2, 'short'), (3, zeroblob(9000)), (4, 'short');
            PRAGMA wal_checkpoint(TRUNCATE); UPDATE z SET a = 2;
            UPDATE item SET content = CAST(zeroblob(9990) || 'abcdefghij' AS BLOB) WHERE id = 1;
            .shell cp '\(directory.path("wal.db"))' '\(directory.path("a.db"))'
            .shell cp '\(directory.path("wal.db"))-wal' '\(directory.path("a.db"))-wal'

            """
        _ = try ShellFile(directory.path("wal.db"), format: .sqlcipher4, script: setup)
        try overwrite(directory.path("a.db-wal")) { $0[32 + 24 + 100] ^= 1 }
        var options = DatabaseFile.SalvageOptions()
        options.includesDamagedLog = true
        let salvage = try DatabaseFile(path: directory.path("a.db")).salvage(
            key: SalvageSourcesTests.key, to: directory.path("b.db"), options: options)
        #expect(salvage.lostRowCount == 1, "\(salvage)")
        let lost = "SELECT table_name, substr(c1, -3) FROM lost_and_found_2"
        #expect(try result("b.db").run(lost) == ["item|hij"])
        #expect(try result("b.db").run("SELECT count(*) FROM item") == ["4"])
    }

    @Test(
        "rows of free pages are salvaged on request only, with a warning, and do not affect other rows"
    )
    func freePages() throws {
        let script = """
            CREATE TABLE item (title, note);
            WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
            INSERT INTO item SELECT 'item ' || i, hex(randomblob(40)) FROM n;
            CREATE TABLE gone (a, b, c); WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)
            INSERT INTO gone SELECT 'deleted', i, hex(randomblob(80)) FROM n;
            PRAGMA secure_delete = OFF;
            DROP TABLE gone;
            """
        let file = try ShellFile(directory.path("a.db"), format: .sqlcipher4, script: script)
        // Without the root of the table, its pages are stray pages.
        try overwrite(file.path) { $0[4096 + 2000] ^= 1 }
        let without = try DatabaseFile(path: file.path).salvage(
            key: SalvageSourcesTests.key, to: directory.path("b.db"))
        #expect(without.tables[0].rowCount == 3000 && without.lostRowCount == 0, "\(without)")
        var options = DatabaseFile.SalvageOptions()
        options.includesFreePages = true
        let with = try DatabaseFile(path: file.path).salvage(
            key: SalvageSourcesTests.key, to: directory.path("c.db"), options: options)
        #expect(with.tables[0].rowCount == 3000 && with.lostRowCount > 100, "\(with)")
        #expect(with.problems.contains { $0.contains("deleted") })
        #expect(
            try result("c.db").run("SELECT DISTINCT c0, reason FROM lost_and_found_3")
                == ["deleted|the page is free: its rows were deleted, or moved"])
    }

    @Test("an unreadable part of the disk damages its own pages, and no others")
    func unreadable() throws {
        /// A file in which some bytes cannot be read.
        final class FailingDisk: StoredBytes {
            let bytes: [UInt8]
            let bad: [Range<Int>]
            var attempts = 0
            var size: Int64 { Int64(bytes.count) }
            init(_ bytes: [UInt8], bad: [Range<Int>]) { (self.bytes, self.bad) = (bytes, bad) }
            func read(at offset: Int64, into target: inout MutableSpan<UInt8>) throws -> Int {
                attempts += 1
                let range = Int(offset)..<min(bytes.count, Int(offset) + target.count)
                if bad.contains(where: { $0.overlaps(range) }) {
                    throw EngineError(code: EngineCode.ioError, message: "disk I/O error")
                }
                for index in range { target[index - range.lowerBound] = bytes[index] }
                return range.count
            }
        }
        let content = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 / 4096 + 1) }
        let disk = FailingDisk(content, bad: [20_500..<20_501, 1_000_000..<1_010_000, 2_999_990..<3_000_000])
        let pages = UnreadablePages(disk, pageSize: 4096)
        let found = try pages.read(at: 0, count: content.count)
        #expect(found.count == content.count)
        let bad = Set(found.indices.filter { found[$0] != content[$0] }.map { $0 / 4096 + 1 })
        #expect(bad == [6, 245, 246, 247, 733] && pages.numbers == bad, "\(bad) \(pages.numbers)")
        #expect(disk.attempts < 120)
        #expect(throws: CancellationError.self) {
            final class Ended: StoredBytes {
                var size: Int64 { 10_000 }
                func read(at offset: Int64, into target: inout MutableSpan<UInt8>) throws -> Int {
                    throw CancellationError()
                }
            }
            _ = try UnreadablePages(Ended(), pageSize: 4096).read(at: 0, count: 10_000)
        }
    }

    @Test(
        "trees of many parts, and rows larger than a part, are salvaged with any number of threads",
        arguments: [1, 2, 3])
    func parts(threadCount: Int) throws {
        let script = """
            CREATE TABLE item (id INTEGER PRIMARY KEY, title TEXT, content BLOB);
            WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)
            INSERT INTO item SELECT i, 'item ' || i, CASE i % 500 WHEN 0 THEN randomblob(150000)
                WHEN 1 THEN randomblob(9000) ELSE i * 0.5 END FROM n;
            CREATE TABLE share (owner TEXT PRIMARY KEY, rights) WITHOUT ROWID;
            WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)
            INSERT INTO share SELECT hex(randomblob(20)), -i FROM n;
            CREATE INDEX item_title ON item (title);

            """
        let file = try ShellFile(directory.path("a.db"), format: .sqlcipher4, script: script)
        var options = DatabaseFile.SalvageOptions()
        options.threadCount = threadCount
        let salvage = try DatabaseFile(path: file.path).salvage(
            key: SalvageSourcesTests.key, to: directory.path("b.db"), options: options)
        #expect(salvage.isComplete, "\(salvage)")
        #expect(salvage.tables.map(\.rowCount) == [9000, 9000])
        let settings = CipherSettings()
        #expect(
            try fingerprint(directory.path("b.db"), settings) == fingerprint(file.path, settings))
    }

    @Test(
        "of many rows, the ones that the engine refuses are kept as lost rows, and all others come back once",
        arguments: ["UTF-8", "UTF-16le", "UTF-16be"])
    func manyRows(encoding: String) throws {
        let numbers = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)"
        let text = "CASE i % 7 WHEN 0 THEN char(65279) || i WHEN 1 THEN '' WHEN 2 THEN x'' ELSE 'é' || i END"
        let script = """
            PRAGMA encoding = '\(encoding)';
            CREATE TABLE item (id INTEGER PRIMARY KEY, a TEXT, b DEFAULT 1);
            \(numbers) INSERT INTO item SELECT i * 3, \(text), iif(i % 100 = 50, NULL, -i / 7.0) FROM n;
            CREATE TABLE share (a TEXT PRIMARY KEY, b DEFAULT 1) WITHOUT ROWID;
            \(numbers) INSERT INTO share SELECT hex(i), iif(i % 1000 = 1, NULL, i - 200) FROM n;
            CREATE TABLE hidden (rowid TEXT, _rowid_, oid DEFAULT 1);
            \(numbers) INSERT INTO hidden SELECT i, NULL, iif(i = 1500, NULL, i) FROM n;
            CREATE TABLE wide (a, b TEXT);
            \(numbers) INSERT INTO wide SELECT i, hex(randomblob(i % 900)) FROM n WHERE i < 1000;
            ALTER TABLE wide ADD COLUMN c DEFAULT 'none';
            \(numbers) INSERT INTO wide SELECT -i, randomblob(i * 30), i FROM n WHERE i < 1000;
            CREATE TABLE unique_one (a UNIQUE, b REAL);
            \(numbers) INSERT INTO unique_one SELECT hex(randomblob(9)), i FROM n;
            .dbconfig defensive off
            PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = replace(sql, 'DEFAULT 1', 'NOT NULL');

            """
        let file = try ShellFile(directory.path("a.db"), format: .sqlcipher4, script: script)
        let salvage = try DatabaseFile(path: file.path).salvage(
            key: SalvageSourcesTests.key, to: directory.path("b.db"))
        #expect(salvage.problems.isEmpty, "\(salvage)")
        #expect(salvage.tables.map(\.rowCount) == [2970, 2997, 2999, 1998, 3000])
        #expect(salvage.tables.map(\.refusedRowCount) == [30, 3, 1, 0, 0])
        let content = """
            SELECT id, quote(a), typeof(b), quote(b) FROM item WHERE typeof(b) <> 'null' ORDER BY id;
            SELECT quote(a), quote(b) FROM share WHERE typeof(b) <> 'null' ORDER BY a;
            SELECT quote(rowid), quote(_rowid_), quote(oid) FROM hidden WHERE typeof(oid) <> 'null' ORDER BY oid;
            SELECT rowid, a, length(b), quote(b), c FROM wide ORDER BY rowid;
            SELECT rowid, a, quote(b) FROM unique_one ORDER BY rowid;
            """
        let before = try SQLCipherShell(path: file.path, rawKey: ShellFile.key).run(content)
        #expect(before.count == 2970 + 2997 + 2999 + 1998 + 3000)
        #expect(try result("b.db").run(content) == before)
        #expect(
            try result("b.db").run(
                """
                SELECT table_name, count(*), min(row_id), max(row_id) FROM lost_and_found_3
                    GROUP BY 1 ORDER BY 1;
                SELECT table_name, count(*) FROM lost_and_found_2 GROUP BY 1;
                PRAGMA integrity_check;
                """) == ["hidden|1|1500|1500", "item|30|150|8850", "share|3", "ok"])
    }

    @Test(
        "a wrongly stored page of the new file is found, even if the engine would accept it"
    )
    func changedBeforeTheProof() throws {
        let script = """
            CREATE TABLE item (content);
            WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)
            INSERT INTO item SELECT randomblob(400) FROM n;

            """
        let file = try ShellFile(directory.path("a.db"), format: .sqlcipher4, script: script)
        var isChanged = false
        let error = #expect(throws: DatabaseFileError.self) {
            _ = try DatabaseFile(path: file.path).salvage(
                key: SalvageSourcesTests.key, to: directory.path("b.db")
            ) { progress in
                guard progress.phase == .copying, !isChanged else { return }
                // The engine writes a leaf of the table once and does not read it again. Page 1 and the pages
                // that are read ahead with it are different.
                for name in directory.fileNames() where name != "a.db" {
                    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: directory.path(name)))
                    defer { try? handle.close() }
                    guard try handle.seekToEnd() > 5 << 20 else { continue }
                    try handle.seek(toOffset: 999 * 4096 + 100)
                    try handle.write(contentsOf: Data(repeating: 0x5a, count: 16))
                    isChanged = true
                }
            }
        }
        #expect(isChanged)
        #expect(
            error.map { "\($0)".contains("page 1000 does not have the content that was written") } == true,
            "\(error as Any)")
        #expect(directory.fileNames() == ["a.db"])
    }

    @Test("a salvage that is stopped midway leaves nothing, and the next one starts over")
    func ended() throws {
        let file = try directory.makeFile("a.db", rows: 2000)
        var phases: [DatabaseFile.Progress.Phase] = []
        _ = try file.salvage(key: Keys.old, to: directory.path("whole.db")) { progress in
            if phases.last != progress.phase { phases.append(progress.phase) }
        }
        #expect(phases == [.copying, .checkingStructure, .publishing])
        for end in phases.indices {
            var seen: [DatabaseFile.Progress.Phase] = []
            #expect(throws: CancellationError.self, "\(end)") {
                _ = try file.salvage(key: Keys.old, to: directory.path("b.db")) { progress in
                    if seen.last != progress.phase { seen.append(progress.phase) }
                    if seen.count > end { throw CancellationError() }
                }
            }
            #expect(directory.fileNames() == ["a.db", "whole.db"], "\(end)")
        }
        #expect(try file.salvage(key: Keys.old, to: directory.path("b.db")).isComplete)
    }
}
