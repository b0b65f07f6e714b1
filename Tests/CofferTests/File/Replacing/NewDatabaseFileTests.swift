import CofferTestSupport
import Foundation
import Synchronization
import Testing

@testable import Coffer

@Suite("New database files")
struct NewDatabaseFileTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test(
        "an unfinished copy is busy for other processes, which do not disturb it",
        arguments: ["backup", "vacuum"])
    func living(kind: String) throws {
        let file = try directory.makeFile()
        let content = try directory.content(key: Keys.old)
        let copy = directory.path("copy.db")
        var phases: Set<DatabaseFile.Progress.Phase> = []
        let progress: DatabaseFile.ProgressFunction = { progress in
            // The first report comes before any file is created.
            guard progress.totalPageCount > 0, phases.insert(progress.phase).inserted else { return }
            let before = directory.fileNames().filter { $0.hasPrefix(".coffer-") }
            #expect(before.count == 2)
            #expect(reason { try file.vacuum(into: copy, key: Keys.old) } == .busy([]))
            let queue = try directory.makeQueue()
            let error = #expect(throws: DatabaseError.self) { try queue.vacuum(into: copy) }
            #expect(error?.resultCode == .SQLITE_BUSY)
            try queue.close()
            #expect(directory.fileNames().filter { $0.hasPrefix(".coffer-") } == before)
            // A copy to a different path is independent.
            try file.backup(to: directory.path("\(progress.phase).db"), key: Keys.old)
        }
        if kind == "backup" {
            try file.backup(to: copy, key: Keys.old, progress: progress)
        } else {
            try file.vacuum(into: copy, key: Keys.old, progress: progress)
        }
        #expect(phases.count > 1)
        #expect(try directory.content("copy.db", key: Keys.old) == content)
        #expect(directory.fileNames().filter { $0.hasPrefix(".coffer-") } == [])
    }

    @Test(
        "a copy is not made next to a journal or log that would be replayed into it",
        arguments: ["-wal", "-journal"],
        ["backup", "decryption"])
    func besideLeftSideFile(suffix: String, kind: String) throws {
        let file = try directory.makeFile()
        let (copy, side) = (directory.path("copy.db"), directory.path("copy.db\(suffix)"))
        func make() throws {
            if kind == "backup" {
                try file.backup(to: copy, key: Keys.old)
            } else {
                try file.decrypt(to: copy, key: Keys.old, confirming: .contentBecomesReadableByAnyone)
            }
        }
        // It belongs to a file that had the name before and was removed without it.
        try directory.write([1, 2, 3], to: "copy.db\(suffix)")
        let error = #expect(throws: DatabaseFileError.self) { try make() }
        #expect(error?.reason == .exists && error?.path == side)
        #expect(try directory.bytes(of: "copy.db\(suffix)") == [1, 2, 3])
        #expect(directory.fileNames() == ["a.db", "copy.db\(suffix)"])
        // The engine treats an empty file as missing.
        try directory.write([], to: "copy.db\(suffix)")
        try make()
        // The same for a file that appears while the copy is made.
        for name in ["copy.db", "copy.db\(suffix)"] {
            try FileManager.default.removeItem(atPath: directory.path(name))
        }
        #expect(throws: DatabaseFileError.self) {
            try file.vacuum(into: copy, key: Keys.old) { _ in try directory.write([1], to: "copy.db\(suffix)")
            }
        }
        #expect(directory.fileNames() == ["a.db", "copy.db\(suffix)"])
    }

    @Test("the next run to the same place removes the leftovers of an interrupted run, and nothing else")
    func leftovers() throws {
        let file = try directory.makeFile()
        let names = NewFileNames(path: directory.path("copy.db"))
        let others = NewFileNames(path: directory.path("other.db"))
        let run = RunIdentifier(number: 1)
        let left = [names.lock, names.temporary(run)]
        let kept = [
            others.temporary(run), names.temporary(RunIdentifier(number: 2)), names.temporary(run) + "x",
            directory.path(".coffer-notes"),
            names.lock + ".tmp",
        ]
        func leave() throws {
            try Data(ReplacementNote(nil, id: run, step: "copy").encoded()).write(
                to: URL(fileURLWithPath: names.lock))
            try Data([1]).write(to: URL(fileURLWithPath: names.temporary(run)))
        }
        for path in kept { try Data([1]).write(to: URL(fileURLWithPath: path)) }
        try leave()
        #expect(try DatabaseFile(path: directory.path("a.db")).inspect().leftovers == [])
        try file.vacuum(into: directory.path("copy.db"), key: Keys.old)
        for path in left { #expect(!FileManager.default.fileExists(atPath: path), "\(path)") }
        for path in kept { #expect(FileManager.default.fileExists(atPath: path), "\(path)") }

        // The run was interrupted after the file got its name.
        try leave()
        #expect(try Set(DatabaseFile(path: directory.path("copy.db")).inspect().leftovers) == Set(left))
        #expect(reason { try file.vacuum(into: directory.path("copy.db"), key: Keys.old) } == .exists)
        for path in left { #expect(!FileManager.default.fileExists(atPath: path), "\(path)") }
        for path in kept { #expect(FileManager.default.fileExists(atPath: path), "\(path)") }
    }

    @Test(
        "a step that fails leaves nothing",
        arguments: [
            FailPoint.copyCreated, .copying, .copied, .verified, .copySynchronized, .renamed,
            .directorySynchronized,
        ])
    func failures(point: FailPoint) throws {
        let file = try directory.makeFile()
        for isBackup in [true, false] {
            #expect(
                reason {
                    try FailPoint.$failing.withValue(point) {
                        if isBackup {
                            try file.backup(to: directory.path("copy.db"), key: Keys.old)
                        } else {
                            try file.vacuum(into: directory.path("copy.db"), key: Keys.old)
                        }
                    }
                } == .inputOutput(call: "fail point \(point.rawValue)", errno: EIO))
            #expect(directory.fileNames() == ["a.db"])
        }
    }

    @Test(
        "a copy is refused if a journal or log has its name, or appears during the copy",
        arguments: ["-wal", "-journal"])
    func sideFiles(suffix: String) throws {
        let file = try directory.makeFile()
        let name = "copy.db\(suffix)"
        for isThereBefore in [true, false] {
            if isThereBefore { try directory.write([1], to: name) }
            let points = Mutex<[FailPoint]>([])
            let problem = FailPoint.$passing.withValue({ point in
                points.withLock { $0.append(point) }
                if point == .copied { try? directory.write([1], to: name) }
            }) {
                reason { try file.vacuum(into: directory.path("copy.db"), key: Keys.old) }
            }
            #expect(problem == .exists)
            #expect(points.withLock { $0.contains(.copyCreated) } == !isThereBefore)
            #expect(directory.fileNames() == ["a.db", name])
            try FileManager.default.removeItem(atPath: directory.path(name))
        }
    }

    /// Opens a database at a step and returns the errors.
    private func refusal(_ name: String, at step: FailPoint, _ work: () throws -> Void) rethrows
        -> [ResultCode]
    {
        let codes = Mutex<[ResultCode]>([])
        let directory = directory
        try FailPoint.$passing.withValue(
            { point in
                guard point == step else { return }
                do {
                    try directory.makeQueue(name).close()
                    Issue.record("it was opened")
                } catch let error as DatabaseError {
                    codes.withLock { $0.append(error.resultCode) }
                } catch {
                    Issue.record(error)
                }
            }, operation: work)
        return codes.withLock { $0 }
    }

    @Test("a new file cannot be used until its name is synced to disk")
    func lockedUntilPermanent() throws {
        let file = try directory.makeFile()
        let codes = try refusal("copy.db", at: .renamed) {
            try file.backup(to: directory.path("copy.db"), key: Keys.old)
        }
        #expect(codes == [.SQLITE_BUSY])
        #expect(directory.opens("copy.db", key: Keys.old))
    }

    @Test(
        "an orphaned journal is moved away while no process can create a database of its name")
    func orphanedJournal() throws {
        let backup = try directory.makeFile("backup.db")
        // A journal that would not keep another process from creating a database.
        try directory.write(Forgery.journal(pageCount: 0, records: []), to: "a.db-journal")
        let codes = try refusal("a.db", at: .locked) {
            try DatabaseFile(path: directory.path("a.db")).restore(from: backup.path, key: Keys.old)
        }
        #expect(codes == [.SQLITE_BUSY])
        #expect(directory.opens(key: Keys.old))
        let kept = directory.fileNames().filter { $0.hasPrefix("a.db.replaced-") }
        #expect(kept.count == 1 && kept.first?.hasSuffix("-journal") == true)
        #expect(directory.fileNames().count == 3)
    }

    @Test("the longest possible name works, and so does a path through the parent of a folder")
    func names() throws {
        let file = try directory.makeFile()
        let long = String(repeating: "n", count: 255)
        try file.backup(to: directory.path(long), key: Keys.old)
        _ = try directory.makeFolder("folder")
        try file.backup(to: directory.path("folder/../b.db"), key: Keys.old)
        #expect(directory.fileNames() == ["a.db", "b.db", long])
    }
}
