import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

/// The properties of the stages of a replacement: a failure before the copy is in place undoes everything, a
/// later failure undoes nothing, and the next run completes.
@Suite("The stages of a replacement")
struct ReplacementStageTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    static let works: [FileWork] = FileWork.allCases.filter { $0 != .rotateInPlace }
    private static let published: Set<FailPoint> = [
        .renamed, .directorySynchronized, .reopened, .audited, .noteRemoved,
    ]

    private func make(_ work: FileWork, wal: Bool) throws -> String {
        let path = directory.path("a.db")
        let configuration = work.before.configuration.with { $0.journalMode = wal ? .wal : .default }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write {
            try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (randomblob(20000))")
        }
        try queue.close()
        return path
    }

    private func mode(_ path: String, _ form: FileForm) throws -> String {
        try DatabaseFile(path: path).inspect(key: form.key, cipher: form.cipher).journalMode
    }

    @Test(
        "a failure at any step leaves either the old or the new file, and the next run completes",
        arguments: ReplacementStageTests.works,
        [false, true])
    func failures(work: FileWork, wal: Bool) throws {
        for point in FailPoint.allCases
        where ![.rekeyed, .released, .statePinned, .oldKept, .oldCopied].contains(point) {
            let path = try make(work, wal: wal)
            let error = #expect(throws: DatabaseFileError.self, "\(point)") {
                try FailPoint.$failing.withValue(point) { try work.run(path) }
            }
            let isPublished = ReplacementStageTests.published.contains(point)
            #expect(error?.isPublished == isPublished, "\(point)")
            let form = isPublished ? work.after : work.before
            #expect(form.isIntact(path), "\(point)")
            if !isPublished {
                #expect(directory.fileNames() == ["a.db"], "\(point)")
                #expect(try mode(path, form) == (wal ? "wal" : "delete"), "\(point)")
            }
            #expect(try work.run(path) == !isPublished, "\(point)")
            #expect(work.after.isIntact(path) && directory.fileNames() == ["a.db"], "\(point)")
            #expect(try mode(path, work.after) == (wal ? "wal" : "delete"), "\(point)")
            try FileManager.default.removeItem(atPath: path)
        }
    }

    @Test(
        "the note is written before the copy, and both remain until the end",
        arguments: ReplacementStageTests.works)
    func order(work: FileWork) throws {
        let path = try make(work, wal: true)
        let note = "a.db.\(work.rawValue).json"
        var seen: [[String]] = []
        try run(work, path) { _ in
            let names = directory.fileNames().filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
                .map { $0.hasPrefix(".coffer-") ? "copy" : $0 }
            if seen.last != names { seen.append(names) }
        }
        // Only the file; a note; the copy and the note. A plaintext copy has no name yet.
        let withNote = [["a.db"], ["a.db", note]]
        let isUnnamed = work == .decrypt && TestDirectory.hasUnnamedFiles
        #expect(seen == withNote + (isUnnamed ? [] : [["copy", "a.db", note]]))
        #expect(directory.fileNames() == ["a.db"])
    }

    private func run(_ work: FileWork, _ path: String, _ progress: @escaping DatabaseFile.ProgressFunction)
        throws
    {
        let file = DatabaseFile(path: path)
        let key = try #require(work.before.key ?? work.after.key)
        switch work {
        case .rotate, .rotateInPlace:
            try file.rotate(from: key, to: work.after.key ?? key, progress: progress)
        case .upgrade: try file.upgrade(key: key, progress: progress)
        case .encrypt: try file.encrypt(key: key, progress: progress)
        case .decrypt:
            try file.decrypt(key: key, confirming: .contentBecomesReadableByAnyone, progress: progress)
        }
    }

    @Test(
        "repeating the call completes a vacuum that keeps the old file and failed after publishing"
    )
    func keptByVacuum() throws {
        let file = try directory.makeFile(wal: true)
        var options = DatabaseFile.ConversionOptions()
        options.keepOldPath = directory.path("old.db")
        for point in [FailPoint.renamed, .directorySynchronized, .reopened, .audited] {
            let error = #expect(throws: DatabaseFileError.self) {
                try FailPoint.$failing.withValue(point) { try file.vacuum(key: Keys.old, options: options) }
            }
            #expect(error?.isPublished == true)
            let result = try file.vacuum(key: Keys.old, options: options)
            #expect(!result.isChanged && result.isResumed, "\(point)")
            #expect(directory.fileNames() == ["a.db", "old.db"])
            // The vacuum is complete, so the next one is a separate vacuum.
            #expect(reason { try file.vacuum(key: Keys.old, options: options) } == .exists)
            try FileManager.default.removeItem(atPath: directory.path("old.db"))
        }
    }
}
