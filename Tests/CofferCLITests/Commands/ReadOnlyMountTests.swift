import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("The tool on a read-only file system")
struct ReadOnlyMountTests {
    private let tool: Tool
    private let key = ["--key-file", "a.key", "--key-type", "raw"]

    /// True if this process can mount a folder read-only in its own namespace.
    private static let canMount: Bool = {
        guard geteuid() == 0, ChildProcess.find("unshare") != nil else { return false }
        let script = "mount -t tmpfs none /mnt && mount -o remount,ro /mnt"
        return (try? ChildProcess.run("unshare", ["-m", "/bin/sh", "-c", script]).status) == 0
    }()

    /// Makes `ro/a.db`, which was closed cleanly, and `ro/log.db`, which has a WAL with a commit but no index
    /// for it.
    init() throws {
        tool = try Tool()
        try tool.writeKey("a.key")
        try FileManager.default.createDirectory(
            atPath: tool.directory.path("ro"), withIntermediateDirectories: false)
        let pool = try tool.directory.makePool("ro/a.db")
        try pool.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES ('one')") }
        try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        try pool.write { try $0.execute(sql: "INSERT INTO t VALUES ('two')") }
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(
                atPath: pool.path + suffix, toPath: tool.directory.path("ro/log.db\(suffix)"))
        }
        try pool.close()
    }

    private func run(_ arguments: [String]) throws -> Tool.Result {
        let script = "mount --bind ro ro && mount -o remount,bind,ro ro && exec \"$@\""
        return try tool.run(
            ["-m", "/bin/sh", "-c", script, "sh", Tool.program] + arguments,
            program: try #require(ChildProcess.find("unshare")))
    }

    @Test(
        "commands that read take a WAL database there, with its log",
        .enabled(if: canMount, "needs to mount a file system"), arguments: ["a.db", "log.db"])
    func reading(name: String) throws {
        let path = "ro/\(name)"
        for arguments in [
            ["query", path, "SELECT count(*) || ' rows' FROM t"],
            ["dump", path], ["verify", path], ["info", path], ["schema", path], ["diff", path, "ro/a.db"],
            ["backup", path, "backup.db"], ["vacuum", path, "--into", "vacuum.db"],
            ["recover", path, "recovered.db"], ["decrypt", path, "plain.db", "--yes-plaintext"],
        ] {
            let result = try run(arguments + key)
            #expect(result.status == 0, "\(arguments): \(result)")
            if arguments[0] == "query" { #expect(result.output.contains("2 rows"), "\(result)") }
            if arguments[0] == "dump" { #expect(result.output.contains("'two'"), "\(result)") }
        }
        for name in ["backup.db", "vacuum.db", "recovered.db"] {
            #expect(try tool.shell(name).run("SELECT count(*) FROM t;") == ["2"], "\(name)")
        }
        #expect(!tool.exists("ro/\(name)-shm"))
    }

    @Test(
        "commands that write report that the file system is read-only",
        .enabled(if: canMount, "needs to mount a file system"), arguments: ["a.db", "log.db"])
    func writing(name: String) throws {
        try tool.writeKey("b.key", 0x43)
        let path = "ro/\(name)"
        for arguments in [
            ["rotate", path, "--new-key-file", "b.key", "--new-key-type", "raw"], ["vacuum", path],
            ["query", path, "--write", "DELETE FROM t"],
        ] {
            let result = try run(arguments + key)
            #expect(result.status != 0, "\(arguments): \(result)")
            let words = result.errors.lowercased()
            #expect(
                words.contains("read-only") || words.contains("readonly")
                    || words.contains("cannot be written to"),
                "\(arguments): \(result)")
            #expect(!words.contains("unable to open"), "\(arguments): \(result)")
        }
    }
}
