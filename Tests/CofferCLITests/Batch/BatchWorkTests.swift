import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Batches of each command")
struct BatchWorkTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]
    /// Names as `find -print0` prints them: a dash, white space, a line break, and two files with the same
    /// name.
    private static let names = ["-dash.db", " space.db", "line\nbreak.db", "a/x.db", "b/x.db", "#x.db"]

    init() throws {
        tool = try Tool()
        try tool.writeKey("a.key")
        for folder in ["a", "b"] { _ = try tool.directory.makeFolder(folder) }
        try tool.write(Self.names.map { $0 + "\0" }.joined(), to: "list")
    }

    private func makePlaintext() throws {
        var configuration = Configuration()
        configuration.allowsPlaintext = true
        for name in Self.names {
            let queue = try tool.directory.makeQueue(name, configuration)
            try queue.write { db in
                try db.execute(
                    sql:
                        "CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT); INSERT INTO t (text) VALUES ('row 1')"
                )
            }
            try queue.close()
        }
    }

    private func makeEncrypted() throws {
        for name in Self.names { try tool.makeDatabase(name) }
    }

    private func batch(_ command: String, _ options: String...) throws -> Tool.Result {
        let result = try tool.run(
            ["batch", command, "--manifest", "list", "--null", "--json", "--audit", "log"] + key + options)
        #expect(try Schema.problems(result) == [], "\(result)")
        return result
    }

    private func summary(_ result: Tool.Result) throws -> [String: Int] {
        let object = try #require(try result.objects.last)
        return ["done", "changed", "failed", "done_before", "not_begun"].reduce(into: [:]) {
            $0[$1] = object[$1] as? Int
        }
    }

    private func isEncrypted(_ name: String) -> Bool {
        (try? tool.shell(name).run("SELECT text FROM t;")) == ["row 1"]
    }

    private let all = ["done": 6, "changed": 6, "failed": 0, "done_before": 0, "not_begun": 0]
    private let none = ["done": 6, "changed": 0, "failed": 0, "done_before": 0, "not_begun": 0]

    @Test("files are encrypted and decrypted in place, and the originals are kept")
    func encrypting() throws {
        try makePlaintext()
        #expect(try summary(batch("encrypt", "--dry-run")) == none)
        #expect(!isEncrypted("a/x.db"))
        let before = try tool.directory.bytes(of: "a/x.db")
        #expect(try summary(batch("encrypt")) == all)
        for name in Self.names { #expect(isEncrypted(name), "\(name)") }
        #expect(try tool.directory.bytes(of: "a/x.db.plaintext") == before)
        #expect(try summary(batch("encrypt")) == none)
        #expect(!tool.exists("list.encrypt.state"))
        #expect(try tool.run(["batch", "decrypt", "--manifest", "list", "--null"] + key).status == 64)
        let decrypted = try batch("decrypt", "--yes-plaintext", "--keep-suffix", ".old")
        #expect(try summary(decrypted) == all, "\(decrypted)")
        for name in Self.names { #expect(isEncrypted(name + ".old"), "\(name)") }
        let kind = try tool.run("info", "--expect", "plaintext", "a/x.db", "b/x.db")
        #expect(kind.status == 0)
        #expect(try tool.run("audit", "verify", "log").status == 0)
        // A kept file is never overwritten.
        let again = try batch("encrypt")
        #expect(try again.objects.last?["failure_codes"] as? [String: Int] == ["73": 6], "\(again)")
        #expect(try summary(batch("encrypt", "--continue", "--keep-none")) == all)
        for wrong in [
            ["--keep-suffix", "-wal"], ["--keep-suffix", "/x"], ["--keep-none", "--keep-suffix", ".x"],
            ["--previous-key-file", "a.key"],
        ] {
            #expect(
                try tool.run(["batch", "encrypt", "--manifest", "list"] + key + wrong).status == 64,
                "\(wrong)")
        }
    }

    @Test("files are vacuumed, upgraded and queried")
    func otherWork() throws {
        try makeEncrypted()
        #expect(try summary(batch("vacuum")) == all)
        #expect(try summary(batch("upgrade")) == none)
        #expect(try summary(batch("info")) == none)
        let asked = try batch("query", "SELECT text FROM t", "--jobs", "3")
        let rows = try asked.objects.filter { $0["values"] != nil }
        #expect(Set(rows.compactMap { $0["path"] as? String }) == Set(Self.names))
        #expect(rows.allSatisfy { $0["values"] as? [String] == ["row 1"] })
        #expect(try summary(batch("query", "INSERT INTO t (text) VALUES ('two')", "--write")) == all)
        let table = try tool.run(
            [
                "batch", "query", "SELECT count(*) AS n FROM t", "--manifest", "list", "--null", "--format",
                "csv", "--quiet",
            ] + key)
        #expect(
            table.output == "path,n\n"
                + Self.names.map { $0.contains("\n") ? "\"\($0)\",2\n" : "\($0),2\n" }.joined())
        #expect(try batch("query", "SELECT none FROM t").status == 3)
        #expect(try batch("query", "DELETE FROM t").status == 3)
        #expect(
            try tool.run(["batch", "query", "SELECT 1", "--manifest", "list", "--null", "--jobs", "2"] + key)
                .status == 64)
        // No file name can look like a line of output.
        let text = try tool.run(["batch", "info", "--manifest", "list", "--null"] + key)
        #expect(
            text.output.split(separator: "\n").count == 6
                && text.output.contains("line\\nbreak.db: encrypted"), "\(text)")
    }

    @Test(
        "rows that cannot be written are reported, and no further file is changed", arguments: [false, true])
    func lostRows(isWriting: Bool) throws {
        for name in ["1.db", "2.db"] { try tool.makeDatabase(name) }
        try tool.write("missing.db\n1.db\n2.db\n", to: "files")
        let sql = isWriting ? "INSERT INTO t (text) VALUES ('new') RETURNING id" : "SELECT id FROM t"
        func run(_ output: String, _ options: [String]) throws -> Tool.Result {
            try tool.run(
                [
                    "-c", "exec \"$0\" \"$@\" \(output)", Tool.program, "batch", "query", sql, "--manifest",
                    "files",
                ]
                    + (isWriting ? ["--write"] : []) + options + key, program: "/bin/sh")
        }
        let lost = try run(">/dev/full", [])
        #expect(lost.status != 0 && lost.errors.contains("The output could not be written"), "\(lost)")
        // A change is not made twice, and rows of other files are not lost.
        let rest = try run("", ["--continue", "--format", "csv", "--no-header"])
        #expect(rest.output.contains("1.db,") == !isWriting && rest.output.contains("2.db,"), "\(rest)")
    }

    @Test("rows of files with different columns have headers of their own, with one warning")
    func differentColumns() throws {
        for (name, columns) in [("1.db", "a, b"), ("2.db", "b, a"), ("3.db", "b, a"), ("4.db", "a, b")] {
            try tool.makeDatabase(name)
            _ = try tool.shell(name).run("CREATE TABLE v (\(columns)); INSERT INTO v VALUES (1, 2);")
        }
        let files = ["1.db", "2.db", "3.db", "4.db"].map { "\($0)\n" }.joined()
        try tool.write(files, to: "files")
        for (format, comma) in [("csv", ","), ("tsv", "\t")] {
            let result = try tool.run(
                ["batch", "query", "SELECT * FROM v", "--manifest", "files", "--format", format] + key)
            let lines = [
                "path,a,b", "1.db,1,2", "path,b,a", "2.db,1,2", "3.db,1,2", "path,a,b", "4.db,1,2",
            ]
            #expect(
                result.output == lines.map { $0.replacing(",", with: comma) + "\n" }.joined(), "\(result)")
            #expect(result.errors.split(separator: "warning:").count == 2, "\(result)")
        }
    }

    @Test("backups go to separate folders, and older ones are removed once the new one exists")
    func backups() throws {
        try makeEncrypted()
        for _ in 0..<2 { #expect(try summary(batch("backup", "--into", "backup", "--keep", "1d")) == all) }
        let made = tool.directory.fileNames().filter { $0.hasPrefix("backup/") }
        #expect(made.count == 6, "\(made)")
        #expect(
            made.count { $0.hasPrefix("backup/a/x.db.") } == 1
                && made.count { $0.hasPrefix("backup/b/x.db.") } == 1)
        for name in made { #expect(isEncrypted(name), "\(name)") }
        try tool.write("../x.db\n", to: "outside")
        try tool.makeDatabase("x.db")
        _ = try tool.directory.makeFolder("c")
        try tool.write("../x.db\n", to: "c/list")
        let outside = try tool.run(["batch", "backup", "--into", "backup", "--manifest", "c/list"] + key)
        #expect(outside.status == 3 && outside.errors.contains("'..'"), "\(outside)")
    }

    @Test("a killed batch is continued with the state of its command", arguments: ["encrypt", "vacuum"])
    func killing(command: String) throws {
        var configuration: Configuration = .rawKeyed(0x42)
        if command == "encrypt" {
            configuration = Configuration()
            configuration.allowsPlaintext = true
        }
        let names = (0..<20).map { "\($0).db" }
        for name in names {
            let queue = try tool.directory.makeQueue(name, configuration)
            try queue.write { db in
                try db.execute(sql: "CREATE TABLE t (text TEXT); INSERT INTO t VALUES ('row 1')")
            }
            try queue.close()
        }
        try tool.write(names.map { $0 + "\0" }.joined(), to: "list")
        let arguments = ["batch", command, "--manifest", "list", "--null", "--json", "--audit", "log"] + key
        let run = try tool.start(arguments)
        while run.isRunning, run.text(of: "output").split(separator: "\n").count < 6 { usleep(500) }
        run.send(SIGKILL)
        _ = run.wait()
        #expect(try tool.run(arguments).status == 73)
        let status = try tool.run("batch", "status", "--of", command, "--manifest", "list", "--null")
        #expect(status.status == 1 && status.errors.contains("of 20 files done"), "\(status)")
        let result = try tool.run(arguments + ["--continue"])
        #expect(result.status == 0, "\(result)")
        #expect(try Schema.problems(result) == [])
        let doneBefore = try #require(try summary(result)["done_before"])
        #expect(doneBefore >= 1)
        for name in names { #expect(isEncrypted(name), "\(name)") }
        let left = tool.directory.fileNames().filter {
            $0.hasSuffix(".json") || $0.contains(".coffer-") || $0.hasSuffix(".state")
        }
        #expect(left.isEmpty, "\(left)")
        #expect(try tool.run("audit", "verify", "log").status == 0)
    }

    @Test(
        "each command handles shards, --fail-fast and failing files in the same way",
        arguments: ["encrypt", "decrypt", "vacuum", "upgrade", "backup"])
    func oneMachine(command: String) throws {
        try makeEncrypted()
        try tool.writeKey("other.key", 0x17)
        let more = ["decrypt": ["--yes-plaintext"], "backup": ["--into", "backup"]][command] ?? []
        let wrong = ["--key-file", "other.key", "--key-type", "raw"]
        let before = try Self.names.map { try tool.directory.bytes(of: $0) }
        let failed = try tool.run(
            ["batch", command, "--manifest", "list", "--null", "--json", "--fail-fast"] + wrong + more)
        #expect(failed.status == 3, "\(failed)")
        let counts = try summary(failed)
        #expect(counts["failed"] == 1 && counts["not_begun"] == 5, "\(failed)")
        #expect(try Self.names.map { try tool.directory.bytes(of: $0) } == before)
        var paths: [String] = []
        for share in 1...3 {
            let result = try tool.run(
                ["batch", command, "--manifest", "list", "--null", "--json", "--shard", "\(share)/3"] + key
                    + more)
            #expect(result.status == 0, "\(result)")
            #expect(try Schema.problems(result) == [])
            paths += try result.objects.first?["files"] as? [String] ?? []
        }
        #expect(paths.sorted() == Self.names.sorted())
        let status = try tool.run(
            "batch", "status", "--of", command, "--manifest", "list", "--null", "--shards", "3", "--remove")
        #expect(status.status == 0, "\(status)")
    }
}
