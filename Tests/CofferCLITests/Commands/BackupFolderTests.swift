import Coffer
import CofferTestSupport
import Foundation
import Testing

@testable import CofferCLI

@Suite("Backups with dates")
struct BackupFolderTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]

    init() throws {
        tool = try Tool()
        try tool.makeDatabase(rows: 50)
        try tool.writeKey("b.key", 0x43)
        _ = try tool.directory.makeFolder("safe")
    }

    private func backUp(_ arguments: String...) throws -> Tool.Result {
        try tool.run(["backup", "a.db", "--into", "safe"] + arguments + key)
    }

    private func names() -> [String] {
        tool.directory.fileNames().filter { $0.hasPrefix("safe/") }.map { String($0.dropFirst(5)) }.sorted()
    }

    /// Creates backups of earlier days. Each is a copy of one backup, under the name that it would have had
    /// then.
    private func makeOld(daysAgo: [Int]) throws {
        #expect(try backUp().status == 0)
        let name = try #require(names().first)
        let bytes = try tool.directory.bytes(of: "safe/\(name)")
        let tail = try #require(name.components(separatedBy: "Z-").last)
        let today = Date()
        for days in daysAgo {
            let day = today.addingTimeInterval(-86400 * Double(days)).formatted(
                .iso8601.year().month().day().dateSeparator(.omitted))
            try tool.directory.write(bytes, to: "safe/a.db.\(day)T010203.004Z-\(tail)")
        }
    }

    @Test("a folder that another backup has created at the same time is used, and a file is not")
    func folderOfOtherBackup() throws {
        let new = tool.directory.path("new/")
        #expect(try BackupFolder.make(new))
        #expect(try !BackupFolder.make(new))
        #expect(throws: Failure.self) { try BackupFolder.make(tool.directory.path("a.key")) }
    }

    @Test(
        "no folder of backups gets the name of a file that belongs to a database",
        arguments: ["a.db.keys", "a.db-wal", "a.db-shm/", ".coffer-backups"])
    func folderOfDatabase(name: String) throws {
        try tool.write("a.db\n", to: "list")
        for command in [
            ["backup", "a.db"], ["backup", "a.db", "--dry-run"], ["batch", "backup", "--manifest", "list"],
        ] {
            let result = try tool.run(command + ["--into", name] + key)
            #expect(result.status == 64 && result.errors.contains("cannot be created"), "\(result)")
            #expect(!tool.exists(name))
        }
    }

    @Test("the second night works: names have the time in UTC and the salt, and nothing is overwritten")
    func naming() throws {
        let before = Date().addingTimeInterval(-1)
        for _ in 1...3 { #expect(try backUp().status == 0) }
        let files = names()
        #expect(files.count == 3)
        for name in files {
            let salt = try tool.directory.bytes(of: "safe/\(name)").prefix(4).map {
                String(format: "%02x", $0)
            }.joined()
            #expect(
                name.wholeMatch(
                    of: try Regex("a\\.db\\.\\d{8}T\\d{6}\\.\\d{3}Z-\(salt)-[0-9a-f]{8}\\.backup")) != nil,
                "\(name)")
            #expect(try tool.shell("safe/\(name)").run("SELECT count(*) FROM t;") == ["50"])
        }
        let backups = try DatabaseFile(path: tool.directory.path("a.db")).backups(
            in: tool.directory.path("safe"))
        #expect(backups.map { FileNames.name(of: $0.path) } == files)
        #expect(backups.allSatisfy { $0.date >= before && $0.date <= Date() })
        #expect(try tool.run(["backup", "a.db", "--into", "a.key"] + key).status == 64)
    }

    @Test(
        "a missing folder is made private, with a warning, if its parent exists and the backup succeeds",
        arguments: ["new", "new/"])
    func missingFolder(_ folder: String) throws {
        let arguments = ["backup", "a.db", "--into", folder, "--keep", "7d"]
        let plan = try tool.run(arguments + ["--dry-run"] + key)
        #expect(plan.status == 0 && plan.output.contains("\(folder): would be copied"), "\(plan)")
        #expect(plan.errors.contains("The folder '\(folder)' would be created"), "\(plan)")
        let wrong = try tool.run(arguments + ["--key", "file:b.key"])
        #expect(wrong.status == 77 && !tool.exists("new"), "\(wrong)")
        let result = try tool.run(arguments + ["--quiet"] + key)
        #expect(
            result.status == 0 && result.errors.contains("warning: The folder '\(folder)' was created"),
            "\(result)")
        let attributes = try FileManager.default.attributesOfItem(atPath: tool.directory.path("new"))
        #expect((attributes[.posixPermissions] as? Int) == 0o700)
        let again = try tool.run(arguments + key)
        #expect(again.status == 0 && !again.errors.contains("was created"), "\(again)")
        #expect(again.output.contains("1 backup kept, 1 removed"), "\(again)")
        let above = try tool.run(["backup", "a.db", "--into", "none/safe"] + key)
        #expect(above.status == 66 && above.errors.contains("mkdir -p none/safe"), "\(above)")
        #expect(!tool.exists("none"))
    }

    @Test(
        "retention keeps the newest backup of each period and removes others once the new one exists"
    )
    func retention() throws {
        try makeOld(daysAgo: Array(1...40))
        let plan = try backUp("--keep", "7d,2w", "--dry-run")
        #expect(plan.status == 0 && names().count == 41, "\(plan)")
        let result = try backUp("--keep", "7d,2w", "--json")
        #expect(result.status == 0, "\(result)")
        #expect(try Schema.problems(result) == [])
        // Seven days including today, and one more week unless the seven days cover both weeks.
        #expect((7...8).contains(names().count), "\(names())")
        let removed = try result.objects.compactMap { $0["removed"] as? [String] }.flatMap { $0 }
        // In addition, the older one of today's backups was removed.
        #expect(removed.count == 42 - names().count)
        #expect(removed.allSatisfy { plan.output.contains($0) || !$0.contains("T010203.004Z") })
        #expect(try backUp("--keep", "7d,2w", "--audit", "log").status == 0)
        // One record at the beginning, and one at the end.
        let records = try tool.text(of: "log").components(separatedBy: "\n").filter {
            $0.contains("safe/a.db.")
        }
        // The record of the new backup also contains its name.
        #expect(records.count == 3 && records.count { $0.contains("\"destination\"") } == 1)
    }

    @Test(
        "only valid backups of the database are removed: links, pipes, other files and future ones stay"
    )
    func foreignFiles() throws {
        try makeOld(daysAgo: [200])
        let old = try #require(names().first)
        let salt = try #require(old.components(separatedBy: "Z-").last)
        // A file of the user, a backup of another database, and names that are almost backup names or only
        // begin like one.
        let foreign = [
            "a.db", "b.db.20200101T000000.000Z-\(salt)", "a.db.20200230T000000.000Z-\(salt)",
            "a.db.20200101T000000.000Z-\(salt).old",
            "a.db.20200101T000000Z-\(salt)", "a.db.2O200101T000000.000Z-\(salt)",
        ]
        for name in foreign {
            try tool.directory.write(try tool.directory.bytes(of: "a.db"), to: "safe/\(name)")
        }
        func path(_ name: String) -> String { tool.directory.path("safe/\(name)") }
        // Valid names with invalid content.
        try tool.directory.write(Array("my notes".utf8), to: "safe/a.db.20200102T000000.000Z-\(salt)")
        try FileManager.default.createSymbolicLink(
            atPath: path("a.db.20200103T000000.000Z-\(salt)"),
            withDestinationPath: tool.directory.path("a.db"))
        try #require(unsafe mkfifo(path("a.db.20200104T000000.000Z-\(salt)"), 0o600) == 0)
        try FileManager.default.createDirectory(
            atPath: path("a.db.20200105T000000.000Z-\(salt)"), withIntermediateDirectories: false)
        try tool.directory.write(
            try tool.directory.bytes(of: "safe/\(old)"), to: "safe/a.db.20200106T000000.000Z-\(salt)")
        try FileManager.default.linkItem(
            atPath: path("a.db.20200106T000000.000Z-\(salt)"), toPath: tool.directory.path("other-name"))
        try tool.directory.write(
            try tool.directory.bytes(of: "safe/\(old)"), to: "safe/a.db.20200107T000000.000Z-\(salt)")
        try tool.write("log", to: "safe/a.db.20200107T000000.000Z-\(salt)-wal")
        let future = "a.db.29990101T000000.000Z-\(salt)"
        try tool.directory.write(try tool.directory.bytes(of: "safe/\(old)"), to: "safe/\(future)")
        let before = Set(names())
        let result = try backUp("--keep", "1d", "--json")
        #expect(result.status == 0, "\(result)")
        #expect(try Schema.problems(result) == [])
        #expect(
            before.subtracting(names()).count == 2,
            "the one of 200 days ago and the one before the new one: \(result)")
        #expect(!names().contains(old) && names().contains(future))
        let last = try #require(try result.objects.last { $0["removed"] != nil })
        #expect((last["unproved"] as? [String])?.count == 6)
        #expect(last["future"] as? [String] == ["safe/\(future)"])
        for name in ["my notes", "regular file", "hard links", "-wal"] where name != "my notes" {
            #expect(result.errors.contains(name), "\(result.errors)")
        }
    }

    @Test(
        "retention spares the backups of a database with the same name in another directory"
    )
    func otherDatabase() throws {
        _ = try tool.directory.makeFolder("other")
        try tool.makeDatabase("other/a.db")
        #expect(try tool.run(["backup", "other/a.db", "--into", "safe"] + key).status == 0)
        let other = try #require(names().first)
        for _ in 1...2 { #expect(try backUp("--keep", "1h").status == 0) }
        #expect(names().count == 2 && names().contains(other), "\(names())")
        // The spelling of the path does not matter.
        let path = ["--into", "safe", "--keep", "1h"] + key
        #expect(try tool.run(["backup", tool.directory.path("safe/../a.db")] + path).status == 0)
        #expect(names().count == 2 && names().contains(other), "\(names())")
    }

    @Test("an empty file or a folder with the name of a backup does not count in the retention")
    func noPlace() throws {
        try makeOld(daysAgo: [3])
        let old = try #require(names().first)
        let tail = try #require(old.components(separatedBy: "Z-").last)
        let day = old.prefix("a.db.20260101".count)
        try tool.directory.write([], to: "safe/\(day)T020000.000Z-\(tail)")
        _ = try tool.directory.makeFolder("safe/\(day)T030000.000Z-\(tail)")
        let result = try backUp("--keep", "7d")
        #expect(result.status == 0 && names().contains(old), "\(result)")
        #expect(result.errors.contains("T020000") && result.errors.contains("T030000"), "\(result)")
    }

    @Test("a copy with another salt in its name displaces no backup, and is removed with the old ones")
    func copyUnderOtherName() throws {
        try makeOld(daysAgo: [3])
        let old = try #require(names().first)
        let place = try #require(old.split(separator: "-").last)
        let copy = "\(old.prefix("a.db.20260101".count))T020000.000Z-00000000-\(place)"
        try tool.directory.write(try tool.directory.bytes(of: "safe/\(old)"), to: "safe/\(copy)")
        let result = try backUp("--keep", "7d")
        #expect(result.status == 0 && result.errors.contains("salt does not match its name"), "\(result)")
        #expect(names().contains(old) && names().contains(copy), "\(names())")
        #expect(try backUp("--keep", "1d").status == 0)
        #expect(names().count == 1, "\(names())")
    }

    @Test("an old backup that another process reads stays for now, and the new one is made")
    func readBackup() throws {
        try makeOld(daysAgo: [3])
        let old = try #require(names().first)
        let command =
            "exec 3<'safe/\(old)'; '\(Tool.program)' backup a.db --into safe --keep 1h --key-file a.key --key-type raw; exit $?"
        let result = try tool.run(["-c", command], program: "/bin/sh")
        #expect(
            result.status == 0 && names().contains(old) && result.errors.contains("has it open"), "\(result)")
        // A file with the name of its keyring that is not a keyring stays when the backup is removed.
        try tool.write("my notes", to: "safe/\(old).keys")
        #expect(try backUp("--keep", "1h").status == 0)
        #expect(names().count == 2 && names().contains("\(old).keys") && !names().contains(old), "\(names())")
    }

    @Test(
        "retention recognizes backups by salt, or by key if the backups themselves were rotated")
    func rotatedKeys() throws {
        try makeOld(daysAgo: [30, 40])
        let old = Array(names().prefix(2))
        let rotation = [
            "--key-file", "a.key", "--key-type", "raw", "--new-key-file", "b.key", "--new-key-type", "raw",
        ]
        #expect(try tool.run(["rotate", "a.db"] + rotation).status == 0)
        #expect(try tool.run(["rotate", "safe/\(old[0])"] + rotation).status == 0)
        let arguments = [
            "backup", "a.db", "--into", "safe", "--keep", "1d", "--key-file", "b.key", "--key-type", "raw",
        ]
        let result = try tool.run(arguments)
        #expect(result.status == 0 && names().count == 1, "\(result)")
        #expect(try tool.shell("safe/\(names()[0])", 0x43).run("SELECT count(*) FROM t;") == ["50"])
    }

    @Test("nothing is removed where others may rename files, and no backup is made there with --keep")
    func sharedFolder() throws {
        try makeOld(daysAgo: [30])
        let before = names()
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o777], ofItemAtPath: tool.directory.path("safe"))
        let result = try backUp("--keep", "1d")
        #expect(result.status == 73 && names() == before, "\(result)")
        #expect(try backUp().status == 0)
    }

    @Test("after the clock was set back, neither the new backup nor later ones are removed")
    func clock() throws {
        try makeOld(daysAgo: [-1, -2])
        let before = Set(names())
        let result = try backUp("--keep", "1h")
        #expect(result.status == 0 && result.errors.contains("future"), "\(result)")
        let after = Set(names())
        // The newer one of the two current backups stays.
        #expect(before.subtracting(after).count == 1 && after.count == 3)
    }

    @Test("after a clock jump, the newest backup before each gap is kept, and the gap is reported")
    func clockAhead() throws {
        try makeOld(daysAgo: [3000, 3001, 2000, 2001])
        let old = names().filter { $0.contains("T010203.004Z") }
        for arguments in [["--dry-run"], [], []] {
            let result = try tool.run(
                ["backup", "a.db", "--into", "safe", "--keep", "1h"] + arguments + key)
            #expect(result.status == 0, "\(result)")
            let lines = result.errors.split(separator: "\n").filter { $0.contains("more than two years") }
            #expect(lines.count == 2 && lines[0].contains(old[1]) && lines[1].contains(old[3]), "\(result)")
        }
        #expect(names().count == 3 && names().starts(with: [old[1], old[3]]), "\(names())")
    }

    @Test(
        "an interrupted backup keeps the old ones, and the next run removes its leftovers",
        arguments: ["copied", "renamed"])
    func crash(_ point: String) throws {
        try makeOld(daysAgo: [30])
        let before = Set(names())
        let arguments = ["backup", "a.db", "--into", "safe", "--keep", "1d"] + key
        #expect(try tool.run(arguments, environment: ["COFFER_FAIL_POINT": point]).status == -SIGKILL)
        #expect(before.isSubset(of: names()) && names().count > before.count)
        #expect(try tool.run(arguments).status == 0)
        #expect(names().count == 1 && names()[0].hasSuffix(".backup"), "\(names())")
    }

    @Test("invalid retention options are refused")
    func wrongNumbers() throws {
        for text in ["", "7", "d", "0d", "7d,7d", "7x", "-1d", "+7d", "7d,", "7 d", "99999d"] {
            #expect(try backUp("--keep=\(text)").status == 64, "\(text)")
        }
        #expect(try tool.run(["backup", "a.db", "b.db", "--keep", "7d"] + key).status == 64)
        #expect(try tool.run(["backup", "a.db", "b.db", "--into", "safe"] + key).status == 64)
        #expect(try tool.run(["backup", "a.db"] + key).status == 64)
        #expect(names().isEmpty)
    }

    @Test("retention handles a thousand backups in one run")
    func many() throws {
        try makeOld(daysAgo: Array(1...1000))
        let result = try backUp("--keep", "24h,30d,12w,24m,5y", "--quiet")
        #expect(result.status == 0 && result.output.isEmpty, "\(result)")
        #expect((50...75).contains(names().count), "\(names().count)")
    }
}

