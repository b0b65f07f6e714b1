import CofferTestSupport
import Foundation
import Testing

@testable import CofferCLI

@Suite("JSON output")
struct JSONTests {
    @Test(
        "each line of each command matches the schema, and the last code is the exit code",
        arguments: [
            ["create", "new.db", "--key-file", "a.key", "--key-type", "raw"],
            ["create", "a.db", "--key-file", "a.key", "--key-type", "raw"],
            ["info", "a.db"], ["info", "--expect", "plaintext", "a.db"], ["info", "none.db", "a.db"],
            ["info", "none.db"],
            ["info", "a.db", "--key-file", "a.key", "--key-type", "raw"],
            ["verify", "a.db", "--key-file", "a.key", "--key-type", "raw", "--progress", "always"],
            ["verify", "a.db", "--key-file", "b.key", "--key-type", "raw"],
            [
                "rotate", "a.db", "--key-file", "a.key", "--key-type", "raw", "--new-key-file", "b.key",
                "--new-key-type", "raw",
            ],
            [
                "rotate", "a.db", "--key-file", "a.key", "--key-type", "raw", "--new-key-file", "b.key",
                "--new-key-type", "raw",
                "--progress", "always",
            ],
            [
                "rotate", "a.db", "--key-file", "a.key", "--key-type", "raw", "--new-key-file", "b.key",
                "--new-key-type", "raw",
                "--dry-run",
            ],
            ["query", "a.db", "SELECT * FROM t", "--key-file", "a.key", "--key-type", "raw"],
            ["query", "a.db", "DELETE FROM t", "--write", "--key-file", "a.key", "--key-type", "raw"],
            ["query", "a.db", "SELEKT", "--key-file", "a.key", "--key-type", "raw"],
            ["keygen", "--out", "new.key"], ["audit", "verify", "none.log"],
            ["batch", "verify", "--manifest", "list", "--key-file", "a.key", "--key-type", "raw"],
            ["batch", "verify", "--manifest", "none"],
            ["--version"], ["rotate"], ["frobnicate"], ["rotate", "--frobnicate"], [],
        ])
    func schema(arguments: [String]) throws {
        let tool = try Tool()
        try tool.makeDatabase(rows: 20)
        try tool.writeKey("b.key", 0x43)
        try tool.write("a.db\n", to: "list")
        let result = try tool.run(arguments + ["--json"])
        #expect(try Schema.problems(result) == [])
        #expect(!result.output.contains(String(repeating: "42", count: 32)))
    }

    /// Runs work on `source` in three ways: with success, with failure, and as a dry run.
    @Test(
        "commands that write files match the schema on success, on failure and in a dry run",
        arguments: [
            (["encrypt", "plain.db", "new.db"], "exists.db", true),
            (["decrypt", "a.db", "new.db", "--yes-plaintext"], "exists.db", true),
            (["backup", "a.db", "new.db"], "exists.db", true),
            (["vacuum", "a.db", "new.db"], "exists.db", true),
            (["vacuum", "a.db"], "none.db", true), (["upgrade", "old.db"], "none.db", true),
            (["rotate", "a.db", "--new-key-file", "b.key", "--new-key-type", "raw"], "none.db", true),
            (["create", "new.db"], "exists.db", true),
            (["erase", "a.db", "--yes-erase", "a.db"], "none.db", false),
            (["query", "a.db", "DELETE FROM t", "--write"], "none.db", true),
            (
                [
                    "batch", "rotate", "--manifest", "list", "--new-key-file", "b.key", "--new-key-type",
                    "raw",
                ], "none.db", true
            ),
        ])
    func works(arguments: [String], badName: String, takesKey: Bool) throws {
        let tool = try Tool()
        try tool.makeDatabase(rows: 20)
        try tool.writeKey("b.key", 0x43)
        try tool.write("a.db\n", to: "list")
        try tool.write("precious", to: "exists.db")
        _ = try SQLCipherShell(plaintextPath: tool.directory.path("plain.db")).run(
            "CREATE TABLE t (text); INSERT INTO t VALUES ('row');")
        _ = try tool.shell("old.db", preparation: "PRAGMA cipher_compatibility = 3;").run(
            "CREATE TABLE t (a); INSERT INTO t VALUES (1);")
        let key = takesKey ? ["--key-file", "a.key", "--key-type", "raw"] : []
        let wrong =
            takesKey && arguments[0] != "create" && arguments[0] != "encrypt"
            ? ["--key-file", "b.key", "--key-type", "raw"] : nil

        let before = tool.directory.fileNames()
        let plan = try tool.run(arguments + key + ["--json", "--dry-run"])
        #expect(plan.status == 0, "\(plan)")
        #expect(try Schema.problems(plan) == [])
        #expect(
            try plan.objects.contains { $0["dry_run"] as? Bool == true && $0["changed"] as? Bool == false })
        #expect(tool.directory.fileNames() == before)

