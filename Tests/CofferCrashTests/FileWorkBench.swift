import Coffer
import CofferTestSupport
import Foundation
import Testing

/// Creates files for work that is killed, and checks their invariants afterwards.
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

    /// Makes a new file in its own folder, in the form that the work starts from.
    func makeFile() throws -> String {
        let path = try directory.makeFolder(UUID().uuidString) + "/bank.db"
        try FileManager.default.copyItem(atPath: template, toPath: path)
        return path
    }

    func remove(_ path: String) throws {
        try FileManager.default.removeItem(atPath: (path as NSString).deletingLastPathComponent)
    }

    /// Returns the time that an undisturbed process takes for the work, in microseconds.
    func duration() throws -> UInt32 {
        let path = try makeFile()
        let start = Date()
        try #require(KillableWorker.run("work", path, work.rawValue).outputText == "changed\n")
        defer { try? remove(path) }
        return UInt32(Date().timeIntervalSince(start) * 1_000_000)
    }

    /// Returns the form of the file. In exactly one form, every page must be authentic and the structure
    /// intact. Changes nothing.
    func form(of path: String) throws -> FileForm {
        let forms = [work.before, work.after].filter { $0.isIntact(path) }
        try #require(forms.count == 1, "the file is intact as \(forms.map(\.text))")
        return forms[0]
    }

    /// Returns the number of the last transfer. Also checks that no transaction is only partly present.
    func lastTransfer(_ path: String, _ form: FileForm) throws -> Int {
        let queue = try DatabaseQueue(path: path, configuration: form.configuration)
        defer { try? queue.close() }
        return try queue.read { db in
            try Bank.audit(db)
            return try Bank.lastNumber(db, teller: 1)
        }
    }

    /// Returns the names of the files in the folder of a file that are plaintext databases.
    func plaintextFiles(beside path: String) throws -> [String] {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
            try Data(contentsOf: folder.appendingPathComponent($0)).starts(with: Data("SQLite format 3".utf8))
        }
    }

    /// Repeats the work and checks that it completes and leaves nothing next to the file.
    ///
    /// - Parameters:
    ///   - changed: the expected answer to whether there is work to do, or nil if it is unknown.
    ///   - transfers: the number of transfers.
    ///   - journalMayStay: true if a writer was killed too. Its journal contains no changes yet and
    ///     disappears with the next write.
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
