import CofferTestSupport
import Foundation
import Testing

@testable import CofferCLI

@Suite("Formats of rows")
struct RowFormatTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]

    init() throws {
        tool = try Tool()
        try tool.makeDatabase()
    }

    private func output(_ sql: String, _ format: String, _ options: String...) throws -> String {
        let result = try tool.run(["query", "a.db", sql, "--format", format] + key + options)
        #expect(result.status == 0, "\(result)")
        return result.output
    }

    /// Values that could be confused with each other.
    private static let values = [
        "NULL", "'NULL'", "''", "'''NULL'''", "x'00ff'", "'x''00ff'''", "x''", "9e999", "-9e999", "'Inf'",
        "'-Inf'", "'\\N'",
        "'\\x00ff'", "char(9, 10, 13, 92)", "'\\t\\n'", "'a,\"b\"'", "'\"'", "'a|b<br>'", "char(10)", "1",
        "1.0",
        "'{\"blob\":\"00ff\"}'", "'{\"real\":\"Infinity\"}'", "'漢'",
    ]

    @Test(
        "no two values of different kinds look the same in any format",
        arguments: ["table", "line", "csv", "tsv", "json", "jsonl", "markdown", "quote"])
    func distinct(format: String) throws {
        let sql = RowFormatTests.values.map { "SELECT \($0) AS v" }
        var texts: [String: String] = [:]
        let query = try Tool.Query(
            tool.directory.path("a.db"),
            ["--format", format, "--key-file", tool.directory.path("a.key"), "--key-type", "raw"])
        for statement in sql {
            let text = try query.run(statement).output
            #expect(
                texts.updateValue(statement, forKey: text) == nil,
                "\(statement) and \(texts[text] ?? "") are both \(text)")
        }
        #expect(texts.count == RowFormatTests.values.count)
    }

    @Test(
        "rows beyond one write buffer are complete and in order, even before a failure",
        arguments: ["table", "csv", "json", "jsonl", "quote"], [false, true])
    func manyRows(format: String, endsWithFailure: Bool) throws {
        let rows = 40_000
        // The smallest integer has no absolute value.
        let last = endsWithFailure ? "abs(-9223372036854775807 - 1)" : "'end'"
        let sql =
            "WITH n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < \(rows)) "
            + "SELECT v FROM n UNION ALL SELECT \(last)"
        let query = try Tool.Query(
            tool.directory.path("a.db"),
            ["--format", format, "--key-file", tool.directory.path("a.key"), "--key-type", "raw"])
        let result = try query.run(sql)
        #expect((result.status == 0) == !endsWithFailure, "\(result.errors)")
        let numbers = result.output.split { !$0.isNumber }.compactMap { Int($0) }
        #expect(numbers == Array(1...rows))
    }

    @Test("each format follows its conventions")
    func formats() throws {
        let sql =
            "SELECT 1 AS id, 'a,\"b\"' AS \"the text\", NULL AS n, x'00ff' AS b, -9e999 AS r UNION ALL SELECT 2, '', 'x|y', 2.5, ''''"
        #expect(
            try output(sql, "csv") == "id,the text,n,b,r\n1,\"a,\"\"b\"\"\",,x'00ff',-Inf\n2,\"\",x|y,2.5,'\n"
        )
        #expect(
            try output(sql, "csv", "--null-text", "NA", "--no-header")
                == "1,\"a,\"\"b\"\"\",NA,x'00ff',-Inf\n2,\"\",x|y,2.5,'\n")
        #expect(
            try output(sql, "tsv")
                == "id\tthe text\tn\tb\tr\n1\ta,\"b\"\t\\N\t\\x00ff\t-Inf\n2\t\tx|y\t2.5\t'\n")
        #expect(
            try output(sql, "quote", "--no-header")
                == "1,'a,\"b\"',NULL,X'00FF',-9.0e+999\n2,'','x|y',2.5,''''\n")
        #expect(
            try output(sql, "markdown") == """
                | id | the text | n | b | r |
                |---|---|---|---|---|
                | 1 | a,"b" | NULL | x'00ff' | -Inf |
                | 2 |  | x\\|y | 2.5 | ' |

                """)
        #expect(
            try output(sql, "line") == """
                      id = 1
                the text = a,"b"
                       n = NULL
                       b = x'00ff'
                       r = -Inf

                      id = 2
                the text = \("")
                       n = x|y
                       b = 2.5
                       r = '

                """)
        #expect(
            try output(sql, "jsonl").split(separator: "\n").first
                == #"{"id":1,"the text":"a,\"b\"","n":null,"b":{"blob":"00ff"},"r":{"real":"-Infinity"}}"#)
    }

    @Test("rows in JSON have the same values in each format, also where a text is empty or is not UTF-8")
    func json() throws {
        let sql =
            "SELECT '' AS e, CAST(x'61ff62' AS TEXT) AS bad, x'' AS b, 9e999 AS inf, "
            + "-9223372036854775808 AS least, CAST('-0.0' AS REAL) AS z, '€' AS t, "
            + "char(10, 128, 8232) AS [s\"] UNION ALL SELECT 1, 2, 3, 4, 5, 6, 7, 8"
        let values = [
            "\"\"", "\"a\u{fffd}b\"", #"{"blob":""}"#, #"{"real":"Infinity"}"#, "-9223372036854775808",
            "-0.0", "\"€\"", #""\n\u0080\u2028""#,
        ]
        let names = ["e", "bad", "b", "inf", "least", "z", "t", #"s\""#].map { "\"\($0)\"" }
        let first = "{" + zip(names, values).map { "\($0):\($1)" }.joined(separator: ",") + "}"
        let second = "{" + zip(names, 1...8).map { "\($0):\($1)" }.joined(separator: ",") + "}"
        #expect(try output(sql, "jsonl") == "\(first)\n\(second)\n")
        #expect(try output(sql, "json") == "[\n  \(first),\n  \(second)\n]\n")
        let report = try tool.run(["query", "a.db", sql, "--json"] + key).output.split(separator: "\n").map(
            String.init)
        let start =
            #"{"schema":1,"type":"result","command":"query","columns":["# + names.joined(separator: ",")
            + "],\"values\":["
        #expect(
            report.filter { $0.contains("result") && !$0.contains("summary") } == [
                start + values.joined(separator: ",") + "]}", start + "1,2,3,4,5,6,7,8]}",
            ])
    }

    @Test("columns are numbered if their names have the same bytes, not if they only look the same")
    func names() throws {
        let text = try output(
            "SELECT 1 AS \"\u{e9}\", 2 AS \"e\u{301}\", 3 AS \"\u{e9}\", 4 AS \"\u{e9}:2\"", "jsonl")
        let expected = "{\"\u{e9}\":1,\"e\u{301}\":2,\"\u{e9}:3\":3,\"\u{e9}:2\":4}\n"
        #expect(text.unicodeScalars.elementsEqual(expected.unicodeScalars), "\(text)")
    }

    @Test("literals have the original values in the stock shell")
    func literals() throws {
        let text = try output(
            RowFormatTests.values.map { "SELECT \($0)" }.joined(separator: "; "), "quote", "--no-header")
        let literals = text.split(separator: "\n").map(String.init)
        // One value contains a line break, so its literal takes two lines.
        let values = try output(
            "SELECT " + RowFormatTests.values.joined(separator: ","), "quote", "--no-header")
        let again = try output("SELECT " + values, "quote", "--no-header")
        #expect(values == again && literals.count >= RowFormatTests.values.count)
        let same = zip(RowFormatTests.values, try Self.cut(values)).map {
            "(\($0) IS \($1) AND typeof(\($0)) = typeof(\($1)))"
        }
        #expect(try tool.shell().run("SELECT \(same.joined(separator: " AND "));") == ["1"])
    }

    /// Splits a row into literals, at the commas outside of quotes.
    private static func cut(_ row: String) throws -> [String] {
        var (result, isInside) = ([""], false)
        for scalar in row.dropLast().unicodeScalars {
            if scalar == "'" { isInside.toggle() }
            if scalar == ",", !isInside {
                result.append("")
            } else {
                result[result.count - 1].unicodeScalars.append(scalar)
            }
        }
        return result
    }

    @Test("text that is not UTF-8 is kept in SQL literals, and reported once in other formats")
    func invalidText() throws {
        let sql =
            "SELECT CAST(x'61ff62' AS TEXT) AS a, 'b\u{fffd}' AS b UNION ALL SELECT CAST(x'fe' AS TEXT), 'c'"
        for format in RowFormat.allCases {
            let result = try tool.run(["query", "a.db", sql, "--format", format.rawValue] + key)
            let warnings = result.errors.ranges(of: "warning:").count
            #expect(result.status == 0 && warnings == (format == .quote ? 0 : 1), "\(format) \(result)")
        }
        let quoted = try output(sql, "quote", "--no-header")
        #expect(
            quoted.lowercased()
                == "cast(x'61ff62' as text),'b\u{fffd}'\ncast(x'fe' as text),'c'\n")
        let valid = try tool.run(["query", "a.db", "SELECT 'b\u{fffd}'", "--format", "csv"] + key)
        #expect(!valid.errors.contains("warning:"), "\(valid)")
    }

    @Test("an ambiguous --null-text is refused, and so is --json with a format")
    func refusals() throws {
        for options in [
            ["--null-text", "a,b", "--format", "csv"], ["--null-text", "x"], ["--json", "--format", "csv"],
            ["--null-text=-1", "--format", "csv"], ["--null-text", "1.5", "--format", "csv"],
            ["--null-text=-Inf", "--format", "csv"], ["--null-text", "x'00'", "--format", "csv"],
        ] {
            #expect(try tool.run(["query", "a.db", "SELECT 1"] + key + options).status == 64, "\(options)")
        }
        // No value but the NULL has these texts without quotes.
        for text in ["-1x", "007", "NaN", "inf"] {
            #expect(
                try output("SELECT '\(text)', NULL", "csv", "--null-text=\(text)", "--no-header")
                    == "\"\(text)\",\(text)\n")
        }
        // A string equal to the NULL text is quoted.
        #expect(try output("SELECT 'NA', NULL", "csv", "--null-text", "NA", "--no-header") == "\"NA\",NA\n")
    }

    @Test(
        "each line of a table with many columns is cut to the width of the terminal",
        arguments: [40, 80] as [UInt16])
    func wide(columns: UInt16) throws {
        let sql = "SELECT " + (1...60).map { "\($0) AS column\($0)" }.joined(separator: ", ")
        let terminal = try PseudoTerminal(
            Tool.program, ["query", "a.db", sql] + key, folder: tool.directory.path, columns: columns)
        #expect(try terminal.end() == 0)
        let lines = terminal.screen.components(separatedBy: "\r\n")
        #expect(lines.count { $0.hasSuffix("…") } == 3)
        #expect(lines.allSatisfy { $0.count <= Int(columns) }, "\(terminal.screen)")
    }

    @Test(
        "the sign of zero is kept, JSON escapes terminal controls, and a folder is refused as a script")
    func oddValues() throws {
        let tool = try Tool()
        try tool.makeDatabase()
        let key = ["--key-file", "a.key", "--key-type", "raw"]
        #expect(
            try tool.run(["query", "a.db", "SELECT -0.0, 0.0", "--format", "quote", "--no-header"] + key)
                .output == "-0.0,0.0\n")
        let sql = "SELECT char(0x9b, 0x202e, 0x2066, 0x61) AS a"
        #expect(
            try tool.run(["query", "a.db", sql, "--format", "jsonl"] + key).output
                == #"{"a":"\u009b\u202e\u2066a"}"# + "\n")
        #expect(try tool.run(["query", "a.db", "--file", "."] + key).status == 66)
    }
}
