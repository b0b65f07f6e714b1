import CofferTestSupport
import Foundation
import Testing

@testable import CofferCLI

@Suite("Importing numbers")
struct ImportNumberTests {
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

    @Test("a negative zero is kept in a created table", arguments: ["csv", "jsonl"])
    func negativeZero(format: String) throws {
        func input(_ numbers: [String]) -> String {
            format == "csv"
                ? "a\n" + numbers.map { "\($0)\n" }.joined() : numbers.map { "{\"a\":\($0)}\n" }.joined()
        }
        func values(_ table: String) throws -> [String] {
            try tool.run(["query", "a.db", "SELECT a FROM \(table)", "--format", "csv", "--no-header"] + key)
                .output.split(separator: "\n").map(String.init)
        }
        #expect(
            try load("z", "--create", "--format", format, input: input(["1.5", "-0.0", "2"])).status == 0)
        #expect(try values("z") == ["1.5", "-0.0", "2"])
        #expect(try rows("SELECT DISTINCT typeof(a) FROM z ORDER BY 1") == ["'integer'", "'real'"])
        let late = try load(
            "late", "--create", "--types", "a:real", "--format", format, "--rejects", "late.jsonl",
            input: input(["1.5", "-0.0"]))
        #expect(late.status == 1, "\(late)")
        #expect(try tool.text(of: "late.jsonl").contains("NUMBER"))
        #expect(
            try load("n", "--create", "--types", "a:number", "--format", format, input: input(["1", "-0.0"]))
                .status == 0)
        #expect(try values("n") == ["1", "-0.0"])
    }

    @Test("a JSON number is stored exactly or refused, in each column type")
    func numbersOfJSON() throws {
        _ = try tool.shell().run("CREATE TABLE n (t TEXT, a, i INTEGER, r DOUBLE);")
        let lines = [
            #"{"t":1.0,"a":1.0}"#, #"{"t":1.10,"a":1.50}"#, #"{"t":12345678901234567890,"a":1e2}"#,
            #"{"t":[1.10, {"x" : 1e5}],"a":"\ud83d\ude00"}"#,
            #"{"t":9007199254740993.0,"a":0.10000000000000001}"#,
        ]
        #expect(try load("n", "--format", "jsonl", input: lines.joined(separator: "\n")).status == 0)
        #expect(
            try rows("SELECT t FROM n") == [
                "'1.0'", "'1.10'", "'12345678901234567890'", "'[1.10, {\"x\" : 1e5}]'",
                "'9007199254740993.0'",
            ])
        #expect(
            try rows("SELECT typeof(a), a FROM n LIMIT 4") == [
                "'real',1.0", "'real',1.5", "'real',100.0", "'text','😀'",
            ])
        #expect(try rows("SELECT a = 0.1 FROM n LIMIT -1 OFFSET 4") == ["1"])
        let bad = [
            #"{"a":12345678901234567890}"#, #"{"a":9007199254740993.0}"#, #"{"a":1e400}"#,
            #"{"a":1e-400}"#, #"{"r":9007199254740993}"#, #"{"a":-0.12345678901234567891}"#,
            #"{"a":1,"A":2}"#, #"{"a":1,"a":1}"#,
            #"{"a":01}"#, #"{"a":1,}"#,
            #"{"a":"\ud800"}"#, #"[1]"#, #"{"a":1} 2"#, #"{"a":nul}"#, #"{"a":"b}"#,
            String(repeating: #"{"a":"#, count: 600),
        ]
        let refused = try load(
            "n", "--format", "jsonl", "--rejects", "r.jsonl", input: bad.joined(separator: "\n"))
        #expect(
            refused.status == 1
                && refused.output.contains("0 rows imported into n, \(bad.count) rows refused"), "\(refused)")
        let made = [
            #"{"i":1,"r":1.0,"b":123}"#, #"{"i":2,"r":2,"b":12345678901234567890}"#,
            #"{"i":3.0,"r":2,"b":1}"#,
        ]
        let options = ["--create", "--format", "jsonl", "--types", "i:integer", "--rejects", "m.jsonl"]
        #expect(
            try tool.run(["import", "a.db", "m"] + options + key, input: made.joined(separator: "\n")).status
                == 1)
        #expect(try rows("SELECT i, r, b FROM m") == ["1,1.0,'123'", "2,2.0,'12345678901234567890'"])
    }

    @Test("a JSON number is accepted if a real number keeps all of its significant digits")
    func significantDigits() {
        func fits(_ text: String) -> Bool { JSONNumber(text: text).value != nil }
        for text in [
            "0.0", "-0.0", "0e9", "1.10", "0.95e1", "123.456E-7", "1E+23", "5e-324", "1.7976931348623157e308",
            "0.30000000000000004", "9007199254740992.0", "12345678901234567168e0",
        ] {
            #expect(fits(text), "\(text)")
        }
        for text in [
            "9007199254740993.0", "12345678901234567890e0", "3.14159265358979323846", "1e400", "1e-400",
            "1e99999999999999999999", String(repeating: "1", count: 200) + ".0",
        ] {
            #expect(!fits(text), "\(text)")
        }
        var random = SeededRandom("significant digits")
        for _ in 0..<2000 {
            let real = Double(bitPattern: random.next())
            guard real.isFinite else { continue }
            #expect(fits("\(real)") && fits(String(format: "%.17e", real)), "\(real), seed \(random.seed)")
        }
    }

    @Test("numbers round-trip through the JSON output of a query")
    func numbersOfQuery() throws {
        _ = try tool.shell().run(
            """
            CREATE TABLE n (a); CREATE TABLE m (a);
            INSERT INTO n VALUES (9223372036854775807), (-9223372036854775808), (9007199254740993),
                (9007199254740992.0), (0.1 + 0.2), (1e23), (5e-324), (-1.7976931348623157e308), (9e999);
            """)
        let numbers = try tool.run(["query", "a.db", "SELECT a FROM n", "--format", "jsonl"] + key)
        #expect(try load("m", "--format", "jsonl", input: numbers.output).status == 0)
        let differences = """
            SELECT count(*), (SELECT count(*) FROM (SELECT a, typeof(a) FROM n EXCEPT
                SELECT a, typeof(a) FROM m)) FROM m
            """
        #expect(try rows(differences) == ["9,0"])
    }
}
