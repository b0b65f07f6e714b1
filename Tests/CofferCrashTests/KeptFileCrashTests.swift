import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("A killed rotation that keeps the old file", .serialized)
struct KeptFileCrashTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    static let before = [
        "note-made", "journal-left", "locked", "copy-created", "copying", "copied", "verified",
        "copy-synchronized", "old-kept",
    ]
    static let after = [
        "renamed", "directory-synchronized", "old-copied", "reopened", "audited", "note-removed",
    ]

    @Test("is completed by the same command", arguments: ["delete", "wal"])
    func completes(mode: String) throws {
        for step in KeptFileCrashTests.before + KeptFileCrashTests.after {
            let path = try directory.makeFolder("app") + "/data.db"
            let kept = directory.path("old.db")
            try #require(KillableWorker.run("make", path, "66", "30", mode).status == 0)
            let killed = try KillableWorker.run(
                "rotate", path, "66", "23", "copy", kept, environment: ["COFFER_FAIL_POINT": step])
            try #require(killed.status == -SIGKILL, "\(step): \(killed.outputText)")
            let second = try KillableWorker.run("rotate", path, "66", "23", "copy", kept)
            let isDone = KeptFileCrashTests.after.contains(step)
            #expect(
                second.outputText == (isDone ? "unchanged\n" : "changed\n"), "\(step): \(second.errorText)")
            #expect(directory.fileNames() == ["app/data.db", "old.db"], "\(step)")
            #expect(
                FileForm.encrypted(0x17).isIntact(path) && FileForm.encrypted(0x42).isIntact(kept), "\(step)")
            #expect(try KillableWorker.run("mode", path, "23").outputText == "\(mode)\n", "\(step)")
            try FileManager.default.removeItem(atPath: kept)
            try FileManager.default.removeItem(atPath: directory.path("app"))
        }
    }

    @Test(
        "does not make a rotation started in another directory remove the database",
        arguments: KeptFileCrashTests.before + KeptFileCrashTests.after)
    func otherDirectory(step: String) throws {
        _ = try directory.makeFolder("app")
        let path = directory.path("app/data.db")
        try #require(KillableWorker.run("make", path, "66", "30", "delete").status == 0)
        // `data.db` is the kept file in one folder and the database in the other.
        func run(_ folder: String, _ arguments: String, failing: String = "") throws -> ChildProcess {
            try ChildProcess.run(
                "sh",
                [
                    "-c", "cd \"$1\" && exec \"$2\" rotate \(arguments)", "sh", folder,
                    ChildProcess.built("CrashWorker"),
                ],
                environment: ["COFFER_FAIL_POINT": failing])
        }
        let killed = try run(directory.path, "app/data.db 66 23 copy data.db", failing: step)
        try #require(killed.status == -SIGKILL, "\(killed.outputText) \(killed.errorText)")
        let second = try run(directory.path("app"), "data.db 66 23")
        #expect(second.status == 0, "\(second.outputText) \(second.errorText)")
        #expect(FileForm.encrypted(0x17).isIntact(path))
        let isDone = KeptFileCrashTests.after.contains(step)
        #expect(directory.fileNames() == (isDone ? ["app/data.db", "data.db"] : ["app/data.db"]))
    }
}
