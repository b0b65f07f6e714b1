import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Verifying and salvaging a large file")
struct LargeFileTests {
    private let tool: Tool
    private let verify = [
        "verify", "big.db", "--key-file", "a.key", "--key-type", "raw", "--json", "--progress", "always",
    ]
    private static let megabytes = Nightly.pick(1024, byDay: 64)
    /// The memory limit. The program itself takes about half of it, and a debug build more. In the short run,
    /// the file is larger than the limit.
    private static let mostMegabytes = Nightly.pick(64, byDay: 48) + (Tool.isReleaseBuild ? 0 : 8)

    init() throws {
        tool = try Tool()
        try tool.makeDatabase("big.db")
        let queue = try tool.directory.makeQueue("big.db")
        try queue.write { try $0.execute(sql: "CREATE TABLE blob (data BLOB)") }
        for _ in 0..<Self.megabytes / 64 {
            try queue.write { db in
                for _ in 0..<64 { try db.execute(sql: "INSERT INTO blob VALUES (randomblob(1048576))") }
            }
        }
        try queue.close()
    }

    @Test("a verification reports progress, and its memory does not grow with the file")
    func memory() throws {
        let (result, most) = try runAndMeasure([])
        #expect(result.status == 0, "\(result)")
        #expect(try Schema.problems(result) == [])
        #expect(most > 5 << 10 && most < Self.mostMegabytes << 10, "\(most) kB for \(Self.megabytes) MB")
        let progress = try result.objects.filter { $0["phase"] as? String == "verifying" }.compactMap {
            $0["completed"] as? Int
        }
        #expect(progress == progress.sorted())
        #expect(Set(progress).count >= Nightly.pick(3, byDay: 1), "\(progress)")
    }

    @Test("each requested thread buffers up to half a megabyte of the file")
    func threads() throws {
        let (one, small) = try runAndMeasure(["--threads", "1"])
        let (many, large) = try runAndMeasure(["--threads", "40"])
        #expect(one.status == 0 && many.status == 0, "\(one) \(many)")
        // How far one thread gets ahead of the others varies, so a range is expected.
        #expect((3 << 10...28 << 10).contains(large - small), "\(small) kB, \(large) kB")
    }

    @Test("an invalid number of threads is a usage error", arguments: ["0", "65", "-1", "2x", ""])
    func noThreads(word: String) throws {
        let result = try tool.run(verify + ["--threads=\(word)"])
        #expect(result.status == 64 && result.errors.contains("--threads"), "\(result)")
    }

    @Test("a salvage reports progress, and its memory does not grow with the file")
    func memoryOfSalvage() throws {
        let (result, most) = try runAndMeasure([], salvage)
        #expect(result.status == 0, "\(result)")
        #expect(try Schema.problems(result) == [])
        // The limit is 64 MB. Newer engines use more for each connection: the one of `Scripts/build-engine`
        // stays below 67 MB, and SQLite 3.53 needs 67.4 MB.
        // The limit applies to release builds. Debug builds needed 71 to 83 MB for a gigabyte.
        let limit = (Database.sqliteLibVersionNumber < 3_053_000 ? 67 : 70) + (Tool.isReleaseBuild ? 0 : 24)
        #expect(most > 5 << 10 && most < limit << 10, "\(most) kB for \(Self.megabytes) MB")
        let progress = try result.objects.filter { $0["phase"] as? String == "copying" }.compactMap {
            $0["completed"] as? Int
        }
        #expect(progress == progress.sorted())
        #expect(try result.objects.contains { $0["complete"] as? Bool == true })
    }

    @Test("a signal ends a salvage, which leaves nothing")
    func interruptionOfSalvage() throws {
        let run = try tool.start(salvage)
        while run.isRunning, !run.text(of: "output").contains("\"start\"") { usleep(200) }
        run.send(SIGTERM)
        let result = run.wait()
        #expect(result.status == 128 + SIGTERM, "\(result)")
        #expect(tool.directory.fileNames() == ["a.key", "big.db"])
    }

    private var salvage: [String] { ["recover", "big.db", "new.db"] + verify.dropFirst(2) }

    /// Verifies the file, or runs another command, and returns the peak memory of the program in kilobytes.
    private func runAndMeasure(_ arguments: [String], _ command: [String]? = nil) throws -> (
        result: Tool.Result, most: Int
    ) {
        let run = try tool.start((command ?? verify) + arguments)
        var most = 0
        // The kernel's high-water mark, which is not available once the process has ended.
        while run.isRunning {
            let status = (try? String(contentsOfFile: "/proc/\(run.processID)/status", encoding: .utf8)) ?? ""
            most = max(most, status.firstMatch(of: /VmHWM:\s+(\d+) kB/).flatMap { Int($0.output.1) } ?? 0)
            usleep(500)
        }
        return (run.wait(), most)
    }

    @Test("a signal ends a verification", arguments: [SIGINT, SIGTERM])
    func interruption(number: Int32) throws {
        let run = try tool.start(verify)
        while run.isRunning, !run.text(of: "output").contains("\"verifying\"") { usleep(200) }
        run.send(number)
        let result = run.wait()
        #expect(result.status == 128 + number, "\(result)")
        #expect(try Schema.problems(result) == [])
        #expect(tool.directory.fileNames() == ["a.key", "big.db"])
    }
}
