import CofferTestSupport
import Foundation
import SQLCipherBridge
import SystemCalls
import Testing

@testable import Coffer

/// Databases forged by an attacker with the key. A forgery may cost the data that it concerns, and nothing
/// else.
@Suite("Salvaging forged content")
struct SalvageForgedTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private static let key = DatabaseKey.rawKey(ShellFile.key)

    private func salvage(_ script: String, _ change: String) throws -> DatabaseFile.Salvage {
        let file = try ShellFile(
            directory.path("a.db"), format: .sqlcipher4,
            script: script + ".dbconfig defensive off\nPRAGMA writable_schema = ON;\n" + change)
        return try DatabaseFile(path: file.path).salvage(
            key: SalvageForgedTests.key, to: directory.path("b.db"))
    }

    private func found(_ sql: String) throws -> [String] {
        try SQLCipherShell(path: directory.path("b.db"), rawKey: ShellFile.key).run(sql)
    }

    @Test("a virtual table that cannot be opened, or is incomplete, affects no other table")
    func virtualTables() throws {
        let salvage = try salvage(
            """
            CREATE TABLE item (title); INSERT INTO item VALUES ('ring'), ('coin');
            CREATE VIRTUAL TABLE kept USING fts5(text); INSERT INTO kept VALUES ('ring');
            CREATE VIRTUAL TABLE words USING fts5(text); INSERT INTO words VALUES ('silver'), ('gold');
            CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1); INSERT INTO boxes VALUES (1, 2, 3);

            """,
            """
            INSERT INTO sqlite_master VALUES ('table', 'f', 'f', 0, \
            'CREATE VIRTUAL TABLE f USING fts5(a, content=''t'')');
            UPDATE words_content SET c0 = 'copper' WHERE id = 1;
            DELETE FROM sqlite_master WHERE name LIKE 'boxes_%';

            """)
        #expect(salvage.tables.first { $0.name == "item" }?.rowCount == 2, "\(salvage)")
        for name in ["f ", "boxes "] {
            #expect(salvage.problems.contains { $0.hasPrefix(name) }, "\(salvage.problems)")
        }
        #expect(
            try found(
                """
                SELECT title FROM item; SELECT text FROM kept WHERE kept MATCH 'ring';
                SELECT text FROM words WHERE words MATCH 'copper'; PRAGMA integrity_check;
                """) == ["ring", "coin", "ring", "copper", "ok"])
    }

    @Test(
        "a row whose generated column cannot be computed, or has an excessive cost, is kept as a lost row",
        arguments: [
            "zeroblob(999999999)", "zeroblob(99999999)", "abs(-9223372036854775807 - 1)",
        ])
    func generatedColumns(expression: String) throws {
        let definition = "CREATE TABLE item (title, size AS (\(expression)) STORED)"
        let salvage = try salvage(
            """
            CREATE TABLE item (title, size AS (length(title)) STORED);
            INSERT INTO item VALUES ('ring'), ('coin');
            CREATE TABLE owner (name); INSERT INTO owner VALUES ('Ada'), (zeroblob(900000));

            """,
            """
            UPDATE sqlite_master SET sql = '\(definition.replacingOccurrences(of: "'", with: "''"))' \
            WHERE name = 'item';

            """)
        #expect(salvage.tables.map(\.rowCount) == [0, 2], "\(salvage)")
        #expect(
            try found(
                """
                SELECT length(name) FROM owner; SELECT c0, c1 FROM lost_and_found_2;
                PRAGMA integrity_check;
                """) == ["3", "900000", "ring|4", "coin|4", "ok"])
    }

    @Test(
        "a definition that creates nothing, or an object of another name, affects no other objects",
        arguments: ["char(0) || sql", "'-- ' || sql", "''", "replace(sql, 'item', 'other')"])
    func definitionsOfNothing(definition: String) throws {
        let salvage = try salvage(
            """
            CREATE TABLE item (title); INSERT INTO item VALUES ('ring'), ('coin');
            CREATE INDEX item_title ON item (title);
            CREATE TABLE owner (name); INSERT INTO owner VALUES ('Ada');
            CREATE VIEW items AS SELECT title FROM item;

            """,
            "UPDATE sqlite_master SET sql = \(definition) WHERE name <> 'owner';\n")
        #expect(salvage.tables.map(\.name) == ["owner"], "\(salvage)")
        #expect(salvage.lostRowCount == 2, "\(salvage)")
        for name in ["item ", "item_title ", "items "] {
            #expect(salvage.problems.contains { $0.hasPrefix(name) }, "\(name): \(salvage.problems)")
        }
        #expect(
            try found("SELECT c0 FROM lost_and_found_1; SELECT name FROM owner; PRAGMA integrity_check")
                == ["ring", "coin", "Ada", "ok"])
    }

    @Test(
        "a file whose tables cannot be created keeps its encoding",
        arguments: ["UTF-8", "UTF-16le", "UTF-16be"])
    func encodingWithoutTables(encoding: String) throws {
        let salvage = try salvage(
            "PRAGMA encoding = '\(encoding)'; CREATE TABLE item (title);\n",
            "UPDATE sqlite_master SET sql = 'CREATE TABLE item';\n")
        #expect(salvage.tables.isEmpty, "\(salvage)")
        #expect(try found("PRAGMA encoding; PRAGMA integrity_check") == [encoding, "ok"])
    }

    @Test("a full-text index that claims more memory than is available is rebuilt; nothing else is lost")
    func indexWithoutMemory() throws {
        let salvage = try salvage(
            """
            CREATE TABLE item (title); INSERT INTO item VALUES ('ring');
            CREATE VIRTUAL TABLE words USING fts5(title);
            WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
            INSERT INTO words SELECT 'item ' || i FROM n;

            """,
            """
            UPDATE words_data SET block = CAST(substr(block, 1, 488) || x'ffffffffffffffffff' \
            || substr(block, 498) AS BLOB) WHERE id > 20;

            """)
        #expect(salvage.tables.first { $0.name == "item" }?.rowCount == 1, "\(salvage)")
        #expect(salvage.problems.contains { $0.contains("rebuilt") }, "\(salvage.problems)")
        #expect(
            try found(
                """
                SELECT title FROM item; SELECT count(*) FROM words WHERE words MATCH 'item';
                PRAGMA integrity_check;
                """) == ["ring", "60", "ok"])
    }

    @Test("a virtual table that would keep every connection from reading the schema is not created")
    func wordsBeforeADefinition() throws {
        let salvage = try salvage(
            """
            CREATE TABLE item (title); INSERT INTO item VALUES ('ring');
            CREATE VIRTUAL TABLE words USING fts5(title);

            """,
            "UPDATE sqlite_master SET sql = '/* */ ' || sql WHERE name = 'words';\n")
        #expect(salvage.problems.contains { $0.hasPrefix("words ") }, "\(salvage.problems)")
        #expect(try found("SELECT title FROM item; PRAGMA integrity_check") == ["ring", "ok"])
    }

    @Test("a virtual table that claims to belong to another table is created, and can be opened")
    func tableOfAnotherName() throws {
        let salvage = try salvage(
            """
            CREATE TABLE item (title); INSERT INTO item VALUES ('ring');
            CREATE VIRTUAL TABLE words USING fts5(title); INSERT INTO words VALUES ('coin');

            """,
            "UPDATE sqlite_master SET tbl_name = 'worüs' WHERE name = 'words';\n")
        #expect(salvage.isComplete, "\(salvage.problems)")
        #expect(
            try found(
                """
                SELECT title FROM item; SELECT title FROM words WHERE words MATCH 'coin';
                PRAGMA integrity_check;
                """) == ["ring", "coin", "ok"])
    }

    @Test("a definition cannot call functions with side effects")
    func functions() throws {
        let salvage = try salvage(
            "CREATE TABLE item (title); INSERT INTO item VALUES ('ring');\n",
            """
            UPDATE sqlite_master SET sql = \
            'CREATE TABLE item (title, size DEFAULT (sqlcipher_export(''main'')))';

            """)
        #expect(salvage.tables.map(\.rowCount) == [0], "\(salvage)")
        #expect(
            try found("SELECT reason, c0 FROM lost_and_found_1; PRAGMA integrity_check")
                == ["unsafe use of sqlcipher_export()|ring", "ok"])
    }

    @Test("shadow tables of a full-text table that could not be rebuilt are verified like any other tables")
    func proofOfWhatWasRolledBack() throws {
        let script = """
            CREATE VIRTUAL TABLE words USING fts5(title);
            WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
            INSERT INTO words (rowid, title) SELECT i, 'silver ' || hex(randomblob(200)) FROM n;
            .dbconfig defensive off
            PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = 'CREATE VIRTUAL TABLE words USING fts5(title, tokenize=nowhere)' \
            WHERE name = 'words';

            """
        let file = try ShellFile(directory.path("a.db"), format: .plaintext, script: script)
        let root = try #require(
            Int(file.shell.run("SELECT rootpage FROM sqlite_master WHERE name = 'words_data'")[0]))
        var bytes = try Array(Data(contentsOf: URL(fileURLWithPath: file.path)))
        bytes[(root - 1) * 4096] = 0xff
        try Data(bytes).write(to: URL(fileURLWithPath: file.path))
        let pages = try SalvagedPages(
            PageFile(StoredView(file.path, pageSize: nil, timeout: 0), .plaintext))
        let new = try SealedPages(
            HeldFile(creating: directory.path("b.db")),
            FileProtection.encrypted(SalvageForgedTests.key, cipher: CipherSettings()))
        let connection = try new.open()
        let handle = connection.handle
        let made = try SalvagedContent(
            pages, into: handle, DatabaseFile.SalvageOptions(), ProgressReport(nil)
        ).make()
        #expect(made.problems.contains { $0.contains("could not be rebuilt") }, "\(made.problems)")
        try made.proof.check(handle, "b.db")
        try handle.execute("DELETE FROM words_content WHERE id = 7")
        #expect(throws: DatabaseFileError.self) { try made.proof.check(handle, "b.db") }
    }

    @Test(
        "a virtual table that is in the schema twice, in any letter case, is created once",
        arguments: ["f", "F"])
    func virtualTableTwice(name: String) throws {
        let salvage = try salvage(
            """
            CREATE TABLE item (title); INSERT INTO item VALUES ('ring');
            CREATE VIRTUAL TABLE f USING fts4(a);

            """,
            """
            INSERT INTO sqlite_master
            SELECT type, '\(name)', '\(name)', rootpage, replace(sql, ' f ', ' \(name) ')
            FROM sqlite_master WHERE name = 'f';

            """)
        #expect(salvage.problems == ["\(name) is in the schema twice, and was created once."])
        #expect(
            try found("SELECT title FROM item; SELECT count(*) FROM f; PRAGMA integrity_check;")
                == ["ring", "0", "ok"])
    }

    @Test("tables with the name of the sequence table do not affect other tables")
    func sequences() throws {
        let salvage = try salvage(
            """
            CREATE TABLE q (z); CREATE TABLE evil (z); INSERT INTO q VALUES (1); INSERT INTO evil VALUES (2);
            CREATE TABLE item (id INTEGER PRIMARY KEY AUTOINCREMENT, title);
            INSERT INTO item (title) VALUES ('ring'), ('coin'); DELETE FROM item WHERE id = 2;

            """,
            """
            UPDATE sqlite_master SET name = 'SQLITE_SEQUENCE', tbl_name = 'SQLITE_SEQUENCE',
                sql = 'CREATE TABLE SQLITE_SEQUENCE(z)' WHERE name = 'q';
            UPDATE sqlite_master SET sql = 'CREATE TABLE sqlite_sequence(a, b, c)' WHERE name = 'evil';

            """)
        #expect(salvage.problems.count == 1 && salvage.problems[0].hasPrefix("evil could not be created"))
        #expect(
            try found("SELECT title FROM item; INSERT INTO item (title) VALUES ('spoon') RETURNING id;")
                == ["ring", "3"])
        #expect(try found("PRAGMA integrity_check") == ["ok"])
        #expect(
            try found("SELECT table_name || c0 FROM lost_and_found_1 ORDER BY 1")
                == ["SQLITE_SEQUENCE1", "evil2"])
    }

    @Test("defaults of short rows have the same cost limit as generated columns")
    func defaults() throws {
        let salvage = try salvage(
            """
            CREATE TABLE item (id INTEGER PRIMARY KEY);
            WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
            INSERT INTO item SELECT i FROM n;
            CREATE TABLE kept (id INTEGER PRIMARY KEY); INSERT INTO kept SELECT id FROM item;

            """,
            """
            UPDATE sqlite_master
            SET sql = 'CREATE TABLE item (id INTEGER PRIMARY KEY, b DEFAULT (zeroblob(100000)))'
            WHERE name = 'item';
            UPDATE sqlite_master SET sql = 'CREATE TABLE kept (id INTEGER PRIMARY KEY, b DEFAULT ''new'')'
            WHERE name = 'kept';

            """)
        #expect(salvage.tables.map(\.rowCount) == [0, 300] && salvage.lostRowCount == 300)
        #expect(try found("SELECT count(*) FROM kept WHERE b = 'new'") == ["300"])
        let size = try #require(try SystemFile.status(directory.path("b.db"))).size
        #expect(size < 200_000)
    }

    @Test(
        "rows that break a unique index, and are too long for the tables of lost rows, are not lost"
    )
    func brokenIndex() throws {
        for length in [16, 24, 36] {
            // The size for which the file has pages, and a bit less.
            let limit = 65536 + 16 * 4 * 4016 - length
            let salvage = try salvage(
                """
                CREATE TABLE kept (a); INSERT INTO kept VALUES (1);
                CREATE TABLE item (id INTEGER PRIMARY KEY); INSERT INTO item VALUES (1), (2);
                CREATE INDEX i ON item (id);

                """,
                """
                UPDATE sqlite_master SET sql = 'CREATE TABLE item (id INTEGER PRIMARY KEY, \
                b DEFAULT (zeroblob(\(limit))), c DEFAULT 1)' WHERE name = 'item';
                UPDATE sqlite_master SET sql = 'CREATE UNIQUE INDEX i ON item (c)' WHERE name = 'i';

                """)
            #expect(salvage.tables.map(\.rowCount).reduce(0, +) + salvage.lostRowCount == 3, "\(salvage)")
            for name in ["a.db", "b.db"] {
                try FileManager.default.removeItem(atPath: directory.path(name))
            }
        }
    }
}
