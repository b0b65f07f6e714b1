import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

@Suite("Salvaging a damaged database")
struct SalvageTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private static let key = DatabaseKey.rawKey(ShellFile.key)

    /// Rows in trees with interior pages, including a WITHOUT ROWID table, with overflow pages and an index.
    private static let vault = """
        CREATE TABLE item (id INTEGER PRIMARY KEY, title TEXT NOT NULL, content BLOB, size AS \
        (length(content)) STORED);
        WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 700)
        INSERT INTO item (id, title, content) SELECT 3 * i, 'item ' || i, randomblob(i % 200 + iif(i % 50 = \
        0, 9000, 0)) FROM n;
        CREATE TABLE share (owner TEXT, item INTEGER, since REAL, PRIMARY KEY (owner, item)) WITHOUT ROWID;
        WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
        INSERT INTO share SELECT printf('owner %04d with a name', i), i, i + 0.5 FROM n;
        CREATE TABLE owner (name TEXT, note TEXT);
        WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)
        INSERT INTO owner SELECT 'owner ' || i, hex(randomblob(30)) FROM n;

        """

    /// A stray index makes pages of `share` ambiguous, so it is tested in a separate file.
    private static let index = "CREATE INDEX item_title ON item (title);"

    private static let rows = """
        SELECT 'item', id, title, hex(content), size FROM item; SELECT 'share', owner, item, since FROM share;
        SELECT 'owner', rowid, name, note FROM owner;
        """

    private func rows(_ shell: SQLCipherShell) throws -> Set<String> { Set(try shell.run(SalvageTests.rows)) }

    private func result(_ name: String) -> SQLCipherShell {
        SQLCipherShell(path: directory.path(name), rawKey: ShellFile.key)
    }

    private func overwrite(_ file: ShellFile, _ change: (inout [UInt8]) -> Void) throws {
        var bytes = try Array(Data(contentsOf: URL(fileURLWithPath: file.path)))
        change(&bytes)
        try Data(bytes).write(to: URL(fileURLWithPath: file.path))
    }

    @Test(
        "an undamaged file is salvaged unchanged, in each format and encoding",
        arguments: ShellFile.Format.allCases)
    func undamaged(format: ShellFile.Format) throws {
        for (number, encoding) in ["UTF-8", "UTF-16le", "UTF-16be"].enumerated() {
            let script =
                "PRAGMA encoding = '\(encoding)'; PRAGMA auto_vacuum = \(number);\n" + SampleSchema.everything
                + SampleSchema.texts
            let file = try ShellFile(directory.path("\(number).db"), format: format, script: script)
            let before = try (
                SampleSchema.dump(file.shell), Data(contentsOf: URL(fileURLWithPath: file.path))
            )
            let name = "\(number) salvaged.db"
            let salvage = try DatabaseFile(path: file.path).salvage(
                key: format == .plaintext ? nil : SalvageTests.key, to: directory.path(name),
                newKey: SalvageTests.key)
            #expect(salvage.isComplete && salvage.damagedPages.isEmpty, "\(salvage)")
            // A raw key opens both format 2 and format 3.
            if format != .sqlcipher2 { #expect(salvage.cipher == format.configuration.cipher) }
            #expect(try SampleSchema.dump(result(name)) == before.0)
            #expect(try Data(contentsOf: URL(fileURLWithPath: file.path)) == before.1)
        }
    }

    /// Damages every page in turn. Rows of other pages must be there, and no row that did not exist.
    @Test("a damaged page loses its own rows, and no others")
    func eachPage() throws {
        let file = try ShellFile(directory.path("a.db"), format: .sqlcipher4, script: SalvageTests.vault)
        let before = try rows(file.shell)
        let whole = try Data(contentsOf: URL(fileURLWithPath: file.path))
        let pageCount = whole.count / 4096
        var kinds: Set<Int> = []
        // The nightly run damages every page. The short run damages the first ones, which contain the roots
        // and their first descendants, and some of the rest.
        let step = Nightly.pick(1, byDay: 9)
        for page in 2...pageCount where page < 12 || page.isMultiple(of: step) {
            var damaged = whole
            damaged[(page - 1) * 4096 + 77] ^= 1
            try damaged.write(to: URL(fileURLWithPath: file.path))
            let name = "\(page).db"
            let salvage = try DatabaseFile(path: file.path).salvage(
                key: SalvageTests.key, to: directory.path(name))
            let after = try rows(result(name))
            #expect(after.isSubset(of: before), "page \(page)")
            let missing = before.count - after.count
            // The maximum number of rows on one page of `owner` or `share`.
            #expect(missing <= 140, "page \(page): \(missing) rows are missing: \(salvage)")
            #expect(salvage.damagedPages == [page] && !salvage.isComplete)
            #expect(salvage.tables.reduce(0) { $0 + $1.rowCount } == after.count, "page \(page)")
            kinds.insert(missing)
            for entry in salvage.tables where entry.missingPageCount > 0 && entry.name == "item" {
                #expect(!entry.missingRowIDs.isEmpty)
            }
            try FileManager.default.removeItem(atPath: directory.path(name))
        }
        // Damage to interior pages costs no rows in tables with row IDs. Damage to leaves does.
        #expect(kinds.contains(0) && kinds.count > 3)
    }

    @Test("after any damage, no row is invented, and none is salvaged twice")
    func randomDamage() throws {
        var random = SeededRandom("salvage")
        let script =
            SalvageTests.vault + SalvageTests.index
            + "DELETE FROM owner WHERE rowid % 5 < 2; DELETE FROM item WHERE id > 1500;"
        let file = try ShellFile(directory.path("a.db"), format: .sqlcipher4, script: script)
        let before = try rows(file.shell)
        let whole = try Data(contentsOf: URL(fileURLWithPath: file.path))
        let pageCount = whole.count / 4096
        for number in 0..<Nightly.pick(500, byDay: 12) {
            var damaged = whole
            let share = Double.random(in: 0.01...0.5, using: &random)
            for page in 1..<pageCount where Double.random(in: 0..<1, using: &random) < share {
                damaged[page * 4096 + Int.random(in: 0..<4096, using: &random)] ^= 0x40
            }
            try damaged.write(to: URL(fileURLWithPath: file.path))
            let name = "\(number).db"
            let salvage = try DatabaseFile(path: file.path).salvage(
                key: SalvageTests.key, to: directory.path(name))
            let lines = try result(name).run(SalvageTests.rows)
            #expect(
                Set(lines).count == lines.count && Set(lines).isSubset(of: before), "\(number): \(salvage)")
            #expect(try result(name).run("PRAGMA integrity_check") == ["ok"])
            try FileManager.default.removeItem(atPath: directory.path(name))
        }
    }

    @Test("without page 1 and its schema, rows are in tables for lost rows; with the salt, nothing is lost")
    func firstPage() throws {
        let file = try ShellFile(directory.path("a.db"), format: .sqlcipher4, script: SalvageTests.vault)
        let (before, salt) = (
            try rows(file.shell), try Array(Data(contentsOf: URL(fileURLWithPath: file.path)).prefix(16))
        )
        try overwrite(file) { for index in 0..<16 { $0[index] = 0xee } }
        let source = DatabaseFile(path: file.path)
        #expect(
            reason { _ = try source.salvage(key: SalvageTests.key, to: directory.path("none.db")) }
                == .damaged(pages: [1]))
        #expect(!directory.fileNames().contains("none.db"))
        var options = DatabaseFile.SalvageOptions()
        options.salt = salt
        let salvage = try source.salvage(key: SalvageTests.key, to: directory.path("b.db"), options: options)
        #expect(salvage.isComplete)
        #expect(try rows(result("b.db")) == before)
        try overwrite(file) { for index in 16..<4000 { $0[index] = 0 } }
        let rest = try source.salvage(key: SalvageTests.key, to: directory.path("c.db"), options: options)
        #expect(rest.damagedPages == [1] && rest.tables.isEmpty && rest.lostRowCount > 1_500)
        // The row ID of an item has its own column, and the value of the generated column is kept.
        let titles = try result("c.db").run(
            "SELECT count(*) FROM lost_and_found_4 WHERE c1 LIKE 'item %' AND c3 = length(c2) AND row_id % 3 = 0"
        )
        #expect(titles == ["700"])
    }

    @Test(
        "a damaged full-text index is rebuilt, and a table with a similar name is not part of it"
    )
    func fullText() throws {
        let script = """
            CREATE VIRTUAL TABLE words USING fts5(title, body);
            WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
            INSERT INTO words (rowid, title, body) SELECT i, 'title ' || i, 'silver ' || \
            hex(randomblob(200)) FROM n;
            CREATE TABLE words_notes (text);
            INSERT INTO words_notes VALUES ('kept'), ('too');
            """
        let file = try ShellFile(directory.path("a.db"), format: .sqlcipher4, script: script)
        let root = try #require(
            Int(file.shell.run("SELECT rootpage FROM sqlite_master WHERE name = 'words_data'")[0]))
        try overwrite(file) { $0[(root - 1) * 4096 + 9] ^= 1 }
        let salvage = try DatabaseFile(path: file.path).salvage(
            key: SalvageTests.key, to: directory.path("b.db"))
        #expect(salvage.problems.contains { $0.contains("rebuilt") }, "\(salvage)")
        let found = try result("b.db").run(
            """
            SELECT count(*), min(rowid), max(rowid) FROM words WHERE words MATCH 'silver';
            SELECT group_concat(text) FROM words_notes;
            PRAGMA integrity_check;
            """)
        #expect(found == ["400|1|400", "kept,too", "ok"])
    }

    @Test(
        "a table with a name like a shadow table's is not dropped with the shadow tables",
        arguments: [("fts4", "words_config"), ("fts3", "words_stat"), ("fts5", "words_segments")])
    func tableLikeAPart(module: String, name: String) throws {
        let script = """
            CREATE TABLE \(name) (text);
            INSERT INTO \(name) VALUES ('kept'), ('too');
            CREATE VIRTUAL TABLE words USING \(module)(title, body);
            WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
            INSERT INTO words (rowid, title, body) SELECT i, 'title ' || i, 'silver ' || \
            hex(randomblob(200)) FROM n;
            """
        let file = try ShellFile(directory.path("a.db"), format: .sqlcipher4, script: script)
        let root = try #require(
            Int(file.shell.run("SELECT rootpage FROM sqlite_master WHERE name = 'words_content'")[0]))
        try overwrite(file) { $0[(root - 1) * 4096 + 9] ^= 1 }
        let salvage = try DatabaseFile(path: file.path).salvage(
            key: SalvageTests.key, to: directory.path("b.db"))
        #expect(salvage.problems.contains { $0.contains("rebuilt") }, "\(salvage)")
        #expect(salvage.tables.first { $0.name == name }?.rowCount == 2, "\(salvage)")
        let found = try result("b.db").run("SELECT group_concat(text) FROM \(name); PRAGMA integrity_check;")
        #expect(found == ["kept,too", "ok"])
    }

    @Test(
        "a definition that does more than create its object is not executed, and its rows are kept as lost rows",
        arguments: [
            // Never ends.
            "CREATE TABLE item AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
            "CREATE TABLE other (id, text)", "CREATE TEMP TABLE item (id, text)",
            "CREATE VIRTUAL TABLE item USING fts5(text)",
            "CREATE VIEW item AS SELECT 1",
            "CREATE  TRIGGER item AFTER INSERT ON owner BEGIN DELETE FROM owner; END", "DROP TABLE owner",
            "ATTACH 'x.db' AS item", "PRAGMA writable_schema = ON",
        ])
    func forgedDefinition(definition: String) throws {
        let script = """
            CREATE TABLE owner (name);
            INSERT INTO owner VALUES ('Ada');
            CREATE TABLE item (id, text);
            INSERT INTO item VALUES (1, 'ring'), (2, 'coin');
            .dbconfig defensive off
            PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = '\(definition.replacingOccurrences(of: "'", with: "''"))' WHERE \
            name = 'item';
            """
        let file = try ShellFile(directory.path("a.db"), format: .sqlcipher4, script: script)
        let salvage = try DatabaseFile(path: file.path).salvage(
            key: SalvageTests.key, to: directory.path("b.db"))
        #expect(salvage.problems.contains { $0.hasPrefix("item could not be created") }, "\(salvage)")
        let found = try result("b.db").run(
            """
            SELECT group_concat(name, ' ') FROM sqlite_master;
            SELECT * FROM owner;
            SELECT c0, c1 FROM lost_and_found_2 ORDER BY c0;
            PRAGMA integrity_check;
            """)
        #expect(found == ["owner lost_and_found_2", "Ada", "1|ring", "2|coin", "ok"])
    }

    @Test("rows that break a constraint, and deleted rows, are kept as lost rows on request")
    func lostRows() throws {
        let script = """
            CREATE TABLE item (id INTEGER PRIMARY KEY, title TEXT, note TEXT);
            INSERT INTO item VALUES (1, 'ring', 'a'), (2, 'ring', 'b'), (3, NULL, 'c'), (4, 'spoon', 'd');
            CREATE TABLE gone (a, b); INSERT INTO gone VALUES ('deleted', 1); DROP TABLE gone;
            .dbconfig defensive off
            PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = 'CREATE TABLE item (id INTEGER PRIMARY KEY, title TEXT NOT NULL, \
            note TEXT)';
            """
        let file = try ShellFile(directory.path("a.db"), format: .plaintext, script: script)
        var options = DatabaseFile.SalvageOptions()
        options.includesFreePages = true
        let salvage = try DatabaseFile(path: file.path).salvage(
            key: nil, to: directory.path("b.db"), newKey: SalvageTests.key, options: options)
        #expect(
            salvage.tables.map(\.rowCount) == [3] && salvage.tables.map(\.refusedRowCount) == [1],
            "\(salvage)")
        #expect(
            try result("b.db").run("SELECT table_name, reason, row_id, c2 FROM lost_and_found_3")
                == ["item|NOT NULL constraint failed: item.title|3|c"])
        // SQLite may have wiped the page of the dropped table, and then there is nothing to find.
        #expect(salvage.lostRowCount >= 1)
        #expect(
            reason {
                _ = try DatabaseFile(path: file.path).salvage(
                    key: nil, to: directory.path("b.db"), newKey: SalvageTests.key)
            }
                == .exists)
    }

    @Test(
        "rows that a constraint would replace or drop become lost rows; a violated unique index is kept"
    )
    func conflicts() throws {
        let script = """
            CREATE TABLE item (id INTEGER PRIMARY KEY, code TEXT, size INT AS (length(code)) STORED, note \
            NUMERIC);
            INSERT INTO item (id, code, note) VALUES (1, 'a', 1), (2, 'b', '2x'), (3, 'a', 3.5), (4, 'c', \
            x'00'), (5, 'a', NULL);
            CREATE TABLE tag (name, CHECK (length(name) < 9));
            INSERT INTO tag VALUES ('red'), ('blue'), ('red');
            CREATE TABLE share (name TEXT, code TEXT);
            INSERT INTO share VALUES ('one', 'x'), ('two', 'y'), ('three', 'x');
            CREATE INDEX item_code ON item (code);
            CREATE INDEX share_code ON share (code COLLATE NOCASE) WHERE length(code) > 0;
            .dbconfig defensive off
            PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = replace(sql, 'CREATE INDEX', 'CREATE UNIQUE INDEX') WHERE type = \
            'index';
            """
        let file = try ShellFile(directory.path("a.db"), format: .sqlcipher4, script: script)
        let salvage = try DatabaseFile(path: file.path).salvage(
            key: SalvageTests.key, to: directory.path("b.db"))
        #expect(salvage.problems.isEmpty && salvage.lostRowCount == 3, "\(salvage)")
        #expect(
            salvage.tables.map(\.rowCount) == [3, 3, 2]
                && salvage.tables.map(\.refusedRowCount) == [2, 0, 1], "\(salvage)")
        let found = try result("b.db").run(
            """
            SELECT group_concat(name, ' ') FROM sqlite_master WHERE type = 'index';
            SELECT id, code, size, quote(note), typeof(note) FROM item;
            SELECT table_name, row_id, c0, c1 FROM lost_and_found_2 ORDER BY 1, 2;
            PRAGMA integrity_check;
            """)
        #expect(
            found == [
                "item_code share_code", "1|a|1|1|integer", "2|b|1|'2x'|text", "4|c|1|X'00'|blob",
                "item|3|a|3.5", "item|5|a|",
                "share|3|three|x", "ok",
            ], "\(found)")

        let replacing = """
            CREATE TABLE item (id INTEGER PRIMARY KEY, code TEXT);
            INSERT INTO item VALUES (1, 'a'), (2, 'b'), (3, 'a');
            CREATE UNIQUE INDEX u ON item (code) WHERE id < 0;
            .dbconfig defensive off
            PRAGMA writable_schema = ON;
            DELETE FROM sqlite_master WHERE name = 'u';
            UPDATE sqlite_master SET sql = 'CREATE TABLE item (id INTEGER PRIMARY KEY, code TEXT UNIQUE ON \
            CONFLICT REPLACE)';
            """
        let other = try ShellFile(directory.path("c.db"), format: .sqlcipher4, script: replacing)
        let again = try DatabaseFile(path: other.path).salvage(
            key: SalvageTests.key, to: directory.path("d.db"))
        #expect(again.tables.map(\.rowCount) == [2] && again.lostRowCount == 1, "\(again)")
        #expect(
            try result("d.db").run("SELECT id FROM item; SELECT row_id, c1 FROM lost_and_found_2") == [
                "1", "2", "3|a",
            ])
    }

    @Test(
        "the application's functions and collations are used; a table that lacks them becomes lost rows"
    )
    func functionsAndCollations() throws {
        var configuration = Configuration()
        configuration.key = SalvageTests.key
        let collation = DatabaseCollation("backwards") { first, second in
            let (first, second) = (String(first.reversed()), String(second.reversed()))
            return first < second ? .orderedAscending : first == second ? .orderedSame : .orderedDescending
        }
        let function = DatabaseFunction("weight", argumentCount: 1, pure: true) { values in
            Int.fromDatabaseValue(values[0]).map { $0 * 2 }
        }
        configuration.prepareDatabase { db in
            db.add(collation: collation)
            db.add(function: function)
        }
        let queue = try DatabaseQueue(path: directory.path("a.db"), configuration: configuration)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE item (title TEXT COLLATE backwards UNIQUE); INSERT INTO item VALUES \
                    ('ring'), ('coin'), ('spoon');
                    CREATE TABLE box (size INT, CHECK (weight(size) > 0)); INSERT INTO box VALUES (1), (2);
                    CREATE INDEX box_weight ON box (weight(size));
                    """)
        }
        try queue.close()
        var options = DatabaseFile.SalvageOptions()
        options.functions = [function]
        options.collations = [collation]
        let source = DatabaseFile(path: directory.path("a.db"))
        let with = try source.salvage(key: SalvageTests.key, to: directory.path("b.db"), options: options)
        #expect(with.isComplete && with.tables.map(\.rowCount) == [3, 2], "\(with)")
        let without = try source.salvage(key: SalvageTests.key, to: directory.path("c.db"))
        #expect(
            without.tables.isEmpty && without.lostRowCount == 5 && without.problems.count >= 2, "\(without)")
        #expect(
            try result("c.db").run("SELECT table_name, c0 FROM lost_and_found_1 ORDER BY 1, 2")
                == ["box|1", "box|2", "item|coin", "item|ring", "item|spoon"])
    }

    @Test("a view, trigger or virtual table that cannot be read affects no other object")
    func garbageInSchema() throws {
        let script = """
            CREATE TABLE item (title);
            INSERT INTO item VALUES ('ring'), ('coin');
            CREATE TABLE odd (a); INSERT INTO odd VALUES (1);
            CREATE VIEW titles AS SELECT title FROM item;
            CREATE TRIGGER orphan AFTER INSERT ON odd BEGIN DELETE FROM item; END;
            CREATE TRIGGER kept INSTEAD OF INSERT ON titles BEGIN INSERT INTO item VALUES (new.title); END;
            CREATE VIEW missing AS SELECT * FROM nowhere;
            CREATE VIRTUAL TABLE words USING fts5(text); INSERT INTO words VALUES ('ring');
            .dbconfig defensive off
            PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = 'CREATE TABLE odd (a COLLATE nowhere)' WHERE name = 'odd';
            INSERT INTO sqlite_master VALUES ('view', 'v', 'v', 0, 'CREATE garbage'), ('view', 'w', 'w', 0, \
            'CREATE TABLE w (a)'),
                ('table', 'x', 'x', 0, 'CREATE VIRTUAL garbage'), ('table', 'y', 'y', 0, 'CREATE VIRTUAL \
            TABLE z USING fts5(a)'),
                ('trigger', 'u', 'item', 0, 'CREATE TRIGGER u AFTER INSERT ON nowhere BEGIN SELECT 1; END'),
                ('view', 'say "no"' || char(10), 'n', 0, 'CREATE VIEW "say ""no""' || char(10) || '" AS \
            SELECT 1 AS one');
            """
        let file = try ShellFile(directory.path("a.db"), format: .sqlcipher4, script: script)
        let salvage = try DatabaseFile(path: file.path).salvage(
            key: SalvageTests.key, to: directory.path("b.db"))
        #expect(salvage.problems.count == 7, "\(salvage.problems)")
        let found = try result("b.db").run(
            """
            SELECT name FROM sqlite_master WHERE rootpage = 0 ORDER BY 1; SELECT * FROM titles; SELECT one \
            FROM "say ""no""
            "; SELECT text FROM words WHERE words MATCH 'ring'; SELECT table_name, c0 FROM lost_and_found_1; \
            PRAGMA integrity_check;
            """)
        #expect(
            found == [
                "kept", "missing", "say \"no\"", "", "titles", "words", "ring", "coin", "1", "ring", "odd|1",
                "ok",
            ], "\(found)")
    }

    /// A file of an attacker with the key. It has overlapping cells, and interior pages that name one page
    /// thousands of times.
    @Test(
        "content that forged pages name repeatedly is read once, at a cost bounded by the file's size",
        arguments: [false, true])
    func bombs(isInterior: Bool) throws {
        let script =
            "PRAGMA page_size = 4096; CREATE TABLE item (a); INSERT INTO item VALUES (zeroblob(3900));"
        let file = try ShellFile(directory.path("a.db"), format: .plaintext, script: script)
        var bytes = try Array(Data(contentsOf: URL(fileURLWithPath: file.path)))
        bytes += [UInt8](repeating: 0, count: 60 * 4096)
        let pageCount = bytes.count / 4096
        for number in 2...pageCount {
            var page = [UInt8](repeating: 0, count: 4096)
            let leads = isInterior && number < pageCount
            let (head, cells, place) = leads ? (12, 2030, 4080) : (8, 90, 200)
            page[0] = leads ? 5 : 13
            (page[3], page[4]) = (UInt8(cells >> 8), UInt8(cells & 255))
            if leads {
                page[11] = UInt8(number + 1)
                (page[place + 3], page[place + 4]) = (UInt8(number + 1), 1)
            } else {
                // A record of 3,846 bytes: its size, its row ID, and a header of three bytes for a blob of
                // 3,843 bytes.
                page.replaceSubrange(place..<place + 5, with: [0x9e, 0x06, 1, 3, 0xbc])
                page[place + 5] = 0x12
            }
            for index in 0..<cells {
                (page[head + 2 * index], page[head + 2 * index + 1]) = (UInt8(place >> 8), UInt8(place & 255))
            }
            bytes.replaceSubrange((number - 1) * 4096..<number * 4096, with: page)
        }
        bytes.replaceSubrange(28..<32, with: [0, 0, 0, UInt8(pageCount)])
        try Data(bytes).write(to: URL(fileURLWithPath: file.path))
        let salvage = try DatabaseFile(path: file.path).salvage(
            key: nil, to: directory.path("b.db"), newKey: SalvageTests.key)
        let rows = salvage.tables[0].rowCount + salvage.lostRowCount
        #expect(rows >= 1 && rows <= pageCount, "\(salvage)")
        #expect(salvage.tables[0].missingRowIDs.count <= pageCount)
        let size = try #require(
            FileManager.default.attributesOfItem(atPath: directory.path("b.db"))[.size] as? Int)
        #expect(size < 2 * bytes.count)
    }

    @Test(
        "with any bytes in the database, the salvage ends, and the pages of its result are intact")
    func hostileBytes() throws {
        var random = SeededRandom("salvage of garbage")
        let script = "PRAGMA page_size = 512;\n" + SampleSchema.everything
        let file = try ShellFile(directory.path("a.db"), format: .plaintext, script: script)
        let whole = try Array(Data(contentsOf: URL(fileURLWithPath: file.path)))
        // A virtual table with a garbage definition cannot be queried, which verification reports. Only the
        // pages matter here.
        var look = DatabaseFile.VerificationOptions()
        look.structure = .none
        for number in 0..<Nightly.pick(10_000, byDay: 150) {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...40, using: &random) {
                // The page size is not changed, because with a wrong one nothing can be read.
                let place = Int.random(in: 24..<bytes.count, using: &random)
                let length = min(
                    [1, 1, 2, 4, 9, 300].randomElement(using: &random) ?? 1, bytes.count - place)
                let filler = [UInt8(0xff), 0, 0x80, 0x7f].randomElement(using: &random)
                for index in place..<place + length {
                    bytes[index] = filler ?? UInt8.random(in: 0...255, using: &random)
                }
            }
            if number.isMultiple(of: 10) {
                bytes.removeLast(Int.random(in: 1..<bytes.count - 1024, using: &random))
            }
            try Data(bytes).write(to: URL(fileURLWithPath: file.path))
            let name = "\(number).db"
            do {
                _ = try DatabaseFile(path: file.path).salvage(
                    key: nil, to: directory.path(name), newKey: SalvageTests.key)
                #expect(
                    try DatabaseFile(path: directory.path(name)).verify(key: SalvageTests.key, options: look)
                        .isIntact, "\(number)")
                try FileManager.default.removeItem(atPath: directory.path(name))
            } catch let error as DatabaseFileError {
                // A definition may require something that does not exist. Nothing of the copy may be left.
                #expect(!directory.fileNames().contains(name), "\(number): \(error)")
            }
        }
    }
}