@Suite("Backups to the standard output")
struct BackupStreamTests {
    @Test(
        "a backup goes through a pipe, under the same or another key, and leaves no file",
        arguments: [false, true])
    func pipe(_ hasOtherKey: Bool) throws {
        let tool = try Tool()
        try tool.makeDatabase(rows: 5000)
        try tool.writeKey("b.key", 0x43)
        let folder = try tool.directory.makeFolder("tmp")
        let other = hasOtherKey ? "--new-key-file b.key --new-key-type raw" : ""
        try tool.write(
            "\"$1\" backup a.db - --key-file a.key --key-type raw \(other) | cat > copy.db; echo \"${PIPESTATUS[0]}\"",
            to: "script")
        let bash = try #require(ChildProcess.find("bash"))
        let result = try tool.run(["script", Tool.program], program: bash, environment: ["TMPDIR": folder])
        #expect(result.output == "0\n", "\(result)")
        #expect(
            try tool.shell("copy.db", hasOtherKey ? 0x43 : 0x42).run("SELECT count(*) FROM t;") == ["5000"])
        #expect(tool.directory.fileNames().filter { $0.hasPrefix("tmp/") } == [])
        try tool.write(
            "\"$1\" backup a.db - --key-file a.key --key-type raw | head -c 5000 > part.db; echo \"${PIPESTATUS[0]}\"",
            to: "script")
        let cut = try tool.run(["script", Tool.program], program: bash, environment: ["TMPDIR": folder])
        #expect(cut.output == "74\n", "\(cut)")
        #expect(try tool.run("verify", "part.db", "--key-file", "a.key", "--key-type", "raw").status == 65)
    }

    @Test("a terminal, --json and a damaged database are refused")
    func refusals() throws {
        let tool = try Tool()
        try tool.makeDatabase(rows: 5000)
        let arguments = ["backup", "a.db", "-", "--key-file", "a.key", "--key-type", "raw"]
        let terminal = try PseudoTerminal(Tool.program, arguments, folder: tool.directory.path)
        try terminal.expect("a terminal could treat it as commands")
        #expect(try terminal.end() == 64)
        #expect(try tool.run(arguments + ["--json"]).status == 64)
        var bytes = try tool.directory.bytes(of: "a.db")
        bytes[3 * 4096 + 100] ^= 1
        try tool.directory.write(bytes, to: "a.db")
        let result = try tool.run(arguments)
        #expect(result.status == 65 && result.output.isEmpty, "\(result)")
    }
}
