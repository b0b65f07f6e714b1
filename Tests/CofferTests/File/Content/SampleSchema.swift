import Coffer
import CofferTestSupport
import Foundation

/// Databases with everything that can make a copy go wrong. The `sqlcipher` shell makes them, independently
/// of Coffer.
enum SampleSchema {
    /// One object of every kind, except texts that depend on the encoding: see ``texts``.
    static let everything = #"""
        .dbconfig dqs_ddl on
        PRAGMA user_version = 1234567;
        PRAGMA application_id = -7654321;
        CREATE TABLE plain (a, b TEXT, c INTEGER, d REAL, e BLOB, f NUMERIC);
        INSERT INTO plain (rowid, a, b, c, d, e, f) VALUES
            (-9223372036854775808, 1, 'x', 2, 3.5, x'00ff', 9007199254740993), (-5, NULL, NULL, NULL, NULL, NULL, NULL),
            (7, '', '', 0, 0.0, x'', '12abc'), (100, 9e999, 'NUL' || char(0) || 'after', -9e999, 1, zeroblob(5000), -0.0),
            (9223372036854775807, x'616263', 1.5, '7x', 'not a number', 'text in a blob column', 1e300);
        DELETE FROM plain WHERE rowid = 7 AND a = 'nothing';
        CREATE TABLE key (id INTEGER PRIMARY KEY, v UNIQUE, w TEXT COLLATE NOCASE DEFAULT ('a' || 'b'), CHECK (v <> "never"));
        INSERT INTO key (id, v) VALUES (3, 'c'), (-1, 'a'), (1000000, 'b');
        ALTER TABLE key ADD COLUMN late TEXT DEFAULT '';
        CREATE TABLE descending (id INTEGER PRIMARY KEY DESC, v);
        INSERT INTO descending (rowid, id, v) VALUES (10, 1, 'one'), (5, 2, 'two');
        CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT, v);
        INSERT INTO counted (id, v) VALUES (1, 'x'), (500, 'y');
        DELETE FROM counted WHERE id = 500;
        CREATE TABLE clustered (a TEXT COLLATE NOCASE, b INTEGER, c, PRIMARY KEY (b DESC, a)) WITHOUT ROWID;
        INSERT INTO clustered VALUES ('B', 1, x'01'), ('a', 1, 'lower'), ('z', -3, NULL), ('', 9, 0.25);
        CREATE TABLE number (n INTEGER PRIMARY KEY, v) WITHOUT ROWID;
        INSERT INTO number VALUES (5, 'five'), (-5, 'minus five');
        CREATE TABLE generated (a INTEGER, b AS (a * 2) VIRTUAL, c TEXT AS ('s' || a) STORED, d);
        INSERT INTO generated (a, d) VALUES (1, 'one'), (2, 'two');
        CREATE TABLE strict (i INT, r REAL, t TEXT, b BLOB, a ANY) STRICT;
        INSERT INTO strict VALUES (1, 2, '3', x'04', '05'), (NULL, NULL, NULL, NULL, 5);
        CREATE TABLE shadowed (rowid TEXT, _rowid_ TEXT, v);
        INSERT INTO shadowed (oid, rowid, _rowid_, v) VALUES (77, 'r', '_r_', 1), (12, 'q', '_q_', 2);
        CREATE TABLE hidden (rowid, _rowid_, oid, v);
        INSERT INTO hidden VALUES (3, 2, 1, 'x'), (1, 1, 1, 'y');
        CREATE TABLE "odd ""name"" 'quoted' [x]" ("a ""b""" TEXT, "select" INTEGER, "" BLOB, "é", "key" PRIMARY KEY);
        INSERT INTO "odd ""name"" 'quoted' [x]" VALUES ('1', 2, x'03', 4, 5);
        CREATE INDEX "odd ""index""" ON "odd ""name"" 'quoted' [x]" ("select", "a ""b""" DESC);
        CREATE INDEX expressions ON plain (length(b), c + 1) WHERE c IS NOT NULL;
        CREATE UNIQUE INDEX uniqueness ON counted (v COLLATE RTRIM);
        CREATE TABLE parent (id INTEGER PRIMARY KEY);
        CREATE TABLE child (id INTEGER PRIMARY KEY, parent REFERENCES parent ON DELETE CASCADE);
        INSERT INTO child VALUES (1, 99);
        CREATE TABLE log (v);
        CREATE TRIGGER logging AFTER INSERT ON plain BEGIN INSERT INTO log VALUES (new.a); END;
        CREATE TRIGGER forbidding BEFORE INSERT ON number BEGIN SELECT RAISE(ABORT, 'no'); END;
        CREATE VIEW "view 1" AS SELECT v FROM key;
        CREATE TRIGGER "on ""view""" INSTEAD OF INSERT ON "view 1" BEGIN INSERT INTO log VALUES (1); END;
        CREATE VIEW broken AS SELECT * FROM no_such_table;
        CREATE VIRTUAL TABLE words USING fts5(title, body, tokenize = 'porter unicode61');
        INSERT INTO words (rowid, title, body) VALUES (5, 'running foxes', 'the quick brown fox'), (-2, 'dogs', 'lazy');
        CREATE VIRTUAL TABLE external USING fts5(v, content = 'key', content_rowid = 'id');
        INSERT INTO external (external) VALUES ('rebuild');
        CREATE VIRTUAL TABLE old USING fts4(a, b);
        INSERT INTO old (docid, a, b) VALUES (3, 'alpha beta', 'gamma');
        CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1, y0, y1);
        INSERT INTO boxes VALUES (1, 0, 1, 0, 1), (2, 5, 6.5, -3, 4);
        CREATE TABLE dropped (id INTEGER PRIMARY KEY, filler BLOB);
        INSERT INTO dropped SELECT value, randomblob(2000) FROM generate_series(1, 100);
        DROP TABLE dropped;
        ANALYZE;

        """#

    /// Text that a conversion would change, in a database that stores UTF-8 or UTF-16.
    static let texts = """
        CREATE TABLE texts (t TEXT, u);
        INSERT INTO texts VALUES
            (char(0xfeff) || 'mark', 'é'), (char(0xfffe) || 'swapped', char(0x1f600)), (CAST(x'ff41' AS \
        TEXT), CAST(x'c328' AS TEXT)),
            (CAST(x'00d8' AS TEXT), CAST(x'00d84100' AS TEXT)), ('', char(0)), (char(0xfeff), char(0xfeff)), \
        (NULL, x'fffe41');

        """

    /// Returns the content that the shell reads, for comparison: the schema, each row with its row ID, as
    /// literals and as bytes, and the version numbers.
    static func dump(_ shell: SQLCipherShell) throws -> [String] {
        let lines = try shell.run(
            """
            SELECT json_array(m.name, l.wr, x.name) FROM sqlite_master m
            JOIN pragma_table_list l ON l.schema = 'main' AND l.name = m.name JOIN \
            pragma_table_xinfo(m.name) x
            WHERE m.type = 'table' AND m.rootpage > 0 ORDER BY m.name, x.cid;
            """)
        var tables: [(name: String, isClustered: Bool, columns: [String])] = []
        for line in lines {
            guard let fields = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [Any],
                let name = fields[0] as? String,
                let column = fields[2] as? String
            else { throw SQLCipherShell.Failure(description: "not expected: \(line)") }
            if tables.last?.name != name { tables.append((name, fields[1] as? Int == 1, [])) }
            tables[tables.count - 1].columns.append(column)
        }
        var script = """
            PRAGMA user_version; PRAGMA application_id; PRAGMA auto_vacuum; PRAGMA encoding;
            SELECT type, name, tbl_name, quote(sql) FROM sqlite_master ORDER BY type, name;

            """
        for table in tables {
            let alias = ["rowid", "_rowid_", "oid"].first { !table.columns.contains($0) }
            let rowID = table.isClustered ? nil : alias
            let values = ([rowID].compactMap(\.self) + table.columns.map(\.quotedDatabaseIdentifier)).map {
                "typeof(\($0)) || ':' || hex(CAST(\($0) AS BLOB)) || ':' || quote(\($0))"
            }
            script += "SELECT \(values.joined(separator: ", ")) FROM \(table.name.quotedDatabaseIdentifier)"
            script +=
                rowID.map { " NOT INDEXED ORDER BY \($0);\n" }
                ?? " ORDER BY \((1...values.count).map(String.init).joined(separator: ", "));\n"
        }
        return try shell.run(script)
    }
}
