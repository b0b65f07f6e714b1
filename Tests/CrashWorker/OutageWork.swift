import Coffer
import CofferTestSupport
import Foundation

/// The work that `Tests/power-loss` records, and its checks of the states that a power loss may leave.
///
/// Arguments: `outage make|run|judge WORK delete|wal|extra`, followed by the path except for `judge`. `extra`
/// is a mode of `commit`: `delete` with `synchronous = EXTRA`.
enum OutageWork: String {
    case rotate, rotateInPlace, encrypt, decrypt, upgrade, vacuum, commit, live, liveInUse

    /// The number of transfers in a new file.
    static let transferCount = 20
    /// The number of further transfers that `commit` and `live` make.
    private static let commitCount = 24

    static func main(_ arguments: [String]) throws {
        if let work = KeyringOutage(rawValue: arguments[1]) { return try work.main(arguments) }
        if let work = RestoreOutage(rawValue: arguments[1]) { return try work.main(arguments) }
        guard let work = OutageWork(rawValue: arguments[1]),
            ["delete", "wal", "extra"].contains(arguments[2])
        else {
            throw CocoaError(.featureUnsupported)
        }
        switch arguments[0] {
        case "make": try work.make(arguments[3], mode: arguments[2])
        case "run": try work.run(arguments[3], mode: arguments[2])
        case "judge": try work.judge(mode: arguments[2])
        default: throw CocoaError(.featureUnsupported)
        }
    }

    private var fileWork: FileWork? { isLive ? .rotate : FileWork(rawValue: rawValue) }

    /// True if the work uses a queue or pool.
    private var isInUse: Bool { self == .commit || isLive }

    /// True if the key is rotated between transfers.
    private var isLive: Bool { self == .live || self == .liveInUse }

    private var before: FileForm { fileWork?.before ?? .encrypted(0x42) }

    private var after: FileForm { fileWork?.after ?? .encrypted(0x42) }

    // MARK: - The work

    private func make(_ path: String, mode: String) throws {
        try RotationWork.make([path, before.text, "\(OutageWork.transferCount)", mode])
        guard self == .vacuum else { return }
        // Free pages, for the vacuum to remove.
        let queue = try DatabaseQueue(path: path, configuration: before.configuration)
        try queue.write { db in
            try db.execute(
                sql:
                    "CREATE TABLE ballast (content BLOB); INSERT INTO ballast VALUES (randomblob(40000)); DROP TABLE ballast"
            )
        }
        try queue.close()
    }

    /// Prints `changed` at the point where the work would be recorded. `commit` and `live` print the number
    /// of each transfer after its commit.
    private func run(_ path: String, mode: String) throws {
        if isInUse {
            try use(path, mode: mode)
        } else {
            guard try change(path, audit: { OutageWork.say("changed") }) else {
                throw Loss("there was nothing to do")
            }
        }
    }

    /// Does the work on a closed file. Returns false if there was nothing to do.
    private func change(_ path: String, audit: @escaping @Sendable () -> Void = {}) throws -> Bool {
        let file = DatabaseFile(path: path)
        var rotation = DatabaseFile.RotationOptions()
        rotation.method = self == .rotateInPlace ? .inPlace : .copy
        rotation.audit = { _ in audit() }
        var options = DatabaseFile.ConversionOptions()
        options.audit = { _ in audit() }
        guard let key = before.key ?? after.key else { throw Loss("there is no key") }
        return switch self {
        case .rotate, .rotateInPlace:
            try file.rotate(from: key, to: after.key ?? key, options: rotation).isChanged
        case .encrypt: try file.encrypt(key: key, options: options).isChanged
        case .decrypt:
            try file.decrypt(key: key, confirming: .contentBecomesReadableByAnyone, options: options)
                .isChanged
        case .upgrade: try file.upgrade(key: key, options: options).isChanged
        case .vacuum: try file.vacuum(key: key, options: options).isChanged
        case .commit, .live, .liveInUse: throw Loss("this is no work on a closed file")
        }
    }

    /// Returns the queue or pool for work on a file in use, with Coffer's settings.
    private func writer(_ path: String, _ form: FileForm, mode: String) throws -> any DatabaseWriter {
        // Transactions that exceed the cache are written to the file before they are committed.
        var configuration = form.configuration.with { $0.pageCacheSize = 64 * 1024 }
        if mode == "extra" {
            configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = EXTRA") }
        }
        return mode == "wal"
            ? try DatabasePool(path: path, configuration: configuration)
            : try DatabaseQueue(path: path, configuration: configuration)
    }

    private func use(_ path: String, mode: String) throws {
        let writer = try writer(path, before, mode: mode)
        for number in OutageWork.transferCount + 1...OutageWork.transferCount + OutageWork.commitCount {
            // Most transfers take one page, some take a few, and one exceeds the cache.
            let noteSize = number % 16 == 0 ? 100_000 : number % 5 == 0 ? 9000 : 50
            try writer.write { try Bank.transfer($0, teller: 1, number: number, noteSize: noteSize) }
            OutageWork.say("\(number)")
            if isLive, number == OutageWork.transferCount + 12, let key = after.key {
                var options = DatabaseFile.RotationOptions()
                if self == .liveInUse { options.whileInUse = DatabaseFile.WhileInUse() }
                try writer.rotateKey(to: key, options: options)
                OutageWork.say("changed")
            }
            // Checkpoints that keep the WAL, and one that truncates it, so later transactions overwrite its
            // frames.
            if mode == "wal", number % 6 == 0 {
                try writer.writeWithoutTransaction {
                    _ = try $0.checkpoint(number % 18 == 0 ? .truncate : .passive)
                }
            }
        }
        try writer.close()
    }

