import CofferTestSupport
import Foundation
import Testing

@testable import CofferCLI

@Suite("Finding the files of a leaked key in audit logs")
struct FindKeyTests {
    private let tool: Tool
    private let a = ["--key-file", "a.key", "--key-type", "raw"]
    private let toB = ["--new-key-file", "b.key", "--new-key-type", "raw"]
    private let log = ["--audit", "log", "--site-secret-file", "site"]

    init() throws {
        tool = try Tool()
        for name in ["1", "2", "3", "4"] { try tool.makeDatabase("\(name).db", key: "a.key", 0x42) }
        try tool.writeKey("b.key", 0x43)
        try tool.write(String(repeating: "s", count: 32), to: "site")
    }

    private func run(_ arguments: [String]) throws {
        let result = try tool.run(arguments)
        #expect(result.status == 0, "\(arguments) \(result)")
    }

    /// Returns the files that open with a key, with the certainty of each.
    private func found(_ key: String, _ logs: [String] = ["log"], _ more: [String] = []) throws -> [String:
        String]
    {
        let result = try tool.run(
            ["audit", "find-key"] + logs + [
                "--json", "--key-file", key, "--key-type", "raw", "--site-secret-file", "site",
            ] + more)
        #expect(try Schema.problems(result) == [], "\(result)")
        var names: [String: String] = [:]
        for object in try result.objects where object["type"] as? String == "result" {
            names[URL(fileURLWithPath: object["path"] as? String ?? "").lastPathComponent] =
                object["certainty"] as? String
        }
        #expect(result.status == (names.isEmpty ? 0 : 1))
        return names
    }

    @Test("the last record of each file counts, including kept files, copies and erased files")
    func history() throws {
        try run(["verify", "1.db", "2.db", "3.db", "4.db"] + a + log)
        #expect(try found("a.key") == ["1.db": "opens", "2.db": "opens", "3.db": "opens", "4.db": "opens"])
        #expect(try found("b.key") == [:])
        try run(["rotate", "1.db"] + a + toB + log)
        try run(["rotate", "2.db", "--keep-old", "2.old"] + a + toB + log)
        try run(["erase", "3.db", "--yes-erase", "3.db"] + log)
        try run(["backup", "4.db", "copy.db"] + a + log)
        try run(["backup", "4.db", "other.db"] + a + toB + log)
        _ = try tool.directory.makeFolder("backups")
        try run(["backup", "4.db", "--into", "backups"] + a + log)
        let dated = try #require(tool.directory.fileNames().first { $0.hasPrefix("backups/") }).dropFirst(
            "backups/".count)
        try run(["decrypt", "4.db", "plain.db", "--yes-plaintext"] + a + log)
        try run(["encrypt", "plain.db", "new.db"] + a + log)
        #expect(
            try found("a.key") == [
                "2.old": "opens", "4.db": "opens", "copy.db": "opens", "new.db": "opens",
                String(dated): "opens",
            ])
        #expect(try found("b.key") == ["1.db": "opens", "2.db": "opens", "other.db": "opens"])
        #expect(try tool.run("audit", "verify", "log").status == 0)
        // Searches by the identifier, without the key.
        let info = try tool.run(["info", "4.db", "--json", "--site-secret-file", "site"] + a)
        let id = try #require(
            try info.objects.first { $0["type"] as? String == "result" }?["site_key_id"] as? String)
        let byID = try tool.run("audit", "find-key", "log", "--id", id)
        #expect(byID.status == 1 && byID.output.split(separator: "\n").count == 5, "\(byID)")
    }

    @Test("an unfinished rotation makes both keys possible; files without a key identifier are unknown")
    func doubts() throws {
        try run(["verify", "1.db", "2.db"] + a + log)
        try run(["verify", "4.db"] + a + ["--audit", "log"])
        let killed = try tool.run(
            ["rotate", "1.db"] + a + toB + log, environment: ["COFFER_FAIL_POINT": "renamed"])
        #expect(killed.status == -SIGKILL)
        #expect(try found("a.key") == ["1.db": "possible", "2.db": "opens", "4.db": "unknown"])
        #expect(try found("b.key") == ["1.db": "possible", "4.db": "unknown"])
        // Repeating the work resolves the uncertainty.
        try run(["rotate", "1.db"] + a + toB + log)
        #expect(try found("a.key") == ["2.db": "opens", "4.db": "unknown"])
        #expect(try found("b.key") == ["1.db": "opens", "4.db": "unknown"])
    }

    @Test("symbolic links in a path that an earlier version recorded are resolved")
    func links() throws {
        #expect(unsafe symlink(".", tool.directory.path("link")) == 0)
        try tool.write("", to: "x.db")
        let members: JSONObject = [
            "time": "2026-01-01T00:00:00Z", "command": "verify", "path": tool.directory.path("link/x.db"),
            "pid": 1, "uid": 0, "site_key_id": "0123456789abcdef", "event": "end", "code": 0,
            "changed": false,
        ]
        let line = try AuditRecord.line(
            members, sequence: 1, previous: AuditRecord.firstPrevious, followsTornLine: false, seal: .plain)
        try tool.write(line + "\n", to: "old.log")
        let events = try KeyHistory.events(in: tool.directory.path("old.log"), .plain)
        #expect(events.map(\.path) == [tool.directory.path("x.db")])
    }

    @Test("find-key refuses a broken log, and a log that is chained with another secret")
    func badLogs() throws {
        try run(["verify", "1.db"] + a + log)
        try run(
            ["verify", "2.db"] + a + [
                "--audit", "log2", "--site-secret-file", "site", "--audit-key-file", "site",
            ])
        #expect(
            try tool.run("audit", "find-key", "log", "log2", "--id", String(repeating: "0", count: 16)).status
                == 77)
        #expect(try found("a.key") == ["1.db": "opens"])
        #expect(try found("a.key", ["log2"], ["--audit-key-file", "site"]) == ["2.db": "opens"])
        try run(["verify", "2.db"] + a + ["--audit", "log3", "--site-secret-file", "site"])
        #expect(try found("a.key", ["log", "log3"]) == ["1.db": "opens", "2.db": "opens"])
        try tool.write(try tool.text(of: "log").replacing("1.db", with: "9.db"), to: "log")
        #expect(try tool.run(["audit", "find-key", "log", "--site-secret-file", "site"] + a).status == 65)
        for wrong in [
            ["--id", "xyz"], ["--id", String(repeating: "0", count: 16), "--site-secret-file", "site"], a,
        ] {
            #expect(try tool.run(["audit", "find-key", "log3"] + wrong).status == 64, "\(wrong)")
        }
    }
}
