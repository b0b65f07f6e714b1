import Coffer
import CofferTestSupport
import Foundation
import Glibc
import Testing

@testable import CofferCLI

@Suite("Lists of backups, and the latest one")
struct BackupListTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]

    /// Makes `a.db` with one row, and the empty folder `safe`.
    init() throws {
        tool = try Tool()
        try tool.makeDatabase()
        _ = try tool.directory.makeFolder("safe")
    }

    /// Makes a backup of `a.db` with a number of rows, under the name that it would have had at a time.
    ///
    /// - Parameter time: a time in the form of names.
    @discardableResult
    private func makeBackup(at time: String, rows: Int = 1) throws -> String {
        let before = Set(names())
        _ = try tool.shell().run(
            """
            DELETE FROM t;
            WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
            INSERT INTO t (text) SELECT 'row' FROM n;
            """)
        #expect(try tool.run(["backup", "a.db", "--into", "safe"] + key).status == 0)
        let made = try #require(names().first { !before.contains($0) })
        let tail = try #require(made.components(separatedBy: "Z-").last)
        let name = "a.db.\(time)-\(tail)"
        try FileManager.default.moveItem(
            atPath: tool.directory.path("safe/\(made)"), toPath: tool.directory.path("safe/\(name)"))
        return name
    }

    private func names() -> [String] {
        tool.directory.fileNames().filter { $0.hasPrefix("safe/") }.map { String($0.dropFirst(5)) }
    }

    private func list(_ arguments: String...) throws -> Tool.Result {
        try tool.run(["backup", "--list", "safe"] + arguments)
    }

    private func restore(_ arguments: String..., to name: String = "a.db") throws -> Tool.Result {
        try tool.run(["restore", "safe", name] + arguments + key)
    }

    private func rowCount(_ name: String = "a.db") throws -> [String] {
        try tool.shell(name).run("SELECT count(*) FROM t;")
    }

    // MARK: Lists

    @Test("a list needs no key, and shows the database, the time, the size and the keyring of each backup")
    func listing() throws {
        let empty = try list()
        #expect(empty.status == 0 && empty.output.isEmpty && empty.errors.contains("no dated backups"))
        let new = try makeBackup(at: "20240102T030405.006Z")
        let old = try makeBackup(at: "20231231T235959.999Z")
        try tool.write("", to: "safe/\(new).keys")
        try tool.write("notes", to: "safe/notes")
        _ = try tool.directory.makeFolder("safe/\(old.replacing("2023", with: "2022"))")
        let result = try list()
        #expect(result.status == 0 && result.errors.isEmpty, "\(result)")
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines[0].hasPrefix("a.db  2023-12-31 23:59:59 UTC  ") && lines[0].hasSuffix(old), "\(result)")
        #expect(lines[0].contains("  no keyring  "))
        #expect(lines[1].contains("  2024-01-02 03:04:05 UTC  ") && lines[1].contains("  keyring "))
        let json = try list("--json")
        #expect(try Schema.problems(json) == [])
        let objects = try json.objects.filter { $0["type"] as? String == "result" }
        #expect(objects.map { $0["path"] as? String } == ["safe/\(old)", "safe/\(new)"])
        #expect(
            objects.map { $0["time"] as? String } == ["2023-12-31T23:59:59.999Z", "2024-01-02T03:04:05.006Z"])
        #expect(objects.map { $0["keyring"] as? String } == [nil, "safe/\(new).keys"])
        let size = try tool.directory.bytes(of: "safe/\(old)").count
        #expect(objects[0]["size"] as? Int == size && objects[0]["database"] as? String == "a.db")
    }

    @Test("databases of the same name in different folders are distinguished, and one can be listed alone")
    func otherDatabase() throws {
        let own = try makeBackup(at: "20240102T030405.006Z")
        _ = try tool.directory.makeFolder("other")
        try tool.makeDatabase("other/a.db")
        #expect(try tool.run(["backup", "other/a.db", "--into", "safe"] + key).status == 0)
        let all = try list()
        #expect(all.output.split(separator: "\n").count == 2)
        let place = try #require(own.split(separator: "-").last?.prefix(8))
        #expect(all.output.contains("a.db (\(place))  2024-01-02"), "\(all)")
        let one = try list("a.db")
        #expect(one.output.hasPrefix("a.db  2024") && one.output.split(separator: "\n").count == 1, "\(one)")
    }

    @Test(
        "--list cannot be combined with a key or another task, and needs a folder",
        arguments: [
            ["--key-file", "a.key"], ["a.db", "b.db"], ["--into", "safe"], ["--keep", "7d"], ["--dry-run"],
            ["--list", "a.key"], ["--list", "none"],
        ])
    func refusals(_ arguments: [String]) throws {
        let status: Int32 = arguments.last == "none" ? 66 : 64
        #expect(try tool.run(["backup", "--list", "safe"] + arguments).status == status)
    }

    @Test("--list without a folder is refused with the correct usage")
    func noFolder() throws {
        for arguments in [["a.db", "--list"], ["--list"], ["a.db", "--list", "--json"]] {
            let result = try tool.run(["backup"] + arguments)
            #expect(
                result.status == 64 && result.errors.contains("'. Give the folder of the backups: coffer")
                    && result.errors.contains("coffer backup --list FOLDER"), "\(result)")
        }
    }

    @Test("--list ignores a default for metrics, and is not recorded as a backup")
    func defaultMetrics() throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: tool.directory.path)
        try tool.write(#"{"metrics": "m.prom"}"#, to: "config.json")
        let environment = ["COFFER_CONFIG": tool.directory.path("config.json")]
        for arguments in [[], ["a.db"]] {
            let result = try tool.run(["backup", "--list", "safe"] + arguments, environment: environment)
            #expect(result.status == 0, "\(result)")
        }
        #expect(!tool.exists("m.prom"))
        let given = try tool.run("backup", "--list", "safe", "--metrics", "m.prom")
        #expect(given.status == 64, "\(given)")
    }

    // MARK: The latest

    @Test("the latest backup of a folder, or the latest before a time, is restored and named")
    func latest() throws {
        let new = try makeBackup(at: "20240103T000000.000Z", rows: 3)
        let middle = try makeBackup(at: "20240102T000000.000Z", rows: 2)
        try makeBackup(at: "20240101T000000.000Z", rows: 1)
        let result = try restore()
        #expect(
            result.status == 0 && result.errors.contains("safe/\(new): the backup of 2024-01-03"), "\(result)"
        )
        #expect(try rowCount() == ["3"])
        for (time, count) in [
            ("2024-01-02T12:00Z", "2"), ("2024-01-02 00:00:00.001Z", "2"), ("2024-01-02T00:00Z", "1"),
            ("2024-01-02T00:00-00:30", "2"), ("20240102T000000.000Z", "1"), ("2024-01-02T01:00+01:00", "1"),
        ] {
            let result = try restore("--before", time)
            #expect(try result.status == 0 && rowCount() == [count], "\(time): \(result)")
        }
        let plan = try restore("--before", "2024-01-02T12:00Z", "--dry-run", "--json")
        #expect(try Schema.problems(plan) == [] && rowCount() == ["1"])
        #expect(try plan.objects.contains { $0["path"] as? String == "safe/\(middle)" }, "\(plan)")
        let none = try restore("--before", "2024-01-01T00:00Z")
        #expect(
            none.status == 66 && none.errors.contains("The oldest is of 2024-01-01 00:00:00 UTC"), "\(none)")
    }

    @Test(
        "a time without a zone, a day, and other texts are refused",
        arguments: [
            ("2024-01-02T00:00", "zone"), ("2024-01-02 00:00:00", "zone"),
            ("2024-01-02", "2024-01-02T00:00Z"),
            ("2024-02-30T00:00Z", "no time"), ("2024-01-02T24:30Z", "no time"), ("yesterday", "not a time"),
            ("2024-01-02T00:00+99:00", "no time"), ("", "not a time"),
        ])
    func ambiguousTimes(_ time: String, _ words: String) throws {
        try makeBackup(at: "20240101T000000.000Z")
        let result = try restore("--before", time)
        #expect(result.status == 64 && result.errors.contains(words), "\(result)")
    }

    @Test("a folder without a backup of the database is refused, and --before needs a folder")
    func noBackup() throws {
        let empty = try restore()
        #expect(empty.status == 66 && empty.errors.contains("no dated backup of 'a.db'"), "\(empty)")
        let name = try makeBackup(at: "20240101T000000.000Z")
        #expect(try restore(to: "b.db").status == 66)
        let file = try tool.run(
            ["restore", "safe/\(name)", "a.db", "--before", "2025-01-01T00:00Z"] + key)
        #expect(file.status == 64, "\(file)")
    }

    @Test("backups of a moved database are found by its name, unless two databases have that name")
    func moved() throws {
        try makeBackup(at: "20240101T000000.000Z", rows: 7)
        for folder in ["moved", "other"] { _ = try tool.directory.makeFolder(folder) }
        let result = try restore(to: "moved/a.db")
        #expect(result.status == 0 && result.errors.contains("at another path"), "\(result)")
        #expect(try rowCount("moved/a.db") == ["7"])
        try tool.makeDatabase("other/a.db")
        #expect(try tool.run(["backup", "other/a.db", "--into", "safe"] + key).status == 0)
        let refused = try restore(to: "moved/a.db")
        #expect(refused.status == 64 && refused.errors.contains("2 databases named 'a.db'"), "\(refused)")
        #expect(try restore().status == 0)
    }

    @Test("a backup that is dated in the future is not the latest")
    func future() throws {
        try makeBackup(at: "20240101T000000.000Z", rows: 4)
        try makeBackup(at: "29990101T000000.000Z", rows: 5)
        let result = try restore()
        #expect(
            try result.status == 0 && result.errors.contains("future") && rowCount() == ["4"], "\(result)")
    }

    @Test("a folder with only future backups is reported, and nothing is restored")
    func onlyFuture() throws {
        let name = try makeBackup(at: "29990101T000000.000Z", rows: 5)
        let before = try tool.directory.bytes(of: "a.db")
        let result = try restore()
        #expect(result.status == 66 && result.errors.contains("\(name): is dated in the future"), "\(result)")
        #expect(result.errors.contains("name the file") && result.errors.contains("that counts"), "\(result)")
        #expect(try tool.directory.bytes(of: "a.db") == before)
        #expect(try tool.run(["restore", "safe/\(name)", "a.db"] + key).status == 0)
    }

    @Test("a line break in a name is escaped in the output")
    func lineBreak() throws {
        let name = "a\nb.db"
        try tool.makeDatabase(name)
        #expect(try tool.run(["backup", name, "--into", "safe"] + key).status == 0)
        let result = try restore("--dry-run", to: name)
        #expect(result.status == 0 && result.errors.contains(#"safe/a\nb.db."#), "\(result)")
        let made = try #require(names().first)
        let future = made.replacing(#/\.20\d\d/#, with: ".2999")
        try FileManager.default.moveItem(
            atPath: tool.directory.path("safe/\(made)"), toPath: tool.directory.path("safe/\(future)"))
        let warned = try restore(to: name)
        #expect(warned.errors.contains(#"safe/a\nb.db.2999"#), "\(warned)")
        let databases = try tool.run(["shell", name] + key, input: ".databases\n")
        #expect(databases.output.split(separator: "\n").count == 1, "\(databases)")
    }

    @Test("empty files, copies under another name and files of others are marked, and are not the latest")
    func unproved() throws {
        let name = try makeBackup(at: "20240101T000000.000Z", rows: 4)
        let place = try #require(name.split(separator: "-").last)
        let bytes = try tool.directory.bytes(of: "safe/\(name)")
        let (copy, empty) = (
            "a.db.20240102T000000.000Z-00000000-\(place)", "a.db.20240103T000000.000Z-00000000-\(place)"
        )
        try tool.directory.write(bytes, to: "safe/\(copy)")
        try tool.directory.write([], to: "safe/\(empty)")
        var reasons = [
            copy: "its salt does not match its name", empty: "it is empty",
        ]
        if getuid() == 0 {
            let foreign = name.replacing("20240101", with: "20240104")
            try tool.directory.write(bytes, to: "safe/\(foreign)")
            try #require(unsafe chown(tool.directory.path("safe/\(foreign)"), 65534, 65534) == 0)
            reasons[foreign] = "it belongs to another user"
        }
        let listed = try list("--json")
        #expect(try Schema.problems(listed) == [])
        let objects = try listed.objects.filter { $0["type"] as? String == "result" }
        let found = objects.compactMap { object in
            (object["unproved"] as? String).map {
                (String((object["path"] as? String ?? "").dropFirst(5)), $0)
            }
        }
        #expect(objects.count == reasons.count + 1 && Dictionary(uniqueKeysWithValues: found) == reasons)
        let result = try restore()
        #expect(result.status == 0 && result.output.contains("a.db: restored"), "\(result)")
        for (file, reason) in reasons {
            #expect(result.errors.contains("safe/\(file): is not proved"), "\(result)")
            #expect(result.errors.contains(reason), "\(result)")
        }
        #expect(try rowCount() == ["4"])
        try FileManager.default.removeItem(atPath: tool.directory.path("safe/\(name)"))
        let none = try restore()
        #expect(none.status == 66 && none.errors.contains("of 'a.db' that counts"), "\(none)")
    }

    @Test("no latest backup is chosen where others can rename files, but a named one is restored")
    func sharedFolder() throws {
        let name = try makeBackup(at: "20240101T000000.000Z")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o777], ofItemAtPath: tool.directory.path("safe"))
        let result = try restore()
        #expect(result.status == 73 && result.errors.contains("name the file"), "\(result)")
        #expect(try tool.run(["restore", "safe/\(name)", "a.db"] + key).status == 0)
    }

    @Test("damage in the chosen backup is reported with its name")
    func damage() throws {
        let name = try makeBackup(at: "20240101T000000.000Z")
        var bytes = try tool.directory.bytes(of: "safe/\(name)")
        bytes[4096 + 100] ^= 1
        try tool.directory.write(bytes, to: "safe/\(name)")
        let result = try restore()
        #expect(result.status == 65 && result.errors.contains("coffer: safe/\(name): error:"), "\(result)")
        let json = try restore("--json")
        let error = try json.objects.first { $0["type"] as? String == "error" }
        #expect(error?["path"] as? String == "safe/\(name)", "\(json)")
    }
}
