import CofferTestSupport
import Foundation
import Glibc
import Testing

@testable import CofferCLI

@Suite("Metrics and health")
struct MetricsTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]

    init() throws {
        tool = try Tool()
        try tool.makeDatabase("a.db")
        _ = try tool.directory.makeFolder("m")
    }

    /// Parses the Prometheus text format. Returns the samples by name and labels, and fails for anything that
    /// a strict parser would reject.
    private func samples(_ text: String) throws -> [String: Double] {
        var result: [String: Double] = [:]
        var (name, type) = ("", "")
        var seen: Set<String> = []
        #expect(text.hasSuffix("\n") && !text.hasSuffix("\n\n"))
        for line in text.dropLast().split(separator: "\n", omittingEmptySubsequences: false) {
            if let match = line.wholeMatch(of: /# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) ([^\\]+)/) {
                name = String(match.1)
                type = ""
                #expect(seen.insert(name).inserted, "the samples of \(name) do not stand together")
            } else if let match = line.wholeMatch(of: /# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge)/) {
                type = String(match.2)
                #expect(match.1 == name && (type == "counter") == name.hasSuffix("_total"), "\(line)")
            } else if !line.hasPrefix("# ") || line.hasPrefix("# HELP") || line.hasPrefix("# TYPE") {
                let label = /[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"/
                let match = try #require(
                    line.wholeMatch(
                        of: /([a-zA-Z_:][a-zA-Z0-9_:]*)(\{.*\}) ([0-9]+(?:\.[0-9]+)?(?:e[+-][0-9]+)?)/),
                    "\(line)")
                #expect(match.1 == name && !type.isEmpty, "a sample without HELP and TYPE: \(line)")
                #expect(match.2.replacing(label, with: "L") == "{L,L}", "\(line)")
                #expect(
                    result.updateValue(try #require(Double(match.3)), forKey: String(match.1 + match.2))
                        == nil, "\(line)")
            }
        }
        return result
    }

    private func sample(_ name: String, _ work: String, _ target: String) throws -> Double? {
        let path =
            target.hasPrefix("=")
            ? String(target.dropFirst()) : FileNames.canonical(tool.directory.path(target))
        return try samples(tool.text(of: "m/c.prom"))["coffer_\(name){work=\"\(work)\",target=\"\(path)\"}"]
    }

    private func mode(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: tool.directory.path(name))[.posixPermissions] as? Int
    }

    @Test(
        "a run records its result per command and target, and a failure keeps the last success time"
    )
    func runs() throws {
        try tool.makeDatabase("b.db")
        let began = Double(Int(Date().timeIntervalSince1970))
        func run(_ arguments: String..., code: Int32 = 0) throws {
            let result = try tool.run(arguments + ["--metrics", "m/c.prom", "--quiet"] + key)
            #expect(result.status == code, "\(result)")
        }
        try run("verify", "a.db", "b.db")
        try run("backup", "a.db", "copy.db")
        let before = try tool.text(of: "m/c.prom")
        // A dry run writes no metrics.
        try run("backup", "a.db", "copy2.db", "--dry-run")
        #expect(try tool.text(of: "m/c.prom") == before)
        let success = try #require(try sample("last_success_timestamp_seconds", "verify", "b.db"))
        #expect(success >= began && success <= Date().timeIntervalSince1970)
        #expect(try sample("last_success_timestamp_seconds", "backup", "a.db") != nil)
        #expect(try sample("last_run_size_bytes", "verify", "a.db") == 8192)

        var bytes = try tool.directory.bytes(of: "b.db")
        bytes[4200] ^= 1
        try tool.directory.write(bytes, to: "b.db")
        try run("verify", "a.db", "b.db", code: 3)
        #expect(try sample("last_run_exit_code", "verify", "a.db") == 0)
        #expect(try sample("last_run_exit_code", "verify", "b.db") == 65)
        #expect(try sample("last_run_failed_files", "verify", "b.db") == 1)
        #expect(try sample("last_success_timestamp_seconds", "verify", "b.db") == success)
        #expect(try sample("runs_total", "verify", "b.db") == 2)
        #expect(try sample("failed_runs_total", "verify", "b.db") == 1)
        // The wrong key is detected before any work is done.
        try tool.writeKey("b.key", 0x43)
        try run("rotate", "a.db", "--new-key-file", "none.key", "--new-key-type", "raw", code: 66)
        #expect(try sample("last_run_exit_code", "rotate", "a.db") == 66)
        #expect(try sample("last_success_timestamp_seconds", "rotate", "a.db") == nil)
        try run("rotate", "a.db", "--new-key-file", "b.key", "--new-key-type", "raw")
        #expect(try sample("last_success_timestamp_seconds", "rotate", "a.db") != nil)
        #expect(try sample("failed_runs_total", "rotate", "a.db") == 1)
        #expect(try mode("m/c.prom") == 0o644)
        #expect(tool.directory.fileNames().filter { $0.hasPrefix("m/") } == ["m/c.prom"])
    }

    @Test("a target does not depend on how a path is typed, and continues one that was named with links")
    func spellings() throws {
        #expect(unsafe symlink(".", tool.directory.path("link")) == 0)
        func verify(_ name: String) throws {
            #expect(try tool.run(["verify", name, "--metrics", "m/c.prom"] + key).status == 0)
        }
        try verify("a.db")
        // As earlier versions named it.
        let text = try tool.text(of: "m/c.prom")
        let old = text.replacing(tool.directory.path("a.db"), with: tool.directory.path("link/a.db"))
        #expect(old != text)
        try tool.write(old, to: "m/c.prom")
        try verify("link/link/a.db")
        #expect(try sample("runs_total", "verify", "a.db") == 2)
        #expect(try samples(tool.text(of: "m/c.prom")).count == samples(text).count)
        for name in ["a.db", "link/a.db", tool.directory.path("a.db")] {
            let health = try tool.run(
                "health", "m/c.prom", "--target", name, "--verified-within", "1h", "--quiet")
            #expect(health.status == 0, "\(health)")
        }
        #expect(try tool.run("health", "m/c.prom", "--target", "link/b.db").status == 1)
    }

    @Test("a batch is one target, a share of it another one, and any name can be given")
    func batches() throws {
        try tool.write("a.db\nnone.db\n", to: "list")
        let common = ["--quiet", "--metrics", "m/c.prom"] + key
        #expect(try tool.run(["batch", "verify", "--manifest", "list"] + common).status == 3)
        #expect(try sample("last_run_files", "verify", "list") == 2)
        #expect(try sample("last_run_failed_files", "verify", "list") == 1)
        #expect(try sample("last_success_timestamp_seconds", "verify", "list") == nil)
        let name = "a \"fleet\" of \\ and ü\n"
        let named = ["batch", "backup", "--manifest", "-", "--into", "backup", "--metrics-target", name]
        #expect(try tool.run(named + common, input: "a.db\n").status == 0)
        #expect(try sample("last_run_files", "backup", "=a \\\"fleet\\\" of \\\\ and ü\\n") == 1)
        #expect(
            try tool.run(["batch", "verify", "--manifest", "list", "--shard", "1/1"] + common).status == 3)
        #expect(try sample("last_run_files", "verify", "list.shard-1-of-1") == 2)
        #expect(try tool.run(["verify", "a.db", "--metrics-target", "x"] + key).status == 64)
    }

    @Test(
        "the work is done, but a file that is not a metrics file is left unchanged",
        arguments: ["link", "hard link", "a.db", "garbage", "none/c"])
    func hostileFiles(kind: String) throws {
        let manager = FileManager.default
        try tool.write("", to: "other")
        var name = kind
        switch kind {
        case "link":
            try manager.createSymbolicLink(atPath: tool.directory.path("link"), withDestinationPath: "other")
        case "hard link":
            name = "hard"
            try manager.linkItem(atPath: tool.directory.path("other"), toPath: tool.directory.path(name))
        case "garbage":
            try tool.write("# Written by coffer, and replaced as a whole at each run.\nup 1\n", to: name)
        default: break
        }
        let before = try? tool.directory.bytes(of: name)
        let result = try tool.run(["verify", "a.db", "--metrics", name, "--json"] + key)
        #expect(result.status == 73 && result.output.contains("\"intact\":true"), "\(result)")
        #expect(try Schema.problems(result) == [])
        #expect((try? tool.directory.bytes(of: name)) == before)
        #expect(!tool.directory.fileNames().contains { $0.hasSuffix(".tmp") })
    }

    @Test(
        "nothing is done if the name of the metrics file belongs to SQLite or Coffer",
        arguments: ["a.db-wal", "m/.coffer-x", "a.db.keys"])
    func namesOfOthers(name: String) throws {
        let names = tool.directory.fileNames()
        let result = try tool.run(["verify", "a.db", "--metrics", name] + key)
        #expect(result.status == 64 && result.errors.contains("Choose another name"), "\(result)")
        #expect(tool.directory.fileNames() == names)
    }

    @Test("a full disk and a locked folder are reported, and the metrics file is unchanged")
    func refusals() throws {
        let arguments = ["verify", "a.db", "--quiet", "--metrics", "m/c.prom", "--lock-timeout", "0"] + key
        #expect(try tool.run(arguments).status == 0)
        let before = try tool.text(of: "m/c.prom")
        let full = try tool.run(
            ["-c", "ulimit -f 1; exec \"$0\" \"$@\"", Tool.program] + arguments, program: "/bin/sh")
        #expect(full.status == 74 && full.errors.contains("cannot be written"), "\(full)")
        let folder = unsafe open(tool.directory.path("m"), O_RDONLY | O_DIRECTORY)
        #expect(flock(folder, LOCK_EX | LOCK_NB) == 0)
        let locked = try tool.run(arguments)
        #expect(locked.status == 75, "\(locked)")
        close(folder)
        #expect(try tool.text(of: "m/c.prom") == before)
        // The temporary file of a killed run is not an obstacle.
        try tool.write("half", to: "m/.coffer-metrics-c.prom.tmp", mode: 0o400)
        // The failure of the work takes precedence over the failure to write metrics.
        #expect(try tool.run(["verify", "none.db", "--metrics", "a.db"] + key).status == 66)
        #expect(try tool.run(arguments).status == 0)
        #expect(tool.directory.fileNames().filter { $0.hasPrefix("m/") } == ["m/c.prom"])
        #expect(try tool.run(["verify", "a.db", "--metrics", "-"] + key).status == 64)
        if geteuid() == 0 {
            unsafe chown(tool.directory.path("m/c.prom"), 1000, 1000)
            #expect(try tool.run(arguments).status == 73)
        }
    }

    @Test("concurrent runs all record their samples")
    func together() throws {
        let names = (1...6).map { "t\($0)" }
        let running = try names.map { name in
            try tool.start(
                ["verify", "a.db", "--quiet", "--metrics", "m/c.prom", "--metrics-target", name] + key)
        }
        for run in running { #expect(run.wait().status == 0) }
        for name in names { #expect(try sample("runs_total", "verify", "=\(name)") == 1) }
    }

    @Test("metrics text round-trips, and any other text is rejected")
    func reading() throws {
        var metrics = RunMetrics()
        let run = RunMetrics.Run(
            status: .badData, end: 1_700_000_000, seconds: 0.00012, files: 3, failedFiles: 1, bytes: 1 << 40)
        // Strings that compare equal but have different bytes are different names.
        for target in ["/a b", "\"\\\n\\n", "e\u{301}", "\u{e9}", "\r\n", "", "}"] {
            metrics.add(run, of: .init(work: .backup, target: target))
        }
        metrics.add(
            .init(status: .done, end: 5, seconds: 1e9, files: 1, failedFiles: 0, bytes: 0),
            of: .init(work: .verify, target: "x"))
        let text = metrics.text
        // Without the combining accent, which makes two dictionary keys equal, and without the carriage
        // return, which Swift joins with the line feed into one character.
        _ = try samples(
            String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 != "\u{301}" && $0 != "\r" })))
        let again = try #require(RunMetrics(Array(text.utf8)))
        #expect(again.samples == metrics.samples && again.samples.count == 8 && again.text == text)
        #expect(RunMetrics([])?.samples.isEmpty == true)
        let line = "coffer_runs_total{work=\"verify\",target=\"x\"} 1\n"
        #expect(text.contains(line))
        for wrong in [
            String(text.dropLast()), text + "\n", text + line, text.replacing(line, with: ""),
            text.replacing(line, with: "up 1\n"),
            text.replacing("\"x\"} 1\n", with: "\"x\"} -1\n"),
            text.replacing("\"x\"} 1\n", with: "\"x\"} nan\n"),
            text.replacing("target=\"x\"", with: "target=\"\\x\""),
            text.replacing("work=\"verify\"", with: "work=\"vacuum\""), "\n", "x",
        ] { #expect(RunMetrics(Array(wrong.utf8)) == nil, "\(wrong)") }
        #expect(RunMetrics(Array(text.utf8) + [0xff, 0x0a]) == nil)
    }

    @Test("health reports outdated, failed, future and missing runs")
    func health() throws {
        let now = RunMetrics.now
        func add(
            _ work: RunMetrics.Work, _ target: String, _ metrics: inout RunMetrics, hours: Int64,
            _ status: ToolStatus = .done
        ) {
            let run = RunMetrics.Run(
                status: status, end: now - hours * 3600, seconds: 1, files: 1, failedFiles: 0, bytes: 1)
            metrics.add(run, of: .init(work: work, target: target))
        }
        var good = RunMetrics()
        add(.verify, "/a", &good, hours: 5)
        add(.backup, "/a", &good, hours: 50)
        var bad = good
        add(.verify, "/b", &bad, hours: 9)
        add(.verify, "/b", &bad, hours: 1, .badData)
        var early = good
        add(.verify, "/c", &early, hours: -2)
        try tool.write(good.text, to: "good")
        try tool.write(bad.text, to: "bad")
        try tool.write(early.text, to: "early")
        try tool.write("", to: "empty")
        try tool.write("x", to: "garbage")
        // Larger than an integer can represent.
        try tool.write(
            good.text.replacing(#/(_seconds|_files|_bytes)(\{[^}]*\}) .*/#) {
                "\($0.output.1)\($0.output.2) 1e300"
            }, to: "huge")
        let answers: [(arguments: [String], code: Int32, words: String)] = [
            (
                ["good", "--verified-within", "6h", "--backed-up-within", "3d"], 0,
                "verify /a: the last run succeeded"
            ),
            (
                ["good", "--backed-up-within", "2d"], 1,
                "backup /a: the last good run was 2 days ago, more than 2d"
            ),
            (["good", "--rotated-within", "52w"], 1, "rotate: no run is recorded"),
            (["good", "--target", "/z"], 1, "/z: no run is recorded"),
            (["bad"], 1, "verify /b: the last run failed (exit code 65); the last success was 9 hours ago"),
            (["bad", "--target", "/a"], 0, "good  verify /a"),
            (["early"], 1, "in the future"), (["empty"], 1, "no run is recorded"), (["garbage"], 65, ""),
            (["huge"], 65, ""),
            (["none"], 66, ""),
            (["good", "--verified-within", "0h"], 64, ""), (["good", "--verified-within", "+1h"], 64, ""),
        ]
        for (arguments, code, words) in answers {
            let result = try tool.run(["health"] + arguments)
            #expect(
                result.status == code && (words.isEmpty || result.output.contains(words)),
                "\(arguments) \(result)")
        }
        let json = try tool.run("health", "bad", "--json")
        #expect(json.status == 1, "\(json)")
        #expect(try Schema.problems(json) == [])
        #expect(try tool.run("health", "bad", "--quiet").output.split(separator: "\n").count == 1)
    }
}