    private static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

    // MARK: - The check

    private struct Loss: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    /// Reads a line of standard input for each state: `PATH LEAST MOST DONE`. The file at the path is in its
    /// own folder, which is consumed. The number of transfers must be between `LEAST` and `MOST`. `DONE` is 1
    /// if the work was reported as done.
    ///
    /// Prints `good FORM TRANSFERS` for the state as found, or `lost` and the reason.
    private func judge(mode: String) throws {
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 4, let least = Int(words[1]), let most = Int(words[2]) else {
                throw CocoaError(.featureUnsupported)
            }
            do {
                let found =
                    isInUse
                    ? try judgeUse(words[0], mode: mode, transfers: least...most, isDone: words[3] == "1")
                    : try judgeChange(words[0], mode: mode, isDone: words[3] == "1")
                OutageWork.say("good \(found)")
            } catch {
                OutageWork.say("lost \(error)".replacingOccurrences(of: "\n", with: " "))
            }
        }
    }

    private func judgeUse(_ path: String, mode: String, transfers: ClosedRange<Int>, isDone: Bool) throws
        -> String
    {
        let form = try form(of: path, isDone: isDone)
        let writer = try writer(path, form, mode: mode)
        let last = try writer.read { db in
            try Bank.audit(db)
            return try Bank.lastNumber(db, teller: 1)
        }
        guard transfers.contains(last) else {
            throw Loss("transfer \(last) is the last one, and not one of \(transfers)")
        }
        try writer.write { try Bank.transfer($0, teller: 1, number: last + 1, noteSize: 9000) }
        try Bank.inspect(writer)
        try writer.close()
        if isLive, let key = before.key, let newKey = after.key {
            // The next rotation removes the leftovers of the one in use.
            let isChanged = try DatabaseFile(path: path).rotate(from: key, to: newKey).isChanged
            guard isChanged == (form != after), after.isIntact(path) else {
                throw Loss("the next rotation did not complete")
            }
        }
        try checkNothingIsLeft(beside: path)
        return "\(form.text) \(last)"
    }

    /// Returns the one form in which the file is intact.
    private func form(of path: String, isDone: Bool) throws -> FileForm {
        let forms = Set([before, after]).filter { $0.isIntact(path) }
        guard let form = forms.first, forms.count == 1 else {
            throw Loss("the file is intact as \(forms.map(\.text).sorted())")
        }
        guard !isDone || form == after else {
            throw Loss("the work was reported as done, and the file is \(form.text)")
        }
        return form
    }

    private func judgeChange(_ path: String, mode: String, isDone: Bool) throws -> String {
        let form = try form(of: path, isDone: isDone)
        // The file may or may not be used before the work continues, so both states are checked.
        let folder = (path as NSString).deletingLastPathComponent
        let copy = folder + "-used"
        try FileManager.default.copyItem(atPath: folder, toPath: copy)
        defer { try? FileManager.default.removeItem(atPath: copy) }
        let copiedPath = copy + "/" + (path as NSString).lastPathComponent
        let freePages = try checkContent(copiedPath, form)
        guard self != .vacuum || !isDone || freePages == 0 else {
            throw Loss("the vacuum was reported as done, and there are free pages")
        }
        try checkCompletes(copiedPath, mode: mode, from: form, "after it was used, ")
        try checkCompletes(path, mode: mode, from: form, "")
        return "\(form.text) \(OutageWork.transferCount)"
    }

    /// Returns the number of free pages.
    private func checkContent(_ path: String, _ form: FileForm) throws -> Int {
        let queue = try DatabaseQueue(path: path, configuration: form.configuration)
        let (last, freePages) = try queue.read { db in
            try Bank.audit(db)
            return (
                try Bank.lastNumber(db, teller: 1), try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
            )
        }
        try queue.close()
        guard last == OutageWork.transferCount else { throw Loss("transfer \(last) is the last one") }
        return freePages
    }

    /// Repeats the work and expects a single file, changed and complete.
    private func checkCompletes(_ path: String, mode: String, from form: FileForm, _ when: String) throws {
        do {
            let isChanged = try change(path)
            guard self == .vacuum || isChanged == (form != after) else {
                throw Loss(
                    "the file was \(form.text), and the next run said \(isChanged ? "changed" : "unchanged")")
            }
        } catch let error as DatabaseFileError {
            throw Loss("\(when)the next run failed: \(error)")
        }
        guard after.isIntact(path) else { throw Loss("\(when)the next run left the file not intact") }
        let journalMode = try DatabaseFile(path: path).inspect(key: after.key, cipher: after.cipher)
            .journalMode
        guard journalMode == mode else {
            throw Loss("\(when)the next run left the file in journal mode \(journalMode) instead of \(mode)")
        }
        try checkNothingIsLeft(beside: path)
        let freePages = try checkContent(path, after)
        guard self != .vacuum || freePages == 0 else { throw Loss("\(when)the next run left free pages") }
        try checkNothingIsLeft(beside: path)
    }

    private func checkNothingIsLeft(beside path: String) throws {
        let names = try FileManager.default.contentsOfDirectory(
            atPath: (path as NSString).deletingLastPathComponent
        ).sorted()
        guard names == [(path as NSString).lastPathComponent] else { throw Loss("there are \(names)") }
    }
}
