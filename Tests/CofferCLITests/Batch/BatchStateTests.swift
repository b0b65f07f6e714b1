import Coffer
import CofferTestSupport
import Foundation
import SystemCalls
import Testing

@testable import CofferCLI

@Suite("The state of a batch")
struct BatchStateTests {
    private let tool: Tool
    private let keys = [
        "--key-file", "old.key", "--key-type", "raw", "--new-key-file", "new.key", "--new-key-type", "raw",
    ]

    init() throws {
        tool = try Tool()
        for name in ["1.db", "2.db"] { try tool.makeDatabase(name, key: "old.key", 1) }
        try tool.writeKey("new.key", 2)
        try tool.write("1.db\n2.db\n", to: "list")
    }

    private func rotate(_ more: String...) throws -> Tool.Result {
        try tool.run(["batch", "rotate", "--manifest", "list", "--json"] + keys + more)
    }

    private func opens(_ name: String, _ byte: UInt8) -> Bool {
        (try? tool.shell(name, byte).run("SELECT count(*) FROM t;")) == ["1"]
    }

    /// Runs a rotation that fails for one file.
    private func fail() throws {
        try FileManager.default.moveItem(
            atPath: tool.directory.path("2.db"), toPath: tool.directory.path("2.away"))
        #expect(try rotate().status == 3)
        try FileManager.default.moveItem(
            atPath: tool.directory.path("2.away"), toPath: tool.directory.path("2.db"))
    }

    @Test("files are rotated again if the same key files contain new keys")
    func otherKeysInTheSameFiles() throws {
        try fail()
        #expect(opens("1.db", 2) && opens("2.db", 1))
        // The same file names, one rotation later.
        try tool.writeKey("old.key", 2)
        try tool.writeKey("new.key", 3)
        let result = try rotate("--continue")
        #expect(try result.objects.allSatisfy { $0["skipped"] == nil }, "\(result)")
        #expect(opens("1.db", 3))
        // The second file still has the first key, which no option supplies any more. This is reported, and
        // the file is unchanged.
        #expect(result.status == 3 && opens("2.db", 1))
    }

    @Test("files rotated with the same keys are skipped")
    func sameKeys() throws {
        try fail()
        let salt = try tool.directory.bytes(of: "1.db").prefix(16)
        let result = try rotate("--continue")
        #expect(result.status == 0, "\(result)")
        #expect(try result.objects.count { $0["skipped"] as? Bool == true } == 1)
        #expect(try tool.directory.bytes(of: "1.db").prefix(16) == salt)
        #expect(!tool.directory.fileNames().contains { $0.contains("state") })
    }

