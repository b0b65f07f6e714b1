import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("No plaintext on the disk")
struct NoPlaintextTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private let marker = "pl41nt3xtm4rk3r"

    @Test(
        "nothing that is written anywhere during sorts, temporary tables, VACUUM, indexes and full-text search is readable",
        arguments: ["spill", "index"])
    func work(name: String) throws {
        let temporary = try directory.makeFolder("tmp")
        let log = try run(name, temporary: temporary, "encrypted")
        #expect(FileManager.default.enumerator(atPath: temporary)?.allObjects.isEmpty == true)
        let names = directory.fileNames().filter { $0.hasPrefix("encrypted") }
        #expect(names.count >= 2)
        for name in names {
            let bytes = try directory.bytes(of: name)
            #expect(!contains(bytes, marker), "\(name)")
            #expect(!contains(bytes, "SQLite format 3"), "\(name)")
            #expect(!contains(bytes, "CREATE TABLE"), "\(name)")
        }
        guard let log else { return }
        #expect(log.writeCount > 300)
        #expect(log.readableWrites.isEmpty)
        #expect(log.temporaryFiles.isEmpty)
    }

    @Test(
        "the same search finds the plaintext of a database without a key, and its temporary files",
        .enabled(if: NoPlaintextTests.canTrace),
        arguments: ["spill", "index"])
    func control(name: String) throws {
        let log = try #require(try run(name, temporary: try directory.makeFolder("tmp"), "plaintext"))
        #expect(log.readableWrites.isEmpty == false)
        #expect(log.temporaryFiles.isEmpty == false)
        #expect(contains(try directory.bytes(of: "plaintext-queue"), marker))
    }

    @Test(
        "write-ahead log, rollback journal and shared memory of an open transaction are not readable",
        arguments: Access.allCases)
    func openTransaction(access: Access) throws {
        let writer = try directory.make(access, "a.db", .rawKeyed.with { $0.pageCacheSize = 16 * 1024 })
        try writer.write { db in
            try db.execute(sql: "CREATE TABLE t (a TEXT)")
            for _ in 0..<500 {
                try db.execute(sql: "INSERT INTO t VALUES (? || hex(randomblob(50)))", arguments: [marker])
            }
        }
        try writer.write { db in
            try db.execute(sql: "UPDATE t SET a = a || 'x'")
            let names = directory.fileNames()
            #expect(names.contains(access == .queue ? "a.db-journal" : "a.db-wal"))
            for name in names {
                let bytes = try directory.bytes(of: name)
                #expect(!contains(bytes, marker), "\(name)")
            }
        }
    }

    // MARK: - The worker

    private struct Trace {
        var writeCount: Int
        var readableWrites: [String]
        var temporaryFiles: [String]
    }

    private static let canTrace: Bool = {
        let isTraceable =
            (try? ChildProcess.run("strace", ["-f", "--seccomp-bpf", "-o", "/dev/null", "/bin/true"]).status)
            == 0
        if !isTraceable {
            print(
                "strace cannot run here: only the files that are left are searched for plaintext, not each write"
            )
        }
        return isTraceable
    }()

    /// Runs the worker, under `strace` if it is available, and returns a summary of its writes.
    private func run(_ work: String, temporary: String, _ protection: String) throws -> Trace? {
        let worker = [
            ChildProcess.built("CofferTestWorker"), work, directory.path(protection), marker, protection,
        ]
        let environment = ["TMPDIR": temporary, "SQLITE_TMPDIR": temporary]
        guard NoPlaintextTests.canTrace else {
            let process = try ChildProcess.run(worker[0], Array(worker.dropFirst()), environment: environment)
            try #require(process.status == 0, "\(process.errorText)")
            return nil
        }
        // The log of all writes would be many times larger than the database, so a filter keeps only the
        // relevant lines.
        let log = directory.path("strace.log")
        let filter =
            "/\(marker)|openat/ { print substr($0, 1, 400) } /pwrite64|write\\(/ { n++ } END { print \"writes:\", n }"
        let process = try ChildProcess.run(
            "strace",
            [
                "-f", "--seccomp-bpf", "-e", "trace=openat,write,pwrite64,writev,pwritev", "-s", "4200", "-o",
                "|LC_ALL=C awk '\(filter)' > '\(log)'",
            ] + worker,
            environment: environment)
        try #require(process.status == 0, "\(process.errorText)")
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").map(String.init)
        let count = lines.last.flatMap { $0.split(separator: " ").last }.flatMap { Int($0) }
        return Trace(
            writeCount: count ?? 0,
            readableWrites: lines.filter { !$0.contains("openat") && $0.contains(marker) },
            temporaryFiles: lines.filter {
                $0.contains("openat") && ($0.contains("etilqs") || $0.contains("\"\(temporary)/"))
            })
    }

    private func contains(_ bytes: [UInt8], _ text: String) -> Bool {
        Data(bytes).range(of: Data(text.utf8)) != nil
    }
}
