import Coffer
import CofferTestSupport
import Foundation
import Testing

private final class Text: TextOutputStream {
    var text = ""
    func write(_ string: String) { text += string }
}

@Suite("Dumps")
struct DumpTests {
    private static let rows = """
        CREATE TABLE t (id INTEGER PRIMARY KEY, n, b, text);
        INSERT INTO t VALUES (1, NULL, x'5B5D', 'a' || char(10) || 'b'), (2, 1.5, x'80', 'it''s')
        """

    private func dump(_ schema: String = rows, _ body: (Database, any TextOutputStream) throws -> Void) throws
        -> String
    {
        let stream = Text()
        try DatabaseQueue().inDatabase { db throws in
            try db.execute(sql: schema)
            try body(db, stream)
        }
        return stream.text
    }

    private func rows(_ format: some DumpFormat) throws -> String {
        try dump { db, stream throws in try db.dumpSQL("SELECT * FROM t", format: format, to: stream) }
    }

    /// Returns the dump of one value.
    private func value(_ sql: String, _ format: some DumpFormat) throws -> String {
        try dump { db, stream throws in
            try db.dumpSQL(SQL(sql: "SELECT \(sql) AS v"), format: format, to: stream)
        }
    }

    private var pretty: JSONEncoder {
        let encoder = JSONDumpFormat.defaultEncoder
        encoder.outputFormatting.insert(.prettyPrinted)
        return encoder
    }

    // MARK: Formats

