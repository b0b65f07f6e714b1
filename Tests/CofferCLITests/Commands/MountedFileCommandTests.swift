import Coffer
import CofferTestSupport
import Foundation
import Testing

/// The tool with a file that is itself a mount point, and with a file that a process in another PID namespace
/// has open, as in containers.
@Suite("The tool in a container", .enabled(if: PrivateMounts.isPossible))
struct MountedFileCommandTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]

    init() throws {
        tool = try Tool()
        try tool.makeDatabase(rows: 20)
        try tool.writeKey("b.key", 0x43)
        try tool.directory.write([], to: "mounted.db")
    }

    private func run(_ arguments: [String]) throws -> Tool.Result {
        try tool.run(
            PrivateMounts.mounting("a.db", over: "mounted.db", [Tool.program] + arguments),
            program: #require(ChildProcess.find("unshare")))
    }

    private var newKey: [String] { ["--new-key-file", "b.key", "--new-key-type", "raw"] }

    @Test("operations that replace a mounted file are refused before any work, with an alternative")
    func replacing() throws {
        let backup = try tool.run(["backup", "a.db", "backup.db"] + key)
        #expect(backup.status == 0, "\(backup)")
        let before = try tool.directory.snapshotOfFiles()
        for arguments in [
            ["rotate", "mounted.db"] + key + newKey, ["vacuum", "mounted.db"] + key,
            ["restore", "backup.db", "mounted.db"] + key,
            ["erase", "mounted.db", "--yes-erase", "mounted.db"],
        ] {
            let result = try run(arguments)
            #expect(result.status == 73, "\(arguments) \(result)")
            #expect(result.errors.contains("is a mount point"), "\(result)")
            #expect(result.errors.contains("--in-place"), "\(result)")
        }
        #expect(try tool.directory.snapshotOfFiles() == before)
    }

    @Test("no file is used in a folder over which a file system was mounted")
    func hiddenFolder() throws {
        // The file of this name that is mounted is the one that its path leads to.
        let script = """
            folder=$PWD; mount -t tmpfs none "$folder"; cp a.db "$folder/a.db"
            status=0; "$@" || status=$?
            cmp a.db "$folder/a.db" && exit "$status"
            """
        for arguments in [
            ["rotate", "a.db"] + key + newKey, ["rotate", "a.db", "--in-place"] + key + newKey,
            ["vacuum", "a.db"] + key, ["query", "a.db", "INSERT INTO t VALUES (99, 'x')", "--write"] + key,
            ["backup", "a.db", "b.db"] + key,
            ["erase", "a.db", "--yes-erase", "a.db"],
        ] {
            let result = try tool.run(
                ["-m", "sh", "-ec", script, "sh", Tool.program] + arguments,
                program: #require(ChildProcess.find("unshare")))
            #expect(result.status != 0 && result.errors.contains("another file"), "\(arguments) \(result)")
            #expect(tool.directory.fileNames().filter { $0.contains(".db") } == ["a.db", "mounted.db"])
        }
    }

    @Test("a key is rotated in a mounted file with --in-place")
    func inPlace() throws {
        let result = try run(["rotate", "mounted.db", "--in-place"] + key + newKey)
        #expect(result.status == 0, "\(result)")
        #expect(try tool.shell("a.db", 0x43).run("SELECT count(*) FROM t;") == ["20"])
    }

    /// Runs the tool in a PID namespace in which it is the only process.
    private func runAlone(_ arguments: [String]) throws -> Tool.Result {
        try tool.run(
            PrivateMounts.withoutOtherProcesses([Tool.program] + arguments),
            program: #require(ChildProcess.find("unshare")))
    }

    @Test("a file that a process outside of the container has open is neither erased nor replaced")
    func unseenProcess() throws {
        let queue = try tool.directory.makeQueue()
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 20)
        let before = try tool.directory.bytes(of: "a.db")
        for arguments in [
            ["erase", "a.db", "--yes-erase", "a.db"], ["vacuum", "a.db"] + key,
            ["rotate", "a.db"] + key + newKey,
        ] {
            let result = try runAlone(arguments)
            #expect(result.status == 75, "\(arguments) \(result)")
        }
        #expect(try tool.directory.bytes(of: "a.db") == before)
        try queue.write { try $0.execute(sql: "INSERT INTO t (text) VALUES ('still there')") }
        try queue.close()
        let result = try runAlone(["erase", "a.db", "--yes-erase", "a.db"])
        #expect(result.status == 0 && !tool.exists("a.db"), "\(result)")
    }

    @Test("a backup that a process outside of the container has open is kept")
    func unseenReaderOfBackup() throws {
        _ = try tool.directory.makeFolder("safe")
        func backUp() throws -> Tool.Result {
            try runAlone(["backup", "a.db", "--into", "safe", "--keep", "1d"] + key)
        }
        func names() -> [String] { tool.directory.fileNames().filter { $0.hasSuffix(".backup") } }
        #expect(try backUp().status == 0)
        let first = try #require(names().first)
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: tool.directory.path(first)))
        let second = try backUp()
        #expect(names().count == 2 && names().contains(first), "\(second)")
        try file.close()
        #expect(try backUp().status == 0)
        #expect(names().count == 1)
    }
}
