import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

@Suite("Erasing a database file")
struct FileErasureTests {
    private let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test("erasing a file overwrites its beginning, then removes it with its side files and leftovers")
    func erase() throws {
        let file = try directory.makeFile("a.db", wal: true)
        try directory.write([1, 2, 3], to: "a.db-wal")
        let names = ReplacementNames(path: file.path, operation: .rotate)
        let run = RunIdentifier(number: 7)
        let note = try ReplacementNote(.rotate, id: run, step: "copy").encoded()
        try directory.write(note, to: "a.db.rotate.json")
        try directory.write([1, 2, 3], to: SystemFile.name(of: names.copy(run)))
        try directory.write([1, 2, 3], to: "other.db")
        // Backups of a careful user, and the copy of a run that no note names.
        let kept = [
            "a.db.rotate-20261122", "a.db.vacuum-20261122",
            SystemFile.name(of: names.copy(RunIdentifier(number: 8))),
        ]
        for name in kept { try directory.write([4], to: name) }
        let plan = try file.erasurePlan().map { SystemFile.name(of: $0) }
        #expect(
            plan.sorted() == [SystemFile.name(of: names.copy(run)), "a.db", "a.db-wal", "a.db.rotate.json"])
        let before = try directory.snapshot()
        #expect(reason { try file.erase(confirming: "b.db") } != nil)
        try FileManager.default.linkItem(atPath: file.path, toPath: directory.path("second"))
        #expect(reason { try file.erase(confirming: "a.db") } == .unsafeFile(.hardLinks(count: 2)))
        try FileManager.default.removeItem(atPath: directory.path("second"))
        #expect(try directory.snapshot() == before)
        let descriptor = try FileHandle(forReadingFrom: URL(fileURLWithPath: directory.path("other.db")))
        let result = try file.erase(confirming: "a.db")
        #expect(
            result.removedPaths.count == 4 && result.overwrittenByteCount == 65536 + 6
                && !result.limits.isEmpty)
        #expect(directory.fileNames() == (kept + ["other.db"]).sorted())
        try descriptor.close()
        #expect(reason { try file.erase(confirming: "a.db") } == .missing)
    }

    @Test("a file that this process has open is not erased")
    func eraseInUse() throws {
        let file = try directory.makeFile("a.db")
        let queue = try directory.makeQueue("a.db")
        guard case .busy = reason({ try file.erase(confirming: "a.db") }) else { return #expect(Bool(false)) }
        try queue.write { try $0.execute(sql: "INSERT INTO t (a) VALUES ('still there')") }
    }

    @Test("the error of an erasure says whether it has begun, and another run completes it")
    func begun() throws {
        let file = try directory.makeFile()
        for (point, hasBegun) in [(FailPoint.locked, false), (.rekeyed, true)] {
            let error = #expect(throws: DatabaseFileError.self) {
                try FailPoint.$failing.withValue(point) { try file.erase(confirming: "a.db") }
            }
            #expect(error?.isPublished == hasBegun, "\(point)")
        }
        _ = try file.erase(confirming: "a.db")
        #expect(directory.fileNames().isEmpty)
    }
}
