import Coffer
import CofferTestSupport
import Foundation
import Testing

@testable import CofferCLI

@Suite("Batches")
struct BatchTests {
    private let tool: Tool

    init() throws {
        tool = try Tool()
        try tool.writeKey("b.key", 0x43)
    }

    /// Makes databases and a manifest with one line for each, and a raw key for each database.
    private func makeFleet(_ count: Int) throws {
        var lines: [String] = ["# a fleet", ""]
        for index in 0..<count {
            try tool.makeDatabase("\(index).db", key: "\(index).key", UInt8(index + 100))
            lines.append(
                JSONObject([
                    "path": "\(index).db", "key-file": "\(index).key", "key-type": "raw",
                    "new-key-file": "b.key", "new-key-type": "raw",
                ]).text)
        }
        try tool.write(lines.joined(separator: "\n") + "\n", to: "fleet")
    }

    private func rotatedCount(_ count: Int) -> Int {
        (0..<count).count { index in
            (try? tool.shell("\(index).db", 0x43).run("SELECT text FROM t;")) == ["row 1"]
        }
    }

    @Test("48 of 50 files are rotated if one is locked and one has another key")
    func fleet() throws {
        try makeFleet(50)
        try tool.writeKey("7.key", 0x01)
        let queue = try tool.directory.makeQueue("23.db", .rawKeyed(123))
        let arguments = [
            "batch", "rotate", "--manifest", "fleet", "--json", "--jobs", "4", "--lock-timeout", "0",
            "--audit", "log",
        ]
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "BEGIN IMMEDIATE")
            let result = try tool.run(arguments)
            try db.execute(sql: "ROLLBACK")
            #expect(result.status == 3)
            #expect(try Schema.problems(result) == [])
            let objects = try result.objects
            #expect(objects.last?["failure_codes"] as? [String: Int] == ["75": 1, "77": 1])
            let failed = objects.filter { $0["type"] as? String == "error" }
            #expect(Set(failed.compactMap { $0["path"] as? String }) == ["7.db", "23.db"])
            #expect(
                objects.count { $0["type"] as? String == "result" && $0["changed"] as? Bool == true } == 48)
        }
        try queue.close()
        #expect(rotatedCount(50) == 48)
        #expect(try tool.run("audit", "verify", "log").status == 0)

        // After the repair, the batch completes, and no file is rotated twice.
        #expect(try tool.run(arguments).status == 73)
        try tool.writeKey("7.key", 107)
        let salts = try (0..<50).map { try tool.directory.bytes(of: "\($0).db").prefix(16) }
        let result = try tool.run(arguments + ["--continue"])
        #expect(result.status == 0, "\(result)")
        #expect(try result.objects.count { $0["skipped"] as? Bool == true } == 48)
        #expect(try result.objects.count { $0["changed"] as? Bool == true } == 2)
        #expect(rotatedCount(50) == 50)
        let after = try (0..<50).map { try tool.directory.bytes(of: "\($0).db").prefix(16) }
        #expect(zip(salts, after).count { $0 != $1 } == 2)
        #expect(!tool.exists("fleet.state"))
        #expect(try tool.run("audit", "verify", "log").status == 0)
    }

    @Test("a killed batch is continued, and no file is rotated twice")
    func killing() throws {
        let count = 20
        try makeFleet(count)
        let arguments = ["batch", "rotate", "--manifest", "fleet", "--json", "--audit", "log"]
        let run = try tool.start(arguments)
        while run.text(of: "output").split(separator: "\n").count < 6 { usleep(500) }
        run.send(SIGKILL)
        _ = run.wait()
        let result = try tool.run(arguments + ["--continue"])
        #expect(result.status == 0, "\(result)")
        #expect(rotatedCount(count) == count)
        #expect(try tool.run("audit", "verify", "log").status == 0)
        let changes = try tool.text(of: "log").split(separator: "\n").filter {
            $0.contains("\"changed\":true")
        }
        let paths = changes.compactMap { line in
            (try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])?["path"] as? String
        }
        #expect(paths.count == Set(paths).count)
        #expect(!tool.directory.fileNames().contains { $0.contains("rotate") || $0.hasSuffix(".state") })
    }

    @Test("a signal ends a batch between two files")
    func interruption() throws {
        try makeFleet(20)
        let run = try tool.start(["batch", "rotate", "--manifest", "fleet", "--json"])
        while run.text(of: "output").split(separator: "\n").count < 3 { usleep(500) }
        run.send(SIGINT)
        let result = run.wait()
        #expect(result.status == 130, "\(result)")
        #expect(try Schema.problems(result) == [])
        #expect(try tool.run("batch", "rotate", "--manifest", "fleet", "--continue").status == 0)
        #expect(rotatedCount(20) == 20)
    }

    @Test("each file is in one shard, wherever the shards run, and each shard has its own state")
    func shards() throws {
        let count = 12
        try makeFleet(count)
        let arguments = ["batch", "rotate", "--manifest", "fleet", "--json", "--audit", "log"]
        var paths: [String] = []
        for share in 1...3 {
            let result = try tool.run(arguments + ["--shard", "\(share)/3"])
            #expect(result.status == 0, "\(result)")
            #expect(try Schema.problems(result) == [])
            paths += try result.objects.filter { $0["changed"] as? Bool == true }.compactMap {
                $0["path"] as? String
            }
            #expect(rotatedCount(count) == paths.count)
        }
        #expect(paths.count == count && Set(paths).count == count)
        #expect(try tool.run("audit", "verify", "log").status == 0)

        let status = try tool.run("batch", "status", "--manifest", "fleet", "--shards", "3", "--json")
        #expect(status.status == 0, "\(status)")
        #expect(try Schema.problems(status) == [])

        // A shard that runs twice changes nothing.
        let again = try tool.run(arguments + ["--shard", "2/3", "--continue"])
        #expect(again.status == 0)
        #expect(try again.objects.allSatisfy { $0["changed"] as? Bool != true })
        #expect(try tool.run(arguments + ["--shard", "2/3"]).status == 73)
        #expect(try tool.run("batch", "status", "--manifest", "fleet").status == 1)
        #expect(
            try tool.run("batch", "status", "--manifest", "fleet", "--shards", "3", "--remove").status == 0)
        #expect(!tool.directory.fileNames().contains { $0.hasSuffix(".state") })

        // Neither the order of the lines nor other files in the manifest matter.
        let lines = try tool.text(of: "fleet").split(separator: "\n").filter { $0.hasPrefix("{") }
        try tool.write(lines.reversed().dropLast(4).joined(separator: "\n"), to: "other")
        for share in 1...3 {
            let plans = try ["fleet", "other"].map { manifest in
                let plan = try tool.run(
                    "batch", "verify", "--manifest", manifest, "--shard", "\(share)/3", "--json")
                return try Set(plan.objects.first?["files"] as? [String] ?? [])
            }
            #expect(plans[1].isSubset(of: plans[0]))
        }
        #expect(try tool.run("batch", "verify", "--manifest", "fleet", "--shard", "4/3").status == 64)
        for share in ["0/3", "1", "1/", "/2", "+1/2", "1/2/3", "a/b"] {
            #expect(
                try tool.run("batch", "verify", "--manifest", "fleet", "--shard", share).status == 64,
                "\(share)")
        }
    }

    @Test("a failed shard leaves its own state, and can be continued")
    func failedShard() throws {
        try makeFleet(8)
        for index in 0..<8 { try tool.writeKey("\(index).key", 0x01) }
        let arguments = ["batch", "rotate", "--manifest", "fleet", "--shard", "1/2"]
        #expect(try tool.run(arguments).status == 3)
        #expect(tool.exists("fleet.shard-1-of-2.state"))
        let status = try tool.run("batch", "status", "--manifest", "fleet", "--shards", "2", "--remove")
        #expect(status.status == 1)
        #expect(
            status.output.contains("failed (exit code 77)") && status.output.contains("not begun"),
            "\(status)")
        #expect(tool.exists("fleet.shard-1-of-2.state"))
        #expect(!tool.exists("fleet.state"))
        for index in 0..<8 { try tool.writeKey("\(index).key", UInt8(index + 100)) }
        #expect(try tool.run(arguments + ["--continue"]).status == 0)
        #expect((1..<8).contains(rotatedCount(8)))
    }

    @Test("no further file is begun after the first failure with --fail-fast", arguments: [true, false])
    func failFast(isAskedFor: Bool) throws {
        try makeFleet(10)
        try tool.writeKey("3.key", 0x01)
        let result = try tool.run(
            ["batch", "rotate", "--manifest", "fleet"] + (isAskedFor ? ["--fail-fast"] : []))
        #expect(result.status == 3, "\(result)")
        // The keys of all files are tried before the first file is changed.
        #expect(rotatedCount(10) == (isAskedFor ? 0 : 9))
        #expect(result.errors.contains("not begun") == isAskedFor)
        try tool.writeKey("3.key", 103)
        #expect(try tool.run("batch", "rotate", "--manifest", "fleet", "--continue").status == 0)
        #expect(rotatedCount(10) == 10)
    }

    @Test("a plain list takes the keys of the command line, also from the standard input")
    func plainList() throws {
        try tool.makeDatabase("a.db")
        try tool.makeDatabase("b c.db")
        try tool.write("# all of them\na.db\n\nb c.db\n", to: "list")
        let keys = ["--key-file", "a.key", "--key-type", "raw"]
        let result = try tool.run(["batch", "verify", "--manifest", "list"] + keys)
        #expect(result.status == 0, "\(result)")
        #expect(result.output.contains("b c.db: intact"))
        #expect(
            try tool.run(["batch", "verify", "--manifest", "-"] + keys, input: "a.db\nb c.db").status == 0)
        #expect(!tool.exists("list.state"))
        let plan = try tool.run(
            [
                "batch", "rotate", "--manifest", "list", "--dry-run", "--new-key-file", "b.key",
                "--new-key-type", "raw",
            ] + keys)
        #expect(plan.status == 0, "\(plan)")
        #expect(try tool.shell().run("SELECT count(*) FROM t;") == ["1"])
    }

    @Test(
        "a bad manifest is refused before anything is done",
        arguments: [
            "", "# nothing\n", "{\"path\": 3}", "{\"key-file\": \"a\"}",
            "{\"path\": \"a.db\", \"key\": \"secret\"}",
            "{\"path\": \"a.db\", \"key-file\": \"a\", \"key-env\": \"B\"}", "{\"path\": \"a.db\"",
            "a.db\na.db\n",
            "{\"path\": \"a.db\", \"key-file\": \"a\", \"key-type\": \"guess\"}",
            "{\"path\": \"a.db\", \"key-command\": \"echo 'open\"}",
        ])
    func badManifests(text: String) throws {
        try tool.makeDatabase()
        try tool.write(text, to: "list")
        let result = try tool.run(
            "batch", "rotate", "--manifest", "list", "--key-file", "a.key", "--new-key-file", "b.key")
        #expect(result.status == 78, "\(result)")
        #expect(!result.errors.contains("secret"))
        #expect(!tool.exists("list.state"))
    }
}
