import Coffer
import CofferTestSupport
import Foundation
import Testing

/// With `COFFER_NIGHTLY=1`, kills 100 times, otherwise about 20 times.
@Suite("A killed copy to another file", .serialized)
struct CopyCrashTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private static let steps = [
        "copy-created", "copying", "copied", "verified", "copy-synchronized", "renamed",
        "directory-synchronized",
    ]

    private func makeSource() throws -> String {
        let path = directory.path("bank.db")
        try #require(KillableWorker.run("make", path, "66", "30", "delete").status == 0)
        return path
    }

    /// Repeats the copy and expects exactly one complete file.
    private func complete(_ path: String, _ kind: String, isThere: Bool) throws {
        let copy = directory.path("copy.db")
        let second = try KillableWorker.run("copy", path, "66", kind, copy)
        if isThere {
            #expect(
                second.outputText.contains("copy.db") && second.status == 1,
                "\(second.outputText) \(second.errorText)")
        } else {
            #expect(second.outputText == "done\n", "\(second.errorText)")
        }
        #expect(directory.fileNames() == ["bank.db", "copy.db"])
        #expect(FileForm.encrypted(66).isIntact(copy))
        let queue = try DatabaseQueue(path: copy, configuration: .rawKeyed)
        try queue.read { db in
            try Bank.audit(db)
            #expect(try Bank.lastNumber(db, teller: 1) == 30)
        }
        try queue.close()
        try FileManager.default.removeItem(atPath: copy)
    }

    @Test(
        "leaves either nothing or the whole copy at its path; the next copy there removes leftovers",
        arguments: ["backup", "vacuum", "salvage"])
    func namedSteps(kind: String) throws {
        let path = try makeSource()
        for step in CopyCrashTests.steps {
            let copy = directory.path("copy.db")
            let killed = try KillableWorker.run(
                "copy", path, "66", kind, copy, environment: ["COFFER_FAIL_POINT": step])
            try #require(killed.status == -SIGKILL, "\(step): \(killed.outputText) \(killed.errorText)")
            let isThere = FileManager.default.fileExists(atPath: copy)
            #expect(isThere == ["renamed", "directory-synchronized"].contains(step), "\(step)")
            let left = directory.fileNames().filter { $0.hasPrefix(".coffer-") }
            #expect(
                left.count { $0.hasSuffix(".tmp") } == (isThere ? 0 : 1)
                    && left.contains { $0.hasSuffix(".lock") }, "\(step): \(left)")
            if isThere { #expect(try DatabaseFile(path: copy).inspect().leftovers.count == 1) }
            // A copy to another path ignores the leftovers.
            #expect(
                try KillableWorker.run("copy", path, "66", kind, directory.path("other.db")).outputText
                    == "done\n")
            #expect(directory.fileNames().filter { $0.hasPrefix(".coffer-") } == left)
            try FileManager.default.removeItem(atPath: directory.path("other.db"))
            try complete(path, kind, isThere: isThere)
        }
    }

    @Test(
        "leaves either nothing or the whole copy at its path, whenever it is killed",
        arguments: ["backup", "vacuum", "salvage"])
    func anyMoment(kind: String) throws {
        let path = try makeSource()
        var random = SeededRandom("copies \(kind)")
        let start = Date()
        try #require(
            KillableWorker.run("copy", path, "66", kind, directory.path("copy.db")).outputText == "done\n")
        let duration = UInt32(Date().timeIntervalSince(start) * 1_000_000)
        try FileManager.default.removeItem(atPath: directory.path("copy.db"))
        let kills = Nightly.pick(45, byDay: 4)
        var left = 0
        for _ in 1...kills {
            let worker = try KillableWorker("copy", path, "66", kind, directory.path("copy.db"))
            usleep(UInt32.random(in: 0...duration, using: &random))
            worker.kill()
            _ = worker.output()
            if directory.fileNames().contains(where: { $0.hasPrefix(".coffer-") }) { left += 1 }
            try complete(
                path, kind, isThere: FileManager.default.fileExists(atPath: directory.path("copy.db")))
        }
        print(
            "kill -9 of copies by \(kind): \(kills) kills within \(duration / 1000) ms, \(left) left something"
        )
    }
}
