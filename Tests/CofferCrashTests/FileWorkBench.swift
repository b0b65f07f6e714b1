import Coffer
import CofferTestSupport
import Foundation
import Testing

/// Files for works that are killed, and what must hold of them afterwards.
struct FileWorkBench {
    let work: FileWork
    /// `delete` or `wal`.
    let mode: String
    private let directory: TestDirectory
    private let template: String
    static let transferCount = 30

    init(_ work: FileWork, mode: String, in directory: TestDirectory) throws {
        self.work = work
        self.mode = mode
        self.directory = directory
        _ = try directory.makeFolder("template")
        template = directory.path("template/\(work)-\(mode).db")
        let made = try KillableWorker.run(
            "make", template, work.before.text, "\(FileWorkBench.transferCount)", mode)
        try #require(made.status == 0, "\(made.errorText)")
    }

    /// A new file in a folder of its own, in the form that the work begins with.
    func makeFile() throws -> String {
        let path = try directory.makeFolder(UUID().uuidString) + "/bank.db"
        try FileManager.default.copyItem(atPath: template, toPath: path)
        return path
    }

    func remove(_ path: String) throws {
        try FileManager.default.removeItem(atPath: (path as NSString).deletingLastPathComponent)
    }

    /// How many microseconds a process takes that does the work and is not disturbed.
    func duration() throws -> UInt32 {
        let path = try makeFile()
        let start = Date()
        try #require(KillableWorker.run("work", path, work.rawValue).outputText == "changed\n")
        defer { try? remove(path) }
        return UInt32(Date().timeIntervalSince(start) * 1_000_000)
    }

    /// The one form that the file has, in which each page is authentic, and the structure is whole. Nothing
    /// is changed.
    func form(of path: String) throws -> FileForm {
        let forms = [work.before, work.after].filter { $0.isIntact(path) }
        try #require(forms.count == 1, "the file is intact as \(forms.map(\.text))")
        return forms[0]
    }

    /// The number of the last transfer, in a file that only a part of the transactions cannot be missing
    /// from.
    func lastTransfer(_ path: String, _ form: FileForm) throws -> Int {
        let queue = try DatabaseQueue(path: path, configuration: form.configuration)
        defer { try? queue.close() }
        return try queue.read { db in
            try Bank.audit(db)
            return try Bank.lastNumber(db, teller: 1)
        }
    }

    /// Does the work again, and checks that it is complete then, with nothing left beside the file.
    ///
    /// - Parameters:
    ///   - changed: whether there is something to be done, if that is known.
    ///   - transfers: how many transfers there are.
    ///   - journalMayStay: whether a writer was killed too, whose journal has nothing to say yet, and goes
    ///     with the next write.
    func complete(
        _ path: String, changed: Bool? = nil, transfers: Int = FileWorkBench.transferCount,
        journalMayStay: Bool = false
    ) throws {
        let second = try KillableWorker.run("work", path, work.rawValue)
        try #require(second.status == 0, "\(second.outputText) \(second.errorText)")
        if let changed { #expect(second.outputText == (changed ? "changed\n" : "unchanged\n")) }
        #expect(try form(of: path) == work.after)
        let folder = (path as NSString).deletingLastPathComponent
        var names = try FileManager.default.contentsOfDirectory(atPath: folder)
        if journalMayStay, second.outputText == "unchanged\n" { names.removeAll { $0 == "bank.db-journal" } }
        #expect(names == ["bank.db"])
        let contents = try DatabaseFile(path: path).inspect(key: work.after.key, cipher: work.after.cipher)
        #expect(contents.journalMode == mode)
        #expect(try lastTransfer(path, work.after) == transfers)
    }
}
