import CofferTestSupport
import Foundation
import Testing

@testable import CofferCLI

@Suite("Folders of files")
struct FolderTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]

    /// Makes `srv` with three databases in two folders.
    init() throws {
        tool = try Tool()
        for folder in ["srv", "srv/deep"] { _ = try tool.directory.makeFolder(folder) }
        for name in ["srv/a.db", "srv/deep/b.SQLITE", "srv/deep/c.vault"] { try tool.makeDatabase(name) }
    }

    private func makeOtherFiles() throws {
        let names = ["a.db-wal", "a.db-shm", "a.db-journal", "a.db.keys", "notes.txt", ".coffer-1.db"]
        for name in names { try tool.write("", to: "srv/\(name)") }
    }

    private func verify(_ arguments: String...) throws -> Tool.Result {
        try tool.run(["verify"] + arguments + ["--json"] + key)
    }

    private func paths(_ result: Tool.Result, _ type: String = "result") throws -> [String] {
        try result.objects.filter { $0["type"] as? String == type }.compactMap { $0["path"] as? String }
    }

    /// Returns the result of the search, without a process.
    private func find(
        _ folders: [String], _ patterns: [String] = [], _ usual: FileSearch.Usual = .databases
    ) throws -> [FoundFile] {
        try FileSearch(patterns: patterns, usual: usual) {}.files(of: folders.map(tool.directory.path))
    }

    private func names(_ found: [FoundFile]) -> [String] {
        found.map { String($0.path.dropFirst(tool.directory.path.utf8.count + 1)) }
    }

    // MARK: Results

    @Test("without a pattern, databases are found by their endings, and no side files or temporary files")
    func endings() throws {
        try makeOtherFiles()
        #expect(try names(find(["srv"])) == ["srv/a.db", "srv/deep/b.SQLITE"])
        #expect(try names(find(["srv/"])) == ["srv/a.db", "srv/deep/b.SQLITE"])
    }

    @Test("patterns replace the endings, and find no side files either")
    func patterns() throws {
        try makeOtherFiles()
        #expect(try names(find(["srv"], ["*.vault"])) == ["srv/deep/c.vault"])
        #expect(try names(find(["srv"], ["a.*", "?.vault"])) == ["srv/a.db", "srv/deep/c.vault"])
        #expect(
            try names(find(["srv"], ["*"]))
                == ["srv/a.db", "srv/deep/b.SQLITE", "srv/deep/c.vault", "srv/notes.txt"])
    }

    @Test("dated backups are found if asked for")
    func datedBackups() throws {
        let name = "srv/a.db.20240101T000000.000Z-0123abcd-89abcdef.backup"
        // There is no February 30.
        let others = ["srv/other.backup", "srv/a.db.20240230T000000.000Z-0123abcd-89abcdef.backup"]
        for name in [name] + others { try tool.write("", to: name) }
        #expect(try !names(find(["srv"])).contains(name))
        let found = try names(find(["srv"], [], .databasesAndBackups))
        #expect(found.contains(name) && !found.contains { others.contains($0) }, "\(found)")
    }

    @Test("links are not followed, except one that is named, and a folder is searched once")
    func links() throws {
        func link(_ name: String, to target: String) throws {
            try FileManager.default.createSymbolicLink(
                atPath: tool.directory.path(name), withDestinationPath: tool.directory.path(target))
        }
        try link("srv/deep/loop", to: "srv")
        try link("srv/link.db", to: "srv/a.db")
        try link("named", to: "srv")
        #expect(try names(find(["srv"])) == ["srv/a.db", "srv/deep/b.SQLITE"])
        #expect(try names(find(["named"])) == ["named/a.db", "named/deep/b.SQLITE"])
        #expect(try names(find(["srv/deep", "srv"])) == ["srv/deep/b.SQLITE", "srv/a.db"])
    }

    @Test("a folder that is nested in another or named twice is not reported as empty")
    func overlap() throws {
        let folders = [["srv", "srv/deep"], ["srv", "srv/"], ["srv/deep", "srv/deep/.."]]
        for folders in folders {
            let found = try find(folders)
            #expect(found.count == 2 && found.allSatisfy { $0.problem == nil }, "\(found)")
        }
        _ = try tool.directory.makeFolder("outer/inner")
        try tool.write("", to: "outer/inner/x.db")
        #expect(try names(find(["outer/inner", "outer"])) == ["outer/inner/x.db"])
        #expect(try tool.run(["batch", "verify", "srv", "srv/deep"] + key).status == 0)
    }

    @Test("a file that is named twice, or named and in a folder, is returned once")
    func repetitions() throws {
        let all = ["srv/a.db", "srv/deep/b.SQLITE"]
        for (paths, expected) in [
            (["srv", "srv/"], all), (["srv", "srv/deep/../deep"], all), (["srv", "srv/a.db"], all),
            (["srv/a.db", "srv"], all), (["srv/../srv/a.db", "srv/a.db"], ["srv/../srv/a.db"]),
        ] {
            let found = try find(paths)
            #expect(names(found) == expected && found.allSatisfy { $0.problem == nil }, "\(paths)")
        }
        _ = try tool.directory.makeFolder("none")
        #expect(try find(["none", "none/"]).compactMap { $0.problem?.reason } == ["no_files"])
        // Names that compare equal are different files.
        for name in ["\u{e9}.db", "e\u{301}.db"] { try tool.directory.write([], to: "none/\(name)") }
        #expect(try find(["none", "none/\u{e9}.db"]).count == 2)
        let result = try verify("srv", "srv/", "srv/a.db")
        #expect(try result.status == 0 && paths(result) == all, "\(result)")
    }

    @Test("the place of a file does not depend on how its folder was typed")
    func places() throws {
        let places = try find(["srv"]).map(\.place)
        #expect(try find(["srv/deep/../"]).map(\.place) == places)
        #expect(places == places.map(FileNames.canonical))
    }

    @Test("names that are not UTF-8 and pipes are reported, and files with other extensions are left out")
    func oddNames() throws {
        for name in ["bad\u{1}.db", "bad\u{1}.txt", "bad\u{1}"] {
            let bytes = Array((tool.directory.path("srv/") + name).utf8).map { $0 == 1 ? 0xff : $0 }
            let path = bytes.map(CChar.init(bitPattern:)) + [0]
            if name.hasSuffix("bad\u{1}") {
                try #require(unsafe mkdir(path, 0o700) == 0)
            } else {
                let file = unsafe open(path, O_CREAT | O_WRONLY, 0o600)
                try #require(file >= 0)
                close(file)
            }
        }
        for name in ["srv/pipe.db", "srv/pipe"] {
            try #require(unsafe mkfifo(tool.directory.path(name), 0o600) == 0)
        }
        let found = try find(["srv"])
        let problems = found.compactMap { $0.problem?.reason }
        #expect(problems.sorted() == ["name_not_utf8", "name_not_utf8", "not_a_file"])
        #expect(found.count { $0.problem == nil } == 2)
    }

    @Test("a large folder is searched completely and in order")
    func many() throws {
        _ = try tool.directory.makeFolder("many")
        for number in 0..<3000 { try tool.write("", to: "many/\(number).db") }
        let found = try names(find(["many"]))
        #expect(found.count == 3000 && found == found.sorted())
    }

    // MARK: Commands

    @Test("verify and info look at all databases below a folder, and at named files")
    func commands() throws {
        let all = try verify("srv", "srv/deep/c.vault")
        #expect(try all.status == 0 && Schema.problems(all) == [], "\(all)")
        #expect(try paths(all) == ["srv/a.db", "srv/deep/b.SQLITE", "srv/deep/c.vault"])
        #expect(try paths(verify("srv", "--name", "*.vault")) == ["srv/deep/c.vault"])
        let info = try tool.run("info", "srv", "--json")
        #expect(try info.status == 0 && paths(info) == ["srv/a.db", "srv/deep/b.SQLITE"], "\(info)")
        let text = try tool.run(["verify", "srv"] + key)
        #expect(text.errors.hasPrefix("2 files, 0 failed ("), "\(text)")
    }

    @Test("a failing file in a folder does not stop the others, and the exit code is 3")
    func failures() throws {
        try tool.write("junk", to: "srv/deep/junk.db")
        try #require(unsafe mkfifo(tool.directory.path("srv/pipe.db"), 0o600) == 0)
        let result = try verify("srv")
        #expect(try result.status == 3 && Schema.problems(result) == [], "\(result)")
        #expect(try paths(result).count { !$0.contains("junk") } == 2)
        #expect(try Set(paths(result, "error")) == ["srv/deep/junk.db", "srv/pipe.db"])
    }

    @Test(
        "a folder without permission is reported, and the others are searched",
        .enabled(if: geteuid() != 0, "permissions do not apply to root"))
    func permission() throws {
        try #require(unsafe chmod(tool.directory.path("srv/deep"), 0) == 0)
        defer { unsafe chmod(tool.directory.path("srv/deep"), 0o700) }
        // The second mode shows the names in the folder, but not the files.
        for mode: mode_t in [0, 0o400] {
            try #require(unsafe chmod(tool.directory.path("srv/deep"), mode) == 0)
            let result = try verify("srv")
            #expect(try result.status == 3 && paths(result, "error") == ["srv/deep"], "\(result)")
            #expect(try paths(result) == ["srv/a.db"])
        }
    }

    @Test("a folder with files that cannot be looked at is reported, and not left out")
    func hiddenFiles() throws {
        // The path of the folder fits the system's limit of 4,096 bytes, but the path of its file does not.
        var folder = tool.directory.path("srv/deep")
        while folder.utf8.count < 4091 {
            folder += "/" + String(repeating: "d", count: min(200, 4091 - folder.utf8.count))
            try #require(unsafe mkdir(folder, 0o700) == 0)
        }
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY)
        try #require(descriptor >= 0)
        let file = unsafe openat(descriptor, "x.db", O_CREAT | O_WRONLY, 0o600)
        try #require(file >= 0)
        close(file)
        defer {
            unsafe unlinkat(descriptor, "x.db", 0)
            close(descriptor)
        }
        let found = try find(["srv"])
        #expect(found.filter { $0.problem != nil }.map(\.path) == [folder])
        #expect(found.count == 3)
    }

    @Test(
        "a folder without databases is an error, and so is a pattern without a folder",
        arguments: [
            (["verify", "empty"], Int32(66)), (["info", "empty"], 66), (["batch", "verify", "empty"], 3),
            (["verify", "srv", "--name", "*.x"], 66), (["verify", "srv/a.db", "--name", "*.db"], 64),
            (["batch", "verify", "srv/a.db"], 66), (["batch", "verify", "nope"], 66),
            (["batch", "verify"], 64),
            (["batch", "verify", "--name", "*.db"], 64), (["batch", "verify", "srv", "--manifest", "l"], 64),
        ] as [([String], Int32)])
    func nothing(_ arguments: [String], _ status: Int32) throws {
        _ = try tool.directory.makeFolder("empty")
        let result = try tool.run(arguments + key)
        #expect(result.status == status, "\(result)")
    }

    @Test(
        "a batch with a file instead of a folder names the command that takes files, if there is one",
        arguments: [
            (["rotate", "srv/a.db", "srv/deep/c.vault"], "'coffer rotate' takes several files, and a batch"),
            (["verify", "srv/a.db"], "'coffer verify' takes several files, and a batch"),
            (["vacuum", "srv", "srv/a.db"], "not a folder. A batch takes folders, or a list"),
            (["backup", "srv/a.db", "--into", "safe"], "not a folder. A batch takes folders, or a list"),
        ] as [([String], String)])
    func files(_ arguments: [String], _ words: String) throws {
        let result = try tool.run(["batch"] + arguments + key)
        #expect(result.status == 66 && result.errors.contains(words), "\(result)")
    }

    @Test("the help says which batches need a pattern for folders")
    func helpOnPatterns() throws {
        for (command, needsPattern) in [
            ("rotate", true), ("encrypt", true), ("decrypt", true), ("upgrade", true), ("vacuum", true),
            ("verify", false), ("backup", false),
        ] {
            let page = try #require(try HelpRequest.page(["help", "batch", command]))
            #expect(page.contains("(<folder>... --name <pattern> |") == needsPattern, "\(page)")
            #expect(page.contains("Folders need --name") == needsPattern, "\(page)")
        }
    }

    @Test("all files of one call are looked at, even if one of them is missing")
    func missingFile() throws {
        let result = try verify("srv/a.db", "nope.db", "srv/deep/c.vault")
        #expect(try result.status == 3 && paths(result) == ["srv/a.db", "srv/deep/c.vault"], "\(result)")
    }

    @Test("a folder is one target of the metrics")
    func metrics() throws {
        #expect(try tool.run(["verify", "srv", "--metrics", "m.prom"] + key).status == 0)
        let text = try tool.text(of: "m.prom")
        #expect(text.contains("target=\"\(FileNames.canonical(tool.directory.path("srv")))\""), "\(text)")
        #expect(!text.contains("a.db"))
        #expect(try tool.run(["verify", "srv", "srv/deep", "--metrics", "m.prom"] + key).status == 64)
        #expect(try tool.run(["batch", "verify", "srv", "--metrics", "b.prom"] + key).status == 0)
        #expect(try tool.text(of: "b.prom").contains("srv\""))
    }

    // MARK: Batches

    @Test("batches read and back up the databases below folders")
    func batches() throws {
        let verified = try tool.run(["batch", "verify", "srv", "--jobs", "2", "--json"] + key)
        #expect(try Set(paths(verified)) == ["srv/a.db", "srv/deep/b.SQLITE"], "\(verified)")
        #expect(try tool.run(["batch", "info", "srv", "--name", "*.vault"]).output.contains("c.vault"))
        let queried = try tool.run(
            ["batch", "query", "SELECT count(*) FROM t", "srv", "--format", "csv"] + key)
        #expect(queried.status == 0 && queried.output.contains("srv/a.db,1"), "\(queried)")
        try tool.write("SELECT count(*) FROM t", to: "q.sql")
        let script = try tool.run(["batch", "query", "--from", "q.sql", "srv", "--format", "csv"] + key)
        #expect(script.output == queried.output, "\(script)")
        _ = try tool.directory.makeFolder("srv/safe")
        for count in [2, 4] {
            let result = try tool.run(["batch", "backup", "srv", "--into", "srv/safe"] + key)
            #expect(result.status == 0, "\(result)")
            #expect(tool.directory.fileNames().count { $0.hasSuffix(".backup") } == count)
        }
    }

    @Test("a batch that changes files in place needs a pattern, and can be repeated")
    func changes() throws {
        try tool.writeKey("b.key", 0x43)
        let rotation = key + ["--new-key-file", "b.key", "--new-key-type", "raw"]
        let refused = try tool.run(["batch", "rotate", "srv"] + rotation)
        #expect(refused.status == 64 && refused.errors.contains("--name"), "\(refused)")
        for words in ["2 of 2 files done", "2 of 2 files done"] {
            let result = try tool.run(
                ["batch", "rotate", "srv", "--name", "*.db", "--name", "*.SQLITE"] + rotation)
            #expect(result.status == 0 && result.errors.contains(words), "\(result)")
        }
        #expect(try tool.shell("srv/deep/b.SQLITE", 0x43).run("SELECT count(*) FROM t;") == ["1"])
        #expect(!tool.directory.fileNames().contains { $0.contains(".state") })
    }

    @Test("a state of a folder fits it however the folder is typed")
    func states() throws {
        let work = [
            "--name", "*.db", "--write", "--state", "s", "INSERT INTO t (text) VALUES ('bonus')",
        ]
        try tool.write("junk", to: "srv/junk.db")
        func run(_ folder: String, _ more: String...) throws -> Tool.Result {
            try tool.run(["batch", "query", work[5], folder] + work.prefix(5) + more + key)
        }
        #expect(try run("srv").status == 3)
        try FileManager.default.removeItem(atPath: tool.directory.path("srv/junk.db"))
        try tool.makeDatabase("srv/junk.db")
        let result = try run(tool.directory.path("srv/deep/.."), "--continue")
        #expect(result.status == 0, "\(result)")
        #expect(try tool.shell("srv/a.db").run("SELECT count(*) FROM t WHERE text = 'bonus';") == ["1"])
    }
}
