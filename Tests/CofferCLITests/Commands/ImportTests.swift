import CofferTestSupport
import Foundation
import Testing

@testable import CofferCLI

@Suite("Importing rows")
struct ImportTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]

    init() throws {
        tool = try Tool()
        try tool.makeDatabase()
    }

    private func load(_ table: String, _ arguments: String..., input: String = "") throws -> Tool.Result {
        try tool.run(["import", "a.db", table] + arguments + key, input: input)
    }

    private func rows(_ sql: String) throws -> [String] { try tool.shell().run(".mode quote\n\(sql);") }

    @Test("CSV goes into the columns that its first line names, with the types of the table")
    func csv() throws {
        let input =
            "text,id\r\n\"a \"\"b\"\", c\",007\r\n,8\n\"\",\"9\"\n\"two\nlines\",10\nx'00ff',11\n\"x'00ff'\",12"
        let result = try load("t", input: input)
        #expect(result.status == 0 && result.output == "a.db: 6 rows imported into t\n", "\(result)")
        // The shells spell blobs differently in their "quote" mode.
        #expect(
            try tool.shell().run("SELECT id, quote(text) FROM t WHERE id > 1 AND id <> 10;") == [
                "7|'a \"b\", c'", "8|NULL", "9|''", "11|X'00FF'", "12|'x''00ff'''",
            ])
        #expect(try rows("SELECT hex(text) FROM t WHERE id = 10") == ["'74776F0A6C696E6573'"])
        #expect(
            try load(
                "t", "--columns", "id,text", "--no-header", "--null-text", "NA", input: "20,NA\n21,\"NA\"\n"
            ).status == 0)
        #expect(try rows("SELECT id, text FROM t WHERE id >= 20") == ["20,NULL", "21,'NA'"])
    }

    /// A composed and a decomposed letter, which Swift takes as equal, and a capital one.
    private static let letters = ["\u{e9}", "e\u{301}", "\u{c9}"]

    @Test(
        "names with different bytes are different columns, as in SQLite", arguments: ["json", "csv"],
        [true, false])
    func namesByBytes(format: String, creates: Bool) throws {
        let names = ImportTests.letters
        let columns = names.map { "\"\($0)\" INTEGER" }.joined(separator: ",")
        if !creates { _ = try tool.shell().run("CREATE TABLE n (\(columns));") }
        // The rows of JSON alternate between the columns.
        let input =
            format == "csv"
            ? names.joined(separator: ",") + "\n1,2,3\n"
            : names.enumerated().map { "{\"\($1)\":\($0 + 1)}\n" }.joined()
        let result = try load(
            "n", "--format", format, creates ? "--create" : "--quiet", input: input)
        #expect(result.status == 0, "\(result)")
        let sums = names.map { "sum(\"\($0)\")" }.joined(separator: ",")
        #expect(try rows("SELECT \(sums) FROM n") == ["1,2,3"])
    }

    @Test("a name in another Unicode normalization form than the column's is refused in each row")
    func unknownNormalForm() throws {
        let names = ImportTests.letters
        _ = try tool.shell().run("CREATE TABLE n (\"\(names[0])\");")
        let result = try load(
            "n", "--format", "json", "--rejects", "bad", input: "{\"\(names[0])\":1}\n{\"\(names[1])\":2}\n")
        #expect(result.status == 1, "\(result)")
        #expect(try rows("SELECT count(*) FROM n") == ["1"])
        let unknown = try load("n", input: "\(names[1])\n3\n")
        #expect(unknown.status == 1 && unknown.errors.contains("no column"), "\(unknown)")
    }

    @Test("options name columns, and the text for NULL, by their bytes")
    func optionsByBytes() throws {
        let names = ImportTests.letters
        let input = "\(names[0]),\(names[1])\n\(names[0]),\(names[1])\n"
        let result = try load(
            "n", "--create", "--types", "\(names[0]):text,\(names[1]):any", "--primary-key", names[0],
            "--null-text", names[1], input: input)
        #expect(result.status == 0, "\(result)")
        #expect(try rows("SELECT hex(\"\(names[0])\"), \"\(names[1])\" FROM n") == ["'C3A9',NULL"])
        #expect(
            try tool.shell().run("SELECT name, type, pk FROM pragma_table_info('n');") == [
                "\(names[0])|TEXT|1", "\(names[1])|ANY|0",
            ])
        let twice = try load("n", "--columns", "a,A", "--no-header", input: "1,2\n")
        #expect(twice.status == 64 && twice.errors.contains("a column twice"), "\(twice)")
    }

    @Test("lines that end in CR alone are refused, and are not one line", arguments: ["csv", "tsv"])
    func returnsAlone(format: String) throws {
        let input = ["a,b", "1,2", "3,4"].map { $0.replacing(",", with: format == "csv" ? "," : "\t") + "\r" }
            .joined()
        for options in [
            [], ["--columns", "a,b"], ["--no-header", "--columns", "a,b"],
            ["--no-header", "--columns", "a,b,c,d"],
        ] {
            let result = try tool.run(
                ["import", "a.db", "n", "--create", "--format", format] + options + key, input: input)
            #expect(result.status == 65 && result.errors.contains("tr '\\r' '\\n'"), "\(result)")
        }
        #expect(try tool.shell().run("SELECT count(*) FROM sqlite_master WHERE name = 'n';") == ["0"])
        let inside = try load("n", "--create", "--format", format, input: "a\r\nx\ry\n")
        #expect(inside.status == 0, "\(inside)")
        #expect(try rows("SELECT hex(a) FROM n") == ["'780D79'"])
    }

    @Test(
        "rows that a deferred constraint refuses are named, and not kept",
        arguments: [[], ["--batch-rows", "2"]])
    func deferredConstraint(batch: [String]) throws {
        _ = try tool.shell().run(
            "CREATE TABLE d (a INTEGER PRIMARY KEY, b REFERENCES d (a) DEFERRABLE INITIALLY DEFERRED);")
        let result = try tool.run(
            ["import", "a.db", "d", "--rejects", "bad"] + batch + key, input: "a,b\n1,2\n2,1\n3,9\n4,3\n")
        #expect(result.status == 65 && result.errors.contains("up to line 5"), "\(result)")
        #expect(result.errors.contains(batch.isEmpty ? "No row is kept" : "No row of this batch is kept"))
        #expect(try tool.shell().run("SELECT count(*) FROM d;") == [batch.isEmpty ? "0" : "2"])
    }

    @Test("the output of query round-trips through import", arguments: ["csv", "tsv", "json", "jsonl"])
    func roundTrip(format: String) throws {
        let values = """
            (NULL, 1), ('', 2), ('NULL', 3), (x'', 4), (x'00ff', 5), ('x''00ff''', 6), (9e999, 7), (-9e999, \
            8), ('Inf', 9), ('-Inf', 10), ('\\N', 11), ('\\x00', 12), (char(9, 10, 13, 92, 34, 44), 13), \
            ('{"blob":"00"}', 14), ('é漢', 15)
            """
        _ = try tool.shell().run(
            "CREATE TABLE v (a, n INTEGER); INSERT INTO v VALUES \(values); CREATE TABLE w (a, n INTEGER);")
        let output = try tool.run(["query", "a.db", "SELECT * FROM v", "--format", format] + key).output
        let result = try load("w", "--format", format, input: output)
        #expect(result.status == 0, "\(result)")
        #expect(
            try rows("SELECT count(*) FROM v JOIN w USING (n) WHERE v.a IS w.a AND typeof(v.a) = typeof(w.a)")
                == ["15"])
    }

    @Test(
        "a created table has types that fit all values, or the given types, and accepts nothing else"
    )
    func creating() throws {
        let input = "a,b,c,d,e,f\n1,1.5,007,x'00',,x\n-2,2,8,x'01',,1\n"
        #expect(try load("n", "--create", input: input).status == 0)
        #expect(
            try tool.shell().run("SELECT sql FROM sqlite_master WHERE name = 'n';") == [
                "CREATE TABLE \"n\" (\"a\" INTEGER, \"b\" REAL, \"c\" TEXT, \"d\" BLOB, \"e\" ANY, \"f\" TEXT) STRICT"
            ])
        #expect(
            try tool.shell().run("SELECT a, b, quote(c), quote(d), quote(e), quote(f) FROM n;") == [
                "1|1.5|'007'|X'00'|NULL|'x'", "-2|2.0|'8'|X'01'|NULL|'1'",
            ])
        #expect(try load("m", "--create", "--types", "a:text", input: "a\n1\n").status == 0)
        #expect(try rows("SELECT a FROM m") == ["'1'"])
        let late = (0..<1500).map { $0 == 1400 ? "x" : "\($0)" }.joined(separator: "\n")
        #expect(try load("late", "--create", input: "a\n" + late).status == 65)
        #expect(try tool.shell().run("SELECT count(*) FROM sqlite_master WHERE name = 'late';") == ["0"])
        let json = #"{"b":1,"a":"x"}"# + "\n\n" + #"{"a":null,"c":[1,{"d":true}]}"# + "\n"
        #expect(try load("j", "--create", "--format", "jsonl", input: json).status == 0)
        #expect(try rows("SELECT a, b, c FROM j") == ["'x',1,NULL", "NULL,NULL,'[1,{\"d\":true}]'"])
    }

    @Test("a created table stores each value unchanged or refuses it, within the sample and after it")
    func values() throws {
        let texts = [
            "12345678901234567890", "1.10", "1234e5", "007", " 12 ", "+1", "1e400", "-0", "0x10",
            "9007199254740993.0",
        ]
        let sample = (0..<1000).map { "\($0)" }.joined(separator: "\n")
        for (index, text) in texts.enumerated() {
            #expect(try load("one\(index)", "--create", input: "a\n\(text)\n").status == 0)
            #expect(try rows("SELECT typeof(a), a FROM one\(index)") == ["'text','\(text)'"])
            let late = try load(
                "late\(index)", "--create", "--rejects", "late\(index).jsonl",
                input: "a\n\(sample)\n\(text)\n")
            #expect(
                late.status == 1 && late.output.contains("000 rows imported")
                    && late.output.contains("1 row refused"), "\(late)")
        }
        let input = "a\n1.5\n2\n-0.25\n1e+20\n" + texts.map { "\($0)\n" }.joined()
        #expect(
            try load("reals", "--create", "--types", "A:real", "--rejects", "r.jsonl", input: input).status
                == 1)
        #expect(try rows("SELECT a FROM reals") == ["1.5", "2.0", "-0.25", "1.0e+20"])
        let other = "a\n1\n1e2\n1.0\n 12 \n-3\n"
        let integers = try load(
            "ints", "--create", "--types", "a:integer", "--rejects", "i.jsonl", input: other)
        #expect(integers.status == 1 && integers.output.contains("3 rows refused"), "\(integers)")
        #expect(try rows("SELECT a FROM ints") == ["1", "-3"])
        // One integer that REAL cannot represent turns all values into texts.
        #expect(try load("mixed", "--create", input: "a\n1.5\n9007199254740993\n").status == 0)
        #expect(try rows("SELECT a FROM mixed") == ["'1.5'", "'9007199254740993'"])
    }

    @Test("a header with another delimiter than the comma is refused, not read as one column")
    func delimiters() throws {
        for (input, option) in [
            ("a;b\n1;2,5\n", ";"), ("a\tb\n1\t2,5\n", "tab"), ("\"a\";\"b\"\n1;2,5\n", ";"),
        ] {
            let refused = try load("n", "--create", input: input)
            #expect(refused.status == 65 && refused.errors.contains("--delimiter"), "\(refused)")
            let result = try load("n", "--create", "--delimiter", option, input: input)
            #expect(result.status == 0, "\(result)")
            #expect(try rows("SELECT a, b FROM n") == ["1,'2,5'"])
            _ = try tool.shell().run("DROP TABLE n;")
        }
        // A name that is quoted, or for which the comma is given, is a name.
        #expect(try load("q", "--create", input: "\"a;b\"\n1\n").status == 0)
        #expect(try load("c", "--create", "--delimiter", ",", input: "a;b\n1\n").status == 0)
        for table in ["q", "c"] { #expect(try rows("SELECT \"a;b\" FROM \(table)") == ["1"]) }
        for options in [
            ["--delimiter", ";;"], ["--delimiter", "\""], ["--delimiter", ";", "--format", "jsonl"],
        ] {
            #expect(
                try tool.run(["import", "a.db", "n"] + options + key, input: "a\n").status == 64, "\(options)"
            )
        }
    }

    @Test(
        "an array of JSON is read like lines of JSON, with its columns in their order",
        arguments: ["json", "jsonl"])
    func arrays(format: String) throws {
        let objects = [
            #"{"z": 1, "a": "]}, [\"", "m": [1, {"x": "]"}]}"#, #"{"z": 2,"#, #" "a": null, "Other": true}"#,
        ]
        let input = "\n [\(objects[0]),\n\(objects[1])\n\(objects[2])\n]\n\n"
        #expect(try load("n", "--create", "--format", format, input: input).status == 0)
        #expect(
            try tool.shell().run("SELECT name FROM pragma_table_info('n');") == ["z", "a", "m", "Other"])
        #expect(
            try tool.shell().run("SELECT z, quote(a), quote(m) FROM n;") == [
                "1|']}, [\"'|'[1, {\"x\": \"]\"}]'", "2|NULL|NULL",
            ])
        #expect(try load("n", "--format", format, input: "[]").status == 0)
        for (bad, line) in [
            ("[{\"z\": 3}", nil), ("[{\"z\": 3}] x", nil), ("[{\"z\": 3},\n{\"z\" 4}]", 2),
            ("[{\"z\": 3},]", 1), ("[3]", 1),
        ] as [(String, Int?)] {
            let result = try load("n", "--format", format, input: bad)
            #expect(result.status == 65, "\(bad): \(result)")
            if let line { #expect(result.errors.contains("line \(line)"), "\(bad): \(result)") }
        }
        #expect(try rows("SELECT count(*) FROM n") == ["2"])
        try tool.write(input, to: "array.json")
        #expect(try load("n", "--from", "array.json").status == 0)
        #expect(try rows("SELECT count(*) FROM n") == ["4"])
    }

    @Test("the maximum number of columns is imported, into a new and an existing table")
    func columnsAtTheLimit() throws {
        let names = (0..<2000).map { "c\($0)" }.joined(separator: ",")
        let numbers = (0..<2000).map { "\($0 * 3)" }.joined(separator: ",")
        let input = "\(names)\n\(numbers)\n"
        for _ in 0..<2 {
            let arguments =
                try tool.shell().run("SELECT 1 FROM sqlite_master WHERE name = 'w';").isEmpty
                ? ["--create"] : []
            let result = try tool.run(["import", "a.db", "w"] + arguments + key, input: input)
            #expect(result.status == 0, "\(result)")
        }
        #expect(try rows("SELECT c0, c1999, count(*) FROM w GROUP BY 1, 2") == ["0,5997,2"])
    }

    @Test("a row that a trigger refuses leaves nothing, and rows that the table ignores are counted")
    func triggers() throws {
        _ = try tool.shell().run(
            """
            CREATE TABLE f (a); CREATE TRIGGER no AFTER INSERT ON f WHEN new.a = 'bad' BEGIN SELECT \
            RAISE(FAIL, 'no'); END;
            CREATE TABLE g (a PRIMARY KEY ON CONFLICT IGNORE); CREATE TABLE h (a PRIMARY KEY ON CONFLICT \
            REPLACE, b);
            CREATE TABLE k (a); CREATE VIEW v AS SELECT a FROM k;
            CREATE TRIGGER into_k INSTEAD OF INSERT ON v BEGIN INSERT INTO k VALUES (new.a); END;
            """)
        let failed = try load("f", "--rejects", "f.jsonl", input: "a\ngood\nbad\nfine\n")
        #expect(
            failed.status == 1 && failed.output.contains("2 rows imported into f, 1 row refused"), "\(failed)"
        )
        #expect(try rows("SELECT a FROM f") == ["'good'", "'fine'"])
        let ignored = try load("g", "--json", input: "a\n1\n2\n1\n")
        #expect(ignored.output.contains(#""rows":2,"ignored":1,"refused":0"#), "\(ignored)")
        #expect(
            try load("g", input: "a\n1\n").output.contains(
                "0 rows imported into g, 1 row ignored by the table"))
        #expect(try load("h", input: "a,b\n1,1\n1,2\n").output.contains("2 rows imported into h\n"))
        #expect(try load("v", input: "a\n1\n1\n").output.contains("2 rows imported into v\n"))
    }

    @Test(
        "a type error in a trigger of a STRICT table refuses its row only", arguments: [nil, 1])
    func typeErrors(batch: Int?) throws {
        _ = try tool.shell().run(
            """
            CREATE TABLE s (a INT, b INT) STRICT; CREATE TABLE o (b INT) STRICT;
            CREATE TRIGGER into_o AFTER INSERT ON s BEGIN INSERT INTO o VALUES (iif(new.b = 2, 'x', new.b)); END;
            CREATE VIEW v AS SELECT replace(a, '1', '2') FROM s;
            """)
        let options = batch.map { ["--batch-rows", "\($0)"] } ?? []
        let input = "a,b\n1,1\n2,2\n3,x\n4,4\n"
        let stopped = try tool.run(["import", "a.db", "s"] + options + key, input: input)
        #expect(stopped.status == 65 && stopped.errors.contains("line 3"), "\(stopped)")
        let kept = batch == nil ? [] : ["1"]
        #expect(try rows("SELECT a FROM s") == kept)
        #expect(try rows("SELECT b FROM o") == kept)
        let result = try tool.run(
            ["import", "a.db", "s", "--rejects", "s.jsonl"] + options + key, input: input)
        #expect(
            result.status == 1 && result.output.contains("2 rows imported into s, 2 rows refused"),
            "\(result)")
        #expect(try rows("SELECT a FROM s") == kept + ["1", "4"])
        #expect(try rows("SELECT b FROM o") == kept + ["1", "4"])
    }

    @Test(
        "a row that ends the transaction ends the import, which says that nothing is kept",
        arguments: [[], ["--rejects", "w.jsonl"]], [nil, 1])
    func rollback(options: [String], batch: Int?) throws {
        _ = try tool.shell().run(
            """
            CREATE TABLE w (a); CREATE TRIGGER no AFTER INSERT ON w WHEN new.a = 'bad' BEGIN SELECT \
            RAISE(ROLLBACK, 'it is bad'); END;
            """)
        let batches = batch.map { ["--batch-rows", "\($0)"] } ?? []
        let result = try tool.run(
            ["import", "a.db", "w"] + options + batches + key, input: "a\ngood\nbad\nfine\n")
        let words = batch == nil ? "no row is kept" : "no row of this batch is kept"
        #expect(result.status == 65, "\(result)")
        for part in ["line 3", "it is bad", words] {
            #expect(result.errors.contains(part), "\(result)")
        }
        #expect(try rows("SELECT a FROM w") == (batch == nil ? [] : ["'good'"]))
    }

    @Test(
        "a byte order mark is skipped, and column names are always text",
        arguments: ["csv", "tsv", "jsonl"])
    func names(format: String) throws {
        let input =
            ["csv": "a,x'00',Inf\n1,2,3\n", "tsv": "a\t\\x00\tInf\n1\t2\t3\n", "jsonl": #"{"a":1,"Inf":3}"#][
                format] ?? ""
        let result = try load("n", "--create", "--format", format, input: "\u{feff}" + input)
        #expect(result.status == 0, "\(result)")
        let expected = [
            "csv": ["61", "7827303027", "496E66"], "tsv": ["61", "783030", "496E66"],
            "jsonl": ["61", "496E66"],
        ]
        #expect(try tool.shell().run("SELECT hex(name) FROM pragma_table_info('n');") == expected[format])
        #expect(try load("t", "--format", format, input: "\u{feff}").status == 0)
    }

    private static let bad =
        "id,text\n2,a\n2,twice\nx,no number\n3\n4,a\"b\n5,\"c\"d\n6,b,c\n7,good\n8,\"open"

    @Test("refused rows go to a file with their line and the reason, and all other rows into the table")
    func rejects() throws {
        let result = try load("t", "--rejects", "bad.jsonl", input: ImportTests.bad)
        #expect(
            result.status == 1 && result.output.contains("2 rows imported into t, 7 rows refused"),
            "\(result)")
        #expect(try rows("SELECT id FROM t") == ["1", "2", "7"])
        let lines = try tool.text(of: "bad.jsonl").split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(lines.compactMap { $0["line"] as? Int } == [3, 4, 5, 6, 7, 8, 10])
        #expect(lines[0]["row"] as? String == "2,twice\n")
        #expect((lines[0]["reason"] as? String)?.contains("UNIQUE") == true)
        #expect(
            lines.dropFirst(3).compactMap { $0["reason"] as? String } == [
                "a quote is inside an unquoted field", "text follows a closing quote",
                "it has 3 fields instead of 2", "a quote is not closed",
            ])
        let mode =
            try FileManager.default.attributesOfItem(atPath: tool.directory.path("bad.jsonl"))[
                .posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try load("t", "--rejects", "bad.jsonl", input: "id\n9\n").status == 73)
    }

    @Test(
        "without --rejects, the first refused row ends the import, and only complete batches are kept",
        arguments: [nil, 2])
    func firstRefusal(batch: Int?) throws {
        let options = batch.map { ["--batch-rows", "\($0)"] } ?? []
        let result = try tool.run(
            ["import", "a.db", "t"] + options + key, input: "id,text\n2,a\n3,b\n4,c\n2,d\n5,e\n")
        #expect(
            result.status == 65 && result.errors.contains("line 5") && result.errors.contains("UNIQUE"),
            "\(result)")
        #expect(try rows("SELECT id FROM t") == (batch == nil ? ["1"] : ["1", "2", "3"]))
    }

    @Test("quoted fields with doubled quotes and CRLF are read correctly")
    func fields() throws {
        _ = try tool.shell().run("CREATE TABLE f (a, b);")
        let lines = [
            "a,b", #""",x''"#, #""""","é""漢""""#, "x'0g',x'", ",\"l1\r\nl2\"", #""Inf",x'0A'"#, "\u{e9}\r,",
            #""last","""#,
        ]
        let expected = [
            "'textblob'", "'text22textC3A922E6BCA222'", "'text7827306727text7827'", "'nulltext6C310D0A6C32'",
            "'text496E66blob0A'", "'textC3A90Dnull'", "'text6C617374text'",
        ]
        let sql = "SELECT typeof(a) || hex(a) || typeof(b) || hex(b) FROM f ORDER BY rowid"
        for end in ["\n", "\r\n"] {
            let result = try load("f", input: lines.joined(separator: end))
            #expect(result.status == 0, "\(result)")
            #expect(try rows(sql) == expected)
            _ = try tool.shell().run("DELETE FROM f;")
        }
        #expect(
            try load("f", "--format", "tsv", input: "a\tb\r\n1\\\\\t\r\n\\t\r\t\\x0a\r\n\\N\t2").status == 0)
        #expect(
            try rows(sql) == ["'text315Ctext'", "'text090Dblob0A'", "'nulltext32'"])
    }

    @Test("objects with different members go into the right columns")
    func changingMembers() throws {
        _ = try tool.shell().run("CREATE TABLE m (a, b);")
        let input = [
            #"{"a":1}"#, #"{"b":2}"#, #"{"none":3}"#, #"{"a":4,"b":5}"#, #"{"b":6,"A":7}"#, #"{"none":8}"#,
            "{}",
            #"{"a":9}"#,
        ]
        let result = try load(
            "m", "--format", "jsonl", "--rejects", "none.jsonl", input: input.joined(separator: "\n"))
        #expect(
            result.status == 1 && result.output.contains("6 rows imported into m, 2 rows refused"),
            "\(result)")
        #expect(try rows("SELECT a, b FROM m") == ["1,NULL", "NULL,2", "4,5", "7,6", "NULL,NULL", "9,NULL"])
    }

    @Test("each kind of failed import has the right exit code")
    func failures() throws {
        #expect(try load("none", input: "a\n1\n").status == 1)
        #expect(try load("t", input: "id,none\n1,2\n").status == 1)
        #expect(try load("t", input: "id,id\n1,2\n").status == 65)
        #expect(try load("t", "--from", "none.csv").status == 66)
        #expect(try load("t", "--from", ".").status == 66)
        #expect(try load("t", "--create", input: "a\n1\n").status == 64)
        for options in [
            ["--batch-rows", "0"], ["--types", "a:int"], ["--create", "--no-header"],
            ["--create", "--types", "a:what"], ["--key-stdin"],
            ["--columns", "b,B"], ["--create", "--types", "a:text,A:text"],
        ] {
            #expect(
                try tool.run(["import", "a.db", "n"] + options + (options == ["--key-stdin"] ? [] : key))
                    .status == 64, "\(options)")
        }
        #expect(try load("n", "--create", "--types", "b:text", input: "a\n1\n").status == 64)
        try tool.writeKey("b.key", 0x43)
        #expect(
            try tool.run(
                ["import", "a.db", "t", "--key-file", "b.key", "--key-type", "raw"], input: "id\n2\n"
            ).status == 77)
        #expect(try load("t", input: "").status == 0)
        #expect(try Schema.problems(load("t", "--json", "--rejects", "r", input: ImportTests.bad)) == [])
    }

    @Test("a signal ends an import whose pipe has no more rows, and nothing is kept")
    func interruption() throws {
        #expect(unsafe mkfifo(tool.directory.path("pipe"), 0o600) == 0)
        let run = try tool.start(["import", "a.db", "t", "--from", "pipe", "--progress", "always"] + key)
        // Also for reading: a write after the end of the tool would otherwise end this process.
        let pipe = unsafe open(tool.directory.path("pipe"), O_RDWR | O_CLOEXEC)
        defer { close(pipe) }
        let text = "id,text\n" + (10..<2000).map { "\($0),x\n" }.joined()
        #expect(unsafe write(pipe, text, text.utf8.count) == text.utf8.count)
        while !run.text(of: "errors").contains("importing") { usleep(2000) }
        run.send(SIGINT)
        #expect(run.wait().status == 130)
        #expect(try rows("SELECT count(*) FROM t") == ["1"])
    }
}
