import Coffer
import CofferTestSupport
import Foundation
import Testing

/// A file that is a mount point by itself, as in containers. Its WAL would be in a different folder.
@Suite("A database file that is a mount point", .enabled(if: PrivateMounts.isPossible))
struct MountedFileTests {
    let directory: TestDirectory

    init() throws {
        directory = try TestDirectory()
        try directory.write([], to: "mounted.db")
    }

    private func make(wal: Bool) throws {
        let queue = try directory.makeQueue("a.db", .rawKeyed.with { $0.journalMode = wal ? .wal : .default })
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES ('first')") }
        try queue.close()
    }

    private func run(_ program: [String], input: String = "") throws -> ChildProcess {
        try ChildProcess.run(
            "unshare",
            PrivateMounts.mounting(directory.path("a.db"), over: directory.path("mounted.db"), program),
            input: Data(input.utf8))
    }

    private func hold() throws -> ChildProcess {
        try run([ChildProcess.built("CofferTestWorker"), "hold", directory.path("mounted.db"), "writing"])
    }

    @Test("is not opened in WAL mode, and nothing is made next to it")
    func refusedInWAL() throws {
        try make(wal: true)
        let before = try directory.bytes(of: "a.db")
        let process = try hold()
        #expect(process.status != 0)
        #expect(process.errorText.contains("mount point"), "\(process.errorText)")
        #expect(try directory.bytes(of: "a.db") == before)
        #expect(directory.fileNames() == ["a.db", "mounted.db"])
    }

    @Test("is opened and written in rollback mode")
    func allowedInRollbackMode() throws {
        try make(wal: false)
        let process = try hold()
        #expect(process.status == 0, "\(process.errorText)")
        let queue = try directory.makeQueue()
        #expect(try queue.read { try String.fetchAll($0, sql: "SELECT a FROM t") } == ["first", "held"])
    }
}