    @Test("the five formats")
    func formats() throws {
        #expect(try rows(.debug()) == "1||[]|a\nb\n2|1.5|X'80'|it's\n")
        #expect(try rows(.list()) == "1||[]|a\nb\n2|1.5|\u{FFFD}|it's\n")
        #expect(try rows(.quote()) == "1,NULL,X'5B5D','a\nb'\n2,1.5,X'80','it''s'\n")
        #expect(
            try rows(.line())
                == "  id = 1\n   n = \n   b = []\ntext = a\nb\n\n  id = 2\n   n = 1.5\n   b = \u{FFFD}\ntext = it's\n"
        )
        #expect(
            try rows(.json())
                == #"[{"id":1,"n":null,"b":"W10=","text":"a\nb"},"# + "\n"
                + #"{"id":2,"n":1.5,"b":"gA==","text":"it's"}]"# + "\n")
        let short = try dump { db, stream throws in
            try db.dumpSQL("SELECT id, n FROM t", format: .json(encoder: pretty), to: stream)
        }
        #expect(
            short
                == "[\n  {\n    \"id\":1,\n    \"n\":null\n  },\n  {\n    \"id\":2,\n    \"n\":1.5\n  }\n]\n")
    }

    @Test("headers, separators and NULL")
    func options() throws {
        #expect(
            try rows(.debug(header: true, separator: ";", nullValue: "none")).hasPrefix(
                "id;n;b;text\n1;none;[];a\nb\n2;"))
        #expect(
            try rows(.list(header: true, separator: "\t", nullValue: "-")).hasPrefix(
                "id\tn\tb\ttext\n1\t-\t[]\ta\nb\n"))
        #expect(
            try rows(.quote(header: true, separator: "; ")).hasPrefix(
                "'id'; 'n'; 'b'; 'text'\n1; NULL; X'5B5D'; "))
        #expect(try rows(.line(nullValue: "NULL")).contains("   n = NULL\n"))
        var debug = DebugDumpFormat()
        #expect(!debug.header && debug.separator == "|" && debug.nullValue == "")
        (debug.header, debug.separator, debug.nullValue) = (true, "+", "0")
        #expect(try rows(debug).hasPrefix("id+n+b+text\n1+0+"))
        #expect(
            ListDumpFormat().separator == "|" && QuoteDumpFormat().separator == ","
                && LineDumpFormat().nullValue == "")
    }

    @Test(
        "values",
        arguments: [
            ("NULL", "", "", "v = ", "NULL", "null"), ("-5", "-5", "-5", "v = -5", "-5", "-5"),
            ("1.0", "1.0", "1.0", "v = 1.0", "1.0", "1"),
            ("-0.5", "-0.5", "-0.5", "v = -0.5", "-0.5", "-0.5"),
            ("9e999", "inf", "inf", "v = inf", "9.0e+999", "\"inf\""),
            ("-9e999", "-inf", "-inf", "v = -inf", "-9.0e+999", "\"-inf\""),
            ("9e999 - 9e999", "", "", "v = ", "NULL", "null"),
            ("'it''s/x'", "it's/x", "it's/x", "v = it's/x", "'it''s/x'", "\"it's/x\""),
            ("''", "", "", "v = ", "''", "\"\""),
            ("x''", "", "", "v = ", "X''", "\"\""),
            ("x'80'", "X'80'", "\u{FFFD}", "v = \u{FFFD}", "X'80'", "\"gA==\""),
            (
                "x'FF0102030405060708090A0B0C0D0E0F'", "FF010203-0405-0607-0809-0A0B0C0D0E0F",
                "\u{FFFD}\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}\u{8}\t\n\u{B}\u{C}\r\u{E}\u{F}",
                "v = \u{FFFD}\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}\u{8}\t\n\u{B}\u{C}\r\u{E}\u{F}",
                "X'FF0102030405060708090A0B0C0D0E0F'",
                "\"/wECAwQFBgcICQoLDA0ODw==\""
            ),
        ])
    func values(sql: String, debug: String, list: String, line: String, quote: String, json: String) throws {
        #expect(try value(sql, .debug()) == debug + "\n")
        #expect(try value(sql, .list()) == list + "\n")
        #expect(try value(sql, .line()) == line + "\n")
        #expect(try value(sql, .quote()) == quote + "\n")
        #expect(try value(sql, .json()) == "[{\"v\":\(json)}]\n")
        #expect(try value(sql, .quote()) == value("quote(\(sql))", .list()))
    }

    @Test("no rows, and statements without columns")
    func nothing() throws {
        for sql in ["SELECT * FROM t WHERE 0", "CREATE TABLE u(a); INSERT INTO u VALUES (1)"] {
            let text = { (format: any DumpFormat) in
                try dump { db, stream throws in try db.dumpSQL(SQL(sql: sql), format: format, to: stream) }
            }
            for format in [
                DebugDumpFormat(header: true), ListDumpFormat(header: true), LineDumpFormat(),
                QuoteDumpFormat(header: true),
            ]
                as [any DumpFormat]
            {
                #expect(try text(format) == "")
            }
            #expect(try text(JSONDumpFormat()) == (sql.hasPrefix("SELECT") ? "[]\n" : ""))
        }
    }

    @Test("JSON keeps the order of columns, and columns of one name")
    func jsonColumns() throws {
        let text = try dump { db, stream throws in
            let encoder = JSONDumpFormat.defaultEncoder
            encoder.outputFormatting = .sortedKeys
            try db.dumpSQL(
                "SELECT 1 AS b, 2 AS a, 3 AS b, 'x/\"y' AS \"q\"\"q\"", format: .json(encoder: encoder),
                to: stream)
        }
        #expect(text == #"[{"b":1,"a":2,"b":3,"q\"q":"x\/\"y"}]"# + "\n")
    }

    @Test(
        "columns that the library adds for itself are left out of rows, and not of headers",
        arguments: ["grdb_b", "coffer_b"])
    func helperColumns(helper: String) throws {
        let text = { (format: any DumpFormat) in
            try dump { db, stream throws in
                try db.dumpSQL("SELECT 1 AS a, 2 AS \(sql: helper), 3 AS c", format: format, to: stream)
            }
        }
        #expect(try text(DebugDumpFormat(header: true)) == "a|\(helper)|c\n1|3\n")
        #expect(try text(ListDumpFormat(header: true)) == "a|\(helper)|c\n1|3\n")
        #expect(try text(QuoteDumpFormat(header: true)) == "'a','\(helper)','c'\n1,3\n")
        #expect(try text(JSONDumpFormat()) == "[{\"a\":1,\"c\":3}]\n")
        #expect(try text(LineDumpFormat()) == "a = 1\nc = 3\n")
        let empty = try dump { db, stream throws in
            try db.dumpSQL("SELECT 2 AS \(sql: helper)", format: .line(), to: stream)
        }
        #expect(empty == "")
    }

    // MARK: SQL and requests

    @Test("all statements run, each with its own format, and with the arguments")
    func statements() throws {
        #expect(
            try dump { db, stream throws in try db.dumpSQL("SELECT 1; SELECT 'a', NULL", to: stream) }
                == "1\na|\n")
        let name = "it's"
        let text = try dump { db, stream throws in
            try db.dumpSQL(
                "SELECT \(1) AS a; CREATE TABLE u(b); INSERT INTO u VALUES (\(name)); SELECT b, \(2) FROM u",
                format: .quote(header: true),
                to: stream)
        }
        #expect(text == "'a'\n1\n'b','?'\n'it''s',2\n")
        #expect(
            try dump { db, stream throws in
                try db.dumpSQL("SELECT 1 AS a; SELECT 2 AS b", format: .json(), to: stream)
            }
                == "[{\"a\":1}]\n[{\"b\":2}]\n")
        #expect(
            try dump { db, stream throws in
                try db.dumpSQL("SELECT 1 AS a; SELECT 2 AS bb", format: .line(), to: stream)
            }
                == "a = 1\n\nbb = 2\n")
    }

    @Test("an error stops the dump, and the text that was already written stays")
    func errors() throws {
        let text = try dump { db, stream throws in
            #expect(throws: DatabaseError.self) {
                try db.dumpSQL("SELECT 1; SELECT absent; SELECT 3", to: stream)
            }
        }
        #expect(text == "1\n")
    }

    @Test("dumps work on any reader, and inside database accesses", arguments: Access.allCases)
    func requests(access: Access) throws {
        try withTestDirectory { directory throws in
            let writer = try directory.make(access)
            try writer.write { db throws in try db.execute(sql: DumpTests.rows) }
            let request = Table("t").select(Column("id"), Column("text")).order(Column("id").desc)
            let stream = Text()
            try writer.dumpRequest(request, to: stream)
            try writer.read { db throws in try db.dumpRequest(request.limit(1), format: .quote(), to: stream)
            }
            try writer.dumpSQL("SELECT count(*) FROM t", to: stream)
            try writer.dumpTables(["t"], format: .quote(), tableHeader: .always, to: stream)
            try writer.unsafeReentrantRead { _ throws in try writer.dumpSchema(to: stream) }
            #expect(
                stream.text == "2|it's\n1|a\nb\n2,'it''s'\n2\nt\n1,NULL,X'5B5D','a\nb'\n2,1.5,X'80','it''s'\n"
                    + "sqlite_master\nCREATE TABLE t (id INTEGER PRIMARY KEY, n, b, text);\n")
        }
    }

    private static let towns = """
        CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE owner (id INTEGER PRIMARY KEY, townId INTEGER REFERENCES town(id), name TEXT NOT NULL);
        CREATE TABLE item (id INTEGER PRIMARY KEY, ownerId INTEGER REFERENCES owner(id), name TEXT NOT NULL);
        INSERT INTO town VALUES (1, 'Bath'), (2, 'York');
        INSERT INTO owner VALUES (1, 1, 'Ada'), (2, 1, 'Grace'), (3, 2, 'Joan');
        INSERT INTO item VALUES (1, 1, 'Letter'), (2, 1, 'Pass'), (3, 3, 'Key')
        """

    private struct Town: TableRecord {
        static let owners = hasMany(Owner.self)
        static let items = hasMany(Item.self, through: owners, using: Owner.items)
    }

    private struct Owner: TableRecord {
        static let town = belongsTo(Town.self)
        static let items = hasMany(Item.self)
        static let townItems = hasMany(Item.self, through: town, using: Town.items).forKey("townItems")
    }

    private struct Item: TableRecord { static let owner = belongsTo(Owner.self) }

    private func towns(_ request: some FetchRequest, _ format: some DumpFormat = .debug()) throws -> String {
        try dump(DumpTests.towns) { db, stream throws in
            try db.dumpRequest(request, format: format, to: stream)
        }
    }

    @Test(
        "prefetched rows follow the rows, under the path of their association")
    func prefetchedRows() throws {
        let (owners, items) = ("1|1|Ada\n2|1|Grace\n3|2|Joan\n", "1|1|Letter\n2|1|Pass\n3|3|Key\n")
        #expect(try towns(Owner.including(all: Owner.items)) == owners + "\nitems\n" + items)
        #expect(
            try towns(Town.including(all: Town.owners.including(all: Owner.items)))
                == "1|Bath\n2|York\n\nowners\n" + owners + "\nitems\n" + items)
        #expect(
            try towns(Item.including(required: Item.owner.including(all: Owner.items)))
                == "1|1|Letter|1|1|Ada\n2|1|Pass|1|1|Ada\n3|3|Key|3|2|Joan\n\nowner.items\n" + items)
        #expect(try towns(Town.including(all: Town.items)) == "1|Bath\n2|York\n\nowners.items\n" + items)
        #expect(
            try towns(Owner.including(all: Owner.townItems)) == owners + "\ntown.owners.townItems\n" + items)
        let second = Owner.items.filter(Column("id") == 2).forKey("second")
        #expect(
            try towns(Owner.including(all: Owner.items).including(all: second))
                == owners + "\nitems\n" + items + "\nsecond\n2|1|Pass\n")
        // Empty results print nothing. Rows without prefetched rows print the name alone.
        #expect(try towns(Owner.none().including(all: Owner.items)) == "")
        #expect(
            try towns(Owner.filter(Column("id") == 2).including(all: Owner.items)) == "2|1|Grace\n\nitems\n")
        // A wrapped request has the same rows.
        #expect(
            try towns(AnyFetchRequest<Row>(Owner.including(all: Owner.items).asRequest(of: Row.self)))
                == owners + "\nitems\n" + items)
    }

    @Test("prefetched rows in the other formats")
    func prefetchedFormats() throws {
        let request = Owner.filter(Column("id") == 1).including(all: Owner.items.filter(Column("id") == 2))
        #expect(
            try towns(request, .quote(header: true))
                == "'id','townId','name'\n1,1,'Ada'\n\nitems\n'id','ownerId','name','grdb_ownerId'\n2,1,'Pass'\n"
        )
        #expect(
            try towns(request, .line())
                == "    id = 1\ntownId = 1\n  name = Ada\n\nitems\n     id = 2\nownerId = 1\n   name = Pass\n"
        )
        #expect(
            try towns(request, .json())
                == #"[{"id":1,"townId":1,"name":"Ada"}]"# + "\n\nitems\n"
                + #"[{"id":2,"ownerId":1,"name":"Pass"}]"# + "\n")
        #expect(try towns(Owner.none().including(all: Owner.items), .json()) == "[]\n")
        #expect(
            try towns(Owner.filter(Column("id") == 2).including(all: Owner.items), .json())
                == #"[{"id":2,"townId":1,"name":"Grace"}]"# + "\n\nitems\n[]\n")
    }

    @Test("rows that are prefetched by a key of several columns")
    func prefetchedByComposedKey() throws {
        struct Room: TableRecord { static let desks = hasMany(Desk.self) }
        struct Desk: TableRecord {}
        let schema = """
            CREATE TABLE room (building TEXT, number INTEGER, PRIMARY KEY (building, number));
            CREATE TABLE desk (id INTEGER PRIMARY KEY, building TEXT, number INTEGER, FOREIGN KEY (building, \
            number) REFERENCES room);
            INSERT INTO room VALUES ('A', 1), ('A', 2); INSERT INTO desk VALUES (1, 'A', 2), (2, 'A', 1), \
            (3, 'A', NULL)
            """
        let text = try dump(schema) { db, stream throws in
            try db.dumpRequest(
                Room.orderByPrimaryKey().including(all: Room.desks.orderByPrimaryKey()), to: stream)
        }
        #expect(text == "A|1\nA|2\n\ndesks\n1|A|2\n2|A|1\n")
    }

    /// A format from the documentation.
    private struct Count: DumpFormat {
        private var count = 0
        mutating func writeRow(_ db: Database, statement: Statement, to stream: inout DumpStream) {
            count += 1
        }
        mutating func finalize(_ db: Database, statement: Statement, to stream: inout DumpStream) {
            stream.margin()
            stream.write("")
            stream.write("\(count) rows\n")
        }
    }

    @Test("a custom format can write margins")
    func ownFormat() throws {
        let text = try dump { db, stream throws in
            try db.dumpSQL("SELECT * FROM t; SELECT 1", format: Count(), to: stream)
            try db.dumpTables(["t", "t"], format: Count(), to: stream)
        }
        #expect(text == "\n2 rows\n\n1 rows\nt\n\n2 rows\n\nt\n\n2 rows\n")
    }

    // MARK: Tables

    private static let gardens = """
        CREATE TABLE garden (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO garden VALUES (2, 'Kew'), (1, \
        'Eden');
        CREATE TABLE bed (id INTEGER PRIMARY KEY, garden, name TEXT); INSERT INTO bed VALUES (3, 2, 'C'), \
        (1, 1, 'A'), (2, 1, 'B');
        CREATE TABLE log (a); INSERT INTO log(rowid, a) VALUES (9, 'late'), (3, 'early');
        CREATE TABLE keyed (a, b, PRIMARY KEY (b, a)) WITHOUT ROWID; INSERT INTO keyed VALUES (1, 2), (2, 1);
        CREATE VIEW name AS SELECT name, id FROM garden ORDER BY id DESC
        """

    @Test("tables are sorted by key, and have headings if there are several")
    func tables() throws {
        let text = { (tables: [String], header: DumpTableHeaderOptions, isStable: Bool) in
            try dump(DumpTests.gardens) { db, stream throws in
                try db.dumpTables(tables, tableHeader: header, stableOrder: isStable, to: stream)
            }
        }
        #expect(
            try text(["garden", "bed"], .automatic, false)
                == "garden\n1|Eden\n2|Kew\n\nbed\n1|1|A\n2|1|B\n3|2|C\n")
        #expect(try text(["garden"], .automatic, false) == "1|Eden\n2|Kew\n")
        #expect(try text(["garden"], .always, false) == "garden\n1|Eden\n2|Kew\n")
        #expect(try text(["log"], .automatic, false) == "early\nlate\n")
        #expect(try text(["keyed"], .automatic, true) == "2|1\n1|2\n")
        #expect(try text(["name"], .automatic, false) == "Kew|2\nEden|1\n")
        #expect(try text(["name"], .automatic, true) == "Eden|1\nKew|2\n")
        let unknown = try dump(DumpTests.gardens) { db, stream throws in
            let error = #expect(throws: DatabaseError.self) { try db.dumpTables(["absent"], to: stream) }
            #expect(error?.message == "no such table: absent")
        }
        #expect(unknown == "")
    }

    private struct Source: DatabaseSchemaSource {
        func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? {
            ["id"]
        }
    }

    @Test("a view is sorted by the primary key from the schema source")
    func keyedView() throws {
        let stream = Text()
        var configuration = Configuration()
        configuration.schemaSource = Source()
        try DatabaseQueue(configuration: configuration).inDatabase { db throws in
            try db.execute(sql: DumpTests.gardens + "; UPDATE garden SET name = 'A' WHERE id = 2")
            try db.dumpTables(["name"], stableOrder: true, to: stream)
        }
        #expect(stream.text == "Eden|1\nA|2\n")
    }

    // MARK: Schema and content

    private static let schema = """
        CREATE TABLE garden (id INTEGER PRIMARY KEY);
        CREATE TABLE bed (id INTEGER PRIMARY KEY, name TEXT);
        CREATE INDEX bed_name ON bed(name);
        INSERT INTO garden VALUES (1); INSERT INTO bed VALUES (1, 'A')
        """

    @Test("a content dump contains the schema and all tables")
    func content() throws {
        #expect(
            try dump(DumpTests.schema) { db, stream throws in try db.dumpContent(to: stream) } == """
                sqlite_master
                CREATE TABLE bed (id INTEGER PRIMARY KEY, name TEXT);
                CREATE INDEX bed_name ON bed(name);
                CREATE TABLE garden (id INTEGER PRIMARY KEY);

                bed
                1|A

                garden
                1

                """)
        #expect(try dump("") { db, stream throws in try db.dumpContent(to: stream) } == "sqlite_master\n")
        #expect(try dump("") { db, stream throws in try db.dumpSchema(to: stream) } == "sqlite_master\n")
    }

    @Test("the schema is in order, without reserved objects")
    func schema() throws {
        let schema = """
            CREATE TABLE b (id INTEGER PRIMARY KEY AUTOINCREMENT, x UNIQUE); CREATE TABLE A (y);
            CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY); INSERT INTO grdb_migrations \
            VALUES ('v1');
            CREATE TRIGGER zb AFTER INSERT ON b BEGIN SELECT 1; END;
            CREATE TRIGGER ab AFTER INSERT ON b BEGIN SELECT 2; END;
            CREATE INDEX ib ON b(x, id); CREATE INDEX "Ha" ON b(id, x);
            CREATE VIEW v AS SELECT * FROM b;
            CREATE VIRTUAL TABLE text USING fts5(body); INSERT INTO text VALUES ('tulips');
            CREATE VIRTUAL TABLE old USING fts4(body);
            CREATE VIRTUAL TABLE box USING rtree(id, x0, x1);
            INSERT INTO b VALUES (1, 'x'); ANALYZE
            """
        let text = try dump(schema) { db, stream throws in try db.dumpSchema(to: stream) }
        #expect(
            text == """
                sqlite_master
                CREATE TABLE A (y);
                CREATE TABLE b (id INTEGER PRIMARY KEY AUTOINCREMENT, x UNIQUE);
                CREATE INDEX "Ha" ON b(id, x);
                CREATE INDEX ib ON b(x, id);
                CREATE TRIGGER ab AFTER INSERT ON b BEGIN SELECT 2; END;
                CREATE TRIGGER zb AFTER INSERT ON b BEGIN SELECT 1; END;
                CREATE VIRTUAL TABLE box USING rtree(id, x0, x1);
                CREATE VIRTUAL TABLE old USING fts4(body);
                CREATE VIRTUAL TABLE text USING fts5(body);
                CREATE VIEW v AS SELECT * FROM b;

                """)
        let content = try dump(schema) { db, stream throws in try db.dumpContent(to: stream) }
        #expect(content == text + "\nA\n\nb\n1|x\n\nbox\n\nold\n\ntext\ntulips\n")
    }

    @Test(
        "a synchronized full-text table is dumped like any table, with its triggers after the content table")
    func synchronized() throws {
        let text = try dump(
            "CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT); INSERT INTO note VALUES (1, 'tulips')"
        ) {
            db, stream throws in
            try db.create(virtualTable: "noteText", using: FTS4()) { t in
                t.synchronize(withTable: "note")
                t.column("body")
            }
            try db.dumpContent(to: stream)
        }
        #expect(
            text == """
                sqlite_master
                CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT);
                CREATE TRIGGER "__noteText_ai" AFTER INSERT ON "note" BEGIN
                    INSERT INTO "noteText"("docid", "body") VALUES(new."id", new."body");
                END;
                CREATE TRIGGER "__noteText_au" AFTER UPDATE ON "note" BEGIN
                    INSERT INTO "noteText"("docid", "body") VALUES(new."id", new."body");
                END;
                CREATE TRIGGER "__noteText_bd" BEFORE DELETE ON "note" BEGIN
                    DELETE FROM "noteText" WHERE docid=old."id";
                END;
                CREATE TRIGGER "__noteText_bu" BEFORE UPDATE ON "note" BEGIN
                    DELETE FROM "noteText" WHERE docid=old."id";
                END;
                CREATE VIRTUAL TABLE "noteText" USING fts4(body, content="note");

                note
                1|tulips

                noteText
                tulips

                """)
    }

    @Test("without a stream, the text goes to standard output, in order with the program's own output")
    func standardOutput() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            try DatabaseQueue().inDatabase { db throws in
                print("first")
                try db.dumpSQL("SELECT 'second', 'é'")
                print("third")
            }
        }
        let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
        #expect(output.contains("first\nsecond|é\nthird\n"))
    }
}
