import CofferTestSupport
import Foundation
import Testing

@testable import CofferCLI

/// The shape of each line of `--json`, version 1.
enum Schema {
    private static let common: Set<String> = ["schema", "type", "command"]

    /// What is wrong with the output; nothing if it is as promised.
    static func problems(_ result: Tool.Result) throws -> [String] {
        var problems: [String] = []
        let objects = try result.objects
        for object in objects {
            let type = object["type"] as? String ?? "none"
            if object["schema"] as? Int != 1 { problems.append("schema: \(object)") }
            if object["command"] as? String == nil { problems.append("no command: \(object)") }
            switch type {
            case "start": break
            case "progress":
                guard let completed = object["completed"] as? Int, let total = object["total"] as? Int, completed <= max(total, completed),
                    completed >= 0, object["path"] is String, object["phase"] is String, object["unit"] is String,
                    Set(object.keys) == common.union(["path", "phase", "completed", "total", "unit"])
                else {
                    problems.append("progress: \(object)")
                    continue
                }
            case "result":
                if let changed = object["changed"], !(changed is Bool) { problems.append("changed: \(object)") }
                if let code = object["code"], !(code is Int) { problems.append("code: \(object)") }
            case "error":
                let keys = Set(object.keys).subtracting(["path"])
                guard let code = object["code"] as? Int32, ToolStatus(rawValue: code) != nil, code != 0, object["reason"] is String,
                    object["message"] is String, keys == common.union(["code", "reason", "message"])
                else {
                    problems.append("error: \(object)")
                    continue
                }
            case "summary":
                guard object["code"] is Int, object["results"] is Int, object["failures"] is Int, object["elapsed_ms"] is Int,
                    object["failure_codes"] is [String: Int]
                else {
                    problems.append("summary: \(object)")
                    continue
                }
            default: problems.append("type: \(object)")
            }
        }
        let types = objects.compactMap { $0["type"] as? String }
        if types.last != "summary" || types.filter({ $0 == "summary" }).count != 1 { problems.append("the summary is not last: \(types)") }
        if let start = types.firstIndex(of: "start"), start != 0 { problems.append("the start is not first") }
        if objects.last?["code"] as? Int32 != result.status {
            problems.append("code \(objects.last?["code"] ?? "none") for exit code \(result.status)")
        }
        return problems
    }
}

@Suite("JSON output")
struct JSONTests {
    @Test(
        "each line of each command matches the schema, and the last code is the exit code",
        arguments: [
            ["create", "new.db", "--key-file", "a.key", "--key-type", "raw"],
            ["create", "a.db", "--key-file", "a.key", "--key-type", "raw"],
            ["info", "a.db"], ["info", "--expect", "plaintext", "a.db"], ["info", "none.db", "a.db"], ["info", "none.db"],
            ["info", "a.db", "--key-file", "a.key", "--key-type", "raw"],
            ["verify", "a.db", "--key-file", "a.key", "--key-type", "raw", "--progress", "always"],
            ["verify", "a.db", "--key-file", "b.key", "--key-type", "raw"],
            ["rotate", "a.db", "--key-file", "a.key", "--key-type", "raw", "--new-key-file", "b.key", "--new-key-type", "raw"],
            [
                "rotate", "a.db", "--key-file", "a.key", "--key-type", "raw", "--new-key-file", "b.key", "--new-key-type", "raw",
                "--progress", "always",
            ],
            [
                "rotate", "a.db", "--key-file", "a.key", "--key-type", "raw", "--new-key-file", "b.key", "--new-key-type", "raw",
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

    @Test("text of any kind comes back from a line as it was")
    func escaping() throws {
        let text = "quote \" backslash \\ newline \n return \r tab \t zero \u{0} escape \u{1b} separator \u{2028} ä 漢 🎉 '"
        let line = JSONValue.object([.init(text, .array([.string(text), .null, .int(.min), .double(0.1), .bool(true)]))]).text
        #expect(!line.contains("\n"))
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: [Any]])
        #expect(object[text]?.first as? String == text)
        #expect(object[text]?[2] as? Int64 == .min)
    }
}