        // Replaces the name of the new or the old file.
        let bad = arguments.map {
            ["new.db", "a.db", "old.db"].contains($0) && !(badName == "exists.db" && $0 == "a.db")
                ? badName : $0
        }
        try tool.write("none.db\n", to: "list")
        let failure = try tool.run(bad + key + ["--json"])
        #expect(
            failure.status == (badName == "exists.db" ? 73 : arguments[0] == "batch" ? 3 : 66), "\(failure)")
        #expect(try Schema.problems(failure) == [])
        #expect(try failure.objects.contains { $0["type"] as? String == "error" })
        #expect(try tool.text(of: "exists.db") == "precious")
        try tool.write("a.db\n", to: "list")
        try? FileManager.default.removeItem(atPath: tool.directory.path("list.state"))

        if let wrong, arguments[0] != "rotate", arguments[0] != "batch" {
            let refused = try tool.run(arguments + wrong + ["--json"])
            #expect(refused.status == 77, "\(refused)")
            #expect(try Schema.problems(refused) == [])
            #expect(tool.directory.fileNames() == before)
        }

        let success = try tool.run(arguments + key + ["--json", "--progress", "always"])
        #expect(success.status == 0, "\(success)")
        #expect(try Schema.problems(success) == [])
        #expect(
            try success.objects.contains {
                $0["type"] as? String == "result" && $0["changed"] as? Bool == true
            })
    }

    @Test("any text round-trips through a line of JSON")
    func escaping() throws {
        let text =
            "quote \" backslash \\ newline \n return \r tab \t zero \u{0} escape \u{1b} separator \u{2028} ä 漢 🎉 '"
        let line = JSONValue.object([
            .init(text, .array([.string(text), .null, .int(.min), .double(0.1), .bool(true)]))
        ]).text
        #expect(!line.contains("\n"))
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: [Any]])
        #expect(object[text]?.first as? String == text)
        #expect(object[text]?[2] as? Int64 == .min)
    }

    @Test(
        "control characters, separators and marks of direction are escaped, and their neighbours are not",
        arguments: [
            ("", ""), ("\u{0}\u{1f}\u{20}", "\\u0000\\u001f "), ("\u{7e}\u{7f}", "~\\u007f"),
            ("\u{80}\u{9f}\u{a0}", "\\u0080\\u009f\u{a0}"),
            ("\u{2027}\u{2028}\u{202e}\u{202f}", "\u{2027}\\u2028\\u202e\u{202f}"),
            ("\u{2065}\u{2066}\u{2069}\u{206a}", "\u{2065}\\u2066\\u2069\u{206a}"),
            ("é€漢🎉", "é€漢🎉"), ("\"\\\n\r\t/", #"\"\\\n\r\t/"#),
        ])
    func escapes(text: String, escaped: String) {
        #expect(JSONValue.string(text).text == "\"\(escaped)\"")
        #expect(JSONValue.string("漢" + text + "a").text == "\"漢\(escaped)a\"")
    }

    @Test("numbers without a form in JSON are null, and zero keeps its sign")
    func numbers() {
        let numbers: [Double] = [.infinity, -.infinity, .nan, -0.0, 1e300]
        #expect(JSONValue.array(numbers.map(\.jsonValue)).text == "[null,null,null,-0.0,1e+300]")
    }

    @Test("the members of an object keep their order, and each value has the form of its type")
    func members() {
        let none: String? = nil
        var object: JSONObject = [
            "z": "text", "a": 7, "big": Int64.min, "real": 0.25, "yes": true, "list": ["b", "a"],
            "none": none,
            "some": Optional(UInt32.max), "pairs": [[1, 2], [3, 4]],
            "object": ["b": 1, "a": 2] as JSONObject,
        ]
        object += ["last": JSONValue.null]
        #expect(
            JSONObject(["first": 0], object, [:]).text
                == #"{"first":0,"z":"text","a":7,"big":-9223372036854775808,"real":0.25,"yes":true,"#
                + #""list":["b","a"],"none":null,"some":4294967295,"pairs":[[1,2],[3,4]],"#
                + #""object":{"b":1,"a":2},"last":null}"#)
    }
}