    @Test("the status shows the last command, and counts only unchanged lines of the manifest as done")
    func status() throws {
        try fail()
        func begun() throws -> [String: Bool] {
            let objects = try tool.run("batch", "status", "--manifest", "list", "--json").objects.filter {
                $0["type"] as? String == "result"
            }
            return Dictionary(
                uniqueKeysWithValues: objects.map {
                    ($0["path"] as? String ?? "", $0["begun"] as? Bool ?? false)
                })
        }
        #expect(try begun() == ["2.db": true])
        // A different key for the file that is done.
        try tool.write(
            #"{"path": "1.db", "new-key-file": "next.key", "new-key-type": "raw"}"# + "\n2.db\n", to: "list")
        #expect(try begun() == ["1.db": false, "2.db": true])
    }

    @Test("a continued verification does not skip a file that another key now opens")
    func verification() throws {
        let options = [
            "batch", "verify", "--manifest", "list", "--json", "--state", "v", "--key-file", "old.key",
            "--key-type", "raw",
        ]
        try FileManager.default.moveItem(
            atPath: tool.directory.path("2.db"), toPath: tool.directory.path("2.away"))
        #expect(try tool.run(options).status == 3)
        #expect(try tool.run(options + ["--continue"]).objects.count { $0["skipped"] as? Bool == true } == 1)
        try tool.writeKey("old.key", 9)
        let result = try tool.run(options + ["--continue"])
        #expect(try result.objects.allSatisfy { $0["skipped"] == nil })
        #expect(try result.objects.last?["failure_codes"] as? [String: Int] == ["66": 1, "77": 1])
        // Only the last result of a file counts, even if an earlier one was good.
        try tool.writeKey("old.key", 1)
        #expect(try tool.run(options + ["--continue"]).objects.allSatisfy { $0["skipped"] == nil })
    }

    /// Inserts a row in both files, with `2.db` missing. Then inserts it with all files, and continues.
    private func insert(_ manifests: String..., before: () throws -> Void = {}) throws -> Tool.Result {
        func run(_ manifest: String, _ more: [String]) throws -> Tool.Result {
            try tool.run(
                [
                    "batch", "query", "INSERT INTO t (text) VALUES ('bonus')", "--write", "--manifest",
                    manifest,
                    "--key-file", "old.key", "--key-type", "raw", "--json",
                ] + more)
        }
        if manifests.count > 1 {
            try FileManager.default.moveItem(
                atPath: tool.directory.path("2.db"), toPath: tool.directory.path("2.away"))
            #expect(try run(manifests[0], []).status == 3)
            try FileManager.default.moveItem(
                atPath: tool.directory.path("2.away"), toPath: tool.directory.path("2.db"))
        }
        try before()
        return try run(manifests[manifests.count - 1], ["--continue"])
    }

    private func rowCounts() throws -> [String] {
        try ["1.db", "2.db"].flatMap { try tool.shell($0, 1).run("SELECT count(*) FROM t;") }
    }

    @Test("a change that is recorded as made is not made again after a run in which its file did not open")
    func recordedChange() throws {
        try tool.write(
            ["1.db", "2.db"].map { #"{"path": "\#($0)", "key-file": "old.key", "key-type": "raw"}"# }.joined(
                separator: "\n"), to: "list")
        let result = try insert("list", "list") {
            try tool.writeKey("old.key", 9)
            let failed = try insert("list")
            #expect(failed.status == 3, "\(failed)")
            #expect(try failed.objects.count { $0["skipped"] as? Bool == true } == 1)
            try tool.writeKey("old.key", 1)
        }
        #expect(result.status == 0, "\(result)")
        #expect(try rowCounts() == ["2", "2"])
    }

    @Test(
        "completed work is recognized however the path of the manifest is typed",
        arguments: ["list", "/list", "./sub/../list", "link/list"], [false, true])
    func spellings(_ spelling: String, isFirst: Bool) throws {
        #expect(unsafe symlink(".", tool.directory.path("link")) == 0)
        _ = try tool.directory.makeFolder("sub")
        try tool.write(
            ["1.db", "2.db"].map { #"{"path": "\#($0)", "key-file": "old.key", "key-type": "raw"}"# }.joined(
                separator: "\n"), to: "list")
        let other = spelling.hasPrefix("/") ? tool.directory.path("list") : spelling
        func expectStatus() throws {
            let status = try tool.run("batch", "status", "--of", "query", "--manifest", other)
            #expect(status.status == 1 && status.errors.contains("1 of 2 files done, 1 failed"), "\(status)")
        }
        let result =
            try isFirst
            ? insert(other, "list", before: expectStatus) : insert("list", other, before: expectStatus)
        #expect(result.status == 0, "\(result)")
        #expect(try result.objects.count { $0["skipped"] as? Bool == true } == 1)
        #expect(try rowCounts() == ["2", "2"])
    }

    /// Writes a state as versions with the first schema did. `1.db` is done, and `2.db` failed.
    private func writeFirstState(_ folder: String) throws {
        func hash(_ text: String) throws -> String {
            try String(AuditSeal.plain.hash(Array(text.utf8)[...]).prefix(32))
        }
        let work = try hash("INSERT INTO t (text) VALUES ('bonus')")
        let lines = try [("1.db", 0), ("2.db", 66)].map { name, code in
            let line = try hash("\(folder)\(name)\0\0\0")
            let id = try hash("an identifier with the keys of the command line \(name)")
            return #"{"schema":1,"command":"batch query","id":"\#(id)","line":"\#(line)","work":"\#(work)","#
                + #""path":"\#(name)","code":\#(code)}"#
        }
        try tool.write(lines.joined(separator: "\n") + "\n", to: "list.query.state")
    }

    @Test(
        "a state of the first schema is continued, also if the manifest was typed in another way",
        arguments: ["list", "/list"], [false, true])
    func firstSchema(_ spelling: String, wasAbsolute: Bool) throws {
        try writeFirstState(wasAbsolute ? tool.directory.path("") : "")
        let manifest = spelling.hasPrefix("/") ? tool.directory.path("list") : spelling
        let status = try tool.run("batch", "status", "--of", "query", "--manifest", manifest)
        #expect(status.errors.contains("1 of 2 files done, 1 failed"), "\(status)")
        #expect(try insert(manifest).status == 0)
        #expect(try rowCounts() == ["1", "2"])
    }

    @Test("a change is not repeated when the manifest is divided into other shards")
    func otherShards() throws {
        try tool.write("1.db\n2.db\nmissing.db\n", to: "list")
        func run(_ more: [String]) throws -> Tool.Result {
            try tool.run(
                [
                    "batch", "query", "INSERT INTO t (text) VALUES ('bonus')", "--write", "--manifest",
                    "list", "--key-file", "old.key", "--key-type", "raw",
                ] + more)
        }
        for shard in ["1/2", "2/2"] { _ = try run(["--shard", shard]) }
        #expect(try rowCounts() == ["2", "2"])
        for other in [[], ["--shard", "1/3"]] {
            let result = try run(other)
            #expect(result.status == 73 && result.errors.contains("divided"), "\(result)")
        }
        #expect(try run(["--shard", "1/2", "--continue"]).status != 73)
        #expect(try rowCounts() == ["2", "2"])
    }

    @Test("a change that a killed run may have made is refused until its repetition is asked for")
    func killed() throws {
        let result = try insert("list", "list") {
            // As if the run had been killed before it recorded the end of its work on 1.db.
            let lines = try tool.text(of: "list.query.state").split(separator: "\n")
            let left = lines.filter { !$0.contains(#""code":0"#) }
            #expect(left.count == lines.count - 1 && left.contains { $0.contains(#""code":-1"#) })
            try tool.write(left.joined(separator: "\n") + "\n", to: "list.query.state")
            let status = try tool.run("batch", "status", "--of", "query", "--manifest", "list")
            #expect(status.output.contains("1.db: begun, and perhaps done"), "\(status)")
        }
        #expect(result.status == 3 && result.errors.contains("may have made the change"), "\(result)")
        #expect(try rowCounts() == ["2", "2"])
        let again = try insert("list")
        #expect(again.status == 3 && again.errors.contains("--repeat-unfinished"), "\(again)")
        #expect(try rowCounts() == ["2", "2"])
        let repeated = try tool.run(
            "batch", "query", "INSERT INTO t (text) VALUES ('bonus')", "--write", "--manifest", "list",
            "--key-file", "old.key", "--key-type", "raw", "--continue", "--repeat-unfinished")
        #expect(repeated.status == 0, "\(repeated)")
        #expect(try rowCounts() == ["3", "2"])
    }

    @Test(
        "a file in which a script failed after a committed statement is refused until its repetition is asked for",
        arguments: ["", "BEGIN; ", "BEGIN; ROLLBACK; "])
    func partlyRunScript(start: String) throws {
        let end = start == "BEGIN; " ? "COMMIT; " : ""
        let script = "\(start)INSERT INTO t (text) VALUES ('bonus'); \(end)INSERT INTO t (a) VALUES (1)"
        func run(_ more: String...) throws -> Tool.Result {
            try tool.run(
                [
                    "batch", "query", script, "--write", "--manifest", "list", "--key-file", "old.key",
                    "--key-type", "raw",
                ] + more)
        }
        #expect(try run().status == 3)
        #expect(try rowCounts() == ["2", "2"])
        for _ in 0..<2 {
            let refused = try run("--continue")
            #expect(refused.status == 3 && refused.errors.contains("may have made the change"), "\(refused)")
            #expect(try rowCounts() == ["2", "2"])
        }
        #expect(try run("--continue", "--repeat-unfinished").status == 3)
        #expect(try rowCounts() == ["3", "3"])
    }

    @Test("rows kept by a failed statement count as a change, even if a trigger wrote them")
    func keptRows() throws {
        for name in ["1.db", "2.db"] {
            _ = try tool.shell(name, 1).run(
                "CREATE TABLE s (x); INSERT INTO s VALUES (8), (9), (1); CREATE VIEW v AS SELECT 1 AS a; "
                    + "CREATE TRIGGER g INSTEAD OF INSERT ON v BEGIN "
                    + "INSERT INTO t (rowid, text) SELECT x, x FROM s; END;")
        }
        for more in [[], ["--continue"]] {
            let result = try tool.run(
                [
                    "batch", "query", "INSERT OR FAIL INTO v VALUES (1)", "--write", "--manifest", "list",
                    "--key-file", "old.key", "--key-type", "raw",
                ] + more)
            #expect(result.status == 3, "\(result)")
            #expect(result.errors.contains("may have made the change") != more.isEmpty, "\(result)")
            #expect(try rowCounts() == ["3", "3"])
        }
    }

    @Test(
        "a file in which a failed script left no change is not refused",
        arguments: [
            "BEGIN; INSERT INTO t (text) VALUES ('x'); INSERT INTO t (a) VALUES (1)",
            "BEGIN; INSERT INTO t (text) VALUES ('x'); ROLLBACK; SELECT missing",
            "SELECT count(*) FROM t; INSERT INTO t (text) VALUES ('x'), (json('{'))",
            "UPDATE t SET text = 'x' WHERE id = 99; BEGIN IMMEDIATE; COMMIT; EXPLAIN DELETE FROM t; SELECT missing",
        ])
    func undoneScript(script: String) throws {
        for more in [[], ["--continue"], ["--continue"]] {
            let result = try tool.run(
                [
                    "batch", "query", script, "--write", "--manifest", "list", "--key-file", "old.key",
                    "--key-type", "raw",
                ] + more)
            #expect(result.status == 3 && !result.errors.contains("may have made"), "\(result)")
        }
        #expect(try rowCounts() == ["1", "1"])
    }

    @Test("a new state that a killed run left is removed by the next run")
    func leftState() throws {
        #expect(try insert("list").status == 0)
        func run() throws { #expect(try rotate("--continue").status == 0) }
        let hash = try AuditSeal.plain.hash(Array("list.state".utf8)[...]).prefix(32)
        try tool.write("half a sta", to: ".coffer-state-\(hash)")
        try run()
        #expect(!tool.directory.fileNames().contains { $0.contains("state") })
    }

    @Test("a file that the manifest lists by two names is refused before it is changed")
    func secondName() throws {
        #expect(unsafe symlink("1.db", tool.directory.path("link.db")) == 0)
        for other in ["link.db", "./1.db"] {
            try tool.write("1.db\n\(other)\n", to: "list")
            let result = try insert("list")
            #expect(result.status == 78 && result.errors.contains("are the same file"), "\(result)")
            let shard = try tool.run(
                "batch", "query", "DELETE FROM t", "--write", "--manifest", "list", "--key-file", "old.key",
                "--key-type", "raw", "--shard", "1/2")
            #expect(shard.status == 78 && shard.errors.contains("are the same file"), "\(shard)")
        }
        #expect(try rowCounts() == ["1", "1"])
        #expect(!tool.directory.fileNames().contains { $0.contains("state") })
    }

    @Test("a file that a folder has by two names is refused before it is changed")
    func secondNameInFolder() throws {
        let folder = try tool.directory.makeFolder("twice")
        try FileManager.default.moveItem(atPath: tool.directory.path("1.db"), toPath: folder + "/1.db")
        try FileManager.default.linkItem(atPath: folder + "/1.db", toPath: folder + "/3.db")
        let result = try tool.run(
            "batch", "query", "INSERT INTO t (text) VALUES ('x')", "twice", "--write", "--name", "*.db",
            "--key-file", "old.key", "--key-type", "raw")
        #expect(result.status == 78 && result.errors.contains("would be changed twice"), "\(result)")
        #expect(try tool.shell("twice/1.db", 1).run("SELECT count(*) FROM t;") == ["1"])
    }

    @Test("a state without a line that matches the manifest is refused, and no file is touched")
    func foreignState() throws {
        try writeFirstState("/elsewhere/")
        let before = try tool.directory.bytes(of: "list.query.state")
        let result = try insert("list")
        #expect(result.status == 73 && result.errors.contains("fits the manifest"), "\(result)")
        #expect(try rowCounts() == ["1", "1"])
        #expect(try tool.directory.bytes(of: "list.query.state") == before)
        let status = try tool.run("batch", "status", "--of", "query", "--manifest", "list", "--remove")
        #expect(status.status == 73, "\(status)")
    }

    @Test("a state that fits in part is continued, and keeps the lines of other files")
    func partOfState() throws {
        try fail()
        try tool.write("2.db\n", to: "list")
        try tool.writeKey("old.key", 9)
        #expect(try rotate("--continue").status == 3)
        try tool.write("1.db\n2.db\n", to: "list")
        try tool.writeKey("old.key", 1)
        let result = try rotate("--continue")
        #expect(result.status == 0, "\(result)")
        #expect(try result.objects.count { $0["skipped"] as? Bool == true } == 1)
    }

    @Test("work is identified by its file, its keys and its settings")
    func identifiers() throws {
        func id(
            _ key: SecretSource, _ new: SecretSource? = nil, type: KeyType = .raw, location: String = "1.db"
        ) throws -> String {
            try BatchState.id(
                Manifest.Item(
                    path: "x", location: location, key: KeyRequest(role: .current, source: key, type: type),
                    newKey: new.map { KeyRequest(role: .new, source: $0) }, cipher: nil))
        }
        let ids = try [
            id(.file("a")), id(.file("a"), location: "2.db"), id(.file("b")), id(.environment("a")),
            id(.file("a"), .file("b")),
            id(.file("a"), .command(["b", "c"])), id(.file("a"), .command(["b", "d"])),
            id(.file("a"), type: .passphrase),
        ]
        #expect(Set(ids).count == ids.count)
        #expect(try id(.file("a")) == ids[0])
    }

    @Test(
        "a state that is not a regular file with one link, owned by this user, is refused",
        arguments: ["link", "hard", "pipe", "folder", "owner"])
    func unsafeFiles(kind: String) throws {
        try fail()
        let text = try tool.text(of: "list.state")
        let path = tool.directory.path("list.state")
        switch kind {
        case "link":
            try FileManager.default.moveItem(atPath: path, toPath: tool.directory.path("other"))
            #expect(unsafe symlink("other", path) == 0)
        case "hard": #expect(unsafe link(path, tool.directory.path("other")) == 0)
        case "pipe":
            #expect(unsafe unlink(path) == 0 && mkfifo(path, 0o600) == 0)
        case "folder":
            #expect(unsafe unlink(path) == 0)
            _ = try tool.directory.makeFolder("list.state")
        default:
            guard geteuid() == 0 else { try Test.cancel("needs root") }
            #expect(unsafe chown(path, 65534, 65534) == 0)
        }
        let result = try rotate("--continue")
        #expect(result.status == 73, "\(result)")
        #expect(opens("2.db", 1))
        if ["link", "hard"].contains(kind) { #expect(try tool.text(of: "other") == text) }
    }

    @Test("a state does not get the name of another file's journal, which SQLite would remove")
    func nameOfJournal() throws {
        let result = try rotate("--state", "1.db-journal")
        #expect(result.status == 73 && "\(result)".contains("Choose another name"), "\(result)")
        #expect(!tool.exists("1.db-journal") && opens("1.db", 1))
    }

    @Test(
        "an empty state, as a crash leaves it, is accepted only with --continue"
    )
    func emptyFile() throws {
        try tool.write("", to: "list.state")
        #expect(try rotate().status == 73)
        #expect(try tool.directory.bytes(of: "list.state").isEmpty && opens("1.db", 1))
        let result = try rotate("--continue")
        #expect(result.status == 0, "\(result)")
        #expect(opens("1.db", 2) && opens("2.db", 2))
        #expect(!tool.directory.fileNames().contains("list.state"))
    }

    @Test(
        "a file that is not the state of a batch is left unchanged",
        arguments: ["list", "1.db", "text", "old.key", "json", "orders"])
    func otherFiles(name: String) throws {
        try tool.write("precious\n", to: "text")
        try tool.write("{\"schema\":1}\n", to: "json")
        try tool.write("{\"id\":\"7\",\"command\":\"ship\",\"code\":0}\n", to: "orders")
        // A name that a careless implementation would use for its temporary file.
        try tool.write("mine\n", to: "\(name).new")
        let before = try tool.directory.bytes(of: name)
        let result = try rotate("--state", name, "--continue")
        #expect(result.status == 73 && result.errors.contains("is not the state of a batch"), "\(result)")
        #expect(try tool.directory.bytes(of: name) == before)
        #expect(opens("1.db", 1) && opens("2.db", 1))
        #expect(try rotate("--state", name).status == 73)
        #expect(try tool.text(of: "\(name).new") == "mine\n")
    }

    @Test("a torn last line is dropped, and its file is processed again")
    func tornLine() throws {
        try fail()
        let lines = try tool.text(of: "list.state").split(separator: "\n")
        try tool.write(
            lines.joined(separator: "\n") + "\n{\"schema\":1,\"command\":\"batch ro", to: "list.state")
        try FileManager.default.removeItem(atPath: tool.directory.path("2.db"))
        let inode = try FileStatus(tool.directory.path("list.state")).identity
        #expect(try rotate("--continue").status == 3)
        // The state is replaced as a whole: no line of another run is overwritten or truncated.
        #expect(try FileStatus(tool.directory.path("list.state")).identity != inode)
        let after = try tool.text(of: "list.state")
        #expect(after.split(separator: "\n").allSatisfy { $0.hasPrefix("{") && $0.hasSuffix("}") })
        #expect(after.contains("\"path\":\"1.db\",\"code\":0"))
    }

    @Test("nothing in the state depends on a key")
    func noOracle() throws {
        try fail()
        let first = try tool.text(of: "list.state")
        let other = try BatchStateTests()
        for name in ["1.db", "2.db"] {
            try FileManager.default.removeItem(atPath: other.tool.directory.path(name))
        }
        try other.tool.makeDatabase("1.db", key: "old.key", 7)
        try other.tool.makeDatabase("2.db", key: "old.key", 7)
        try other.fail()
        #expect(try other.tool.text(of: "list.state") == first)
    }

    @Test("the progress of a batch never decreases, and its total is the number of files", arguments: [1, 4])
    func progress(jobs: Int) throws {
        var names = ["1.db", "2.db"]
        for index in 3...30 {
            names.append("\(index).db")
            if index % 3 != 0 {
                try tool.directory.write(tool.directory.bytes(of: "1.db"), to: "\(index).db")
            }
        }
        try tool.write(names.joined(separator: "\n"), to: "list")
        let result = try rotate("--progress", "always", "--jobs", "\(jobs)")
        #expect(result.status == 3)
        let states = try result.objects.filter {
            $0["type"] as? String == "progress" && $0["path"] as? String == "batch"
        }
        for phase in ["trying keys", "batch rotate"] {
            let counts = states.filter { $0["phase"] as? String == phase }.compactMap {
                $0["completed"] as? Int
            }
            #expect(counts == counts.sorted() && !counts.isEmpty, "\(counts)")
        }
        #expect(states.allSatisfy { $0["total"] as? Int == 30 })
    }
}
