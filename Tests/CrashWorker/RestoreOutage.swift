import Coffer
import CofferTestSupport
import Foundation

/// The restores that `Tests/power-loss` records, and its checks of the states that a power loss may leave.
/// See ``OutageWork`` for the arguments and answers.
///
/// The backup `safe.db` in the same folder replaces the database, which is kept as `old.db`. The database has
/// more transfers than the backup. In the mode `wal`, the last ones are in a log that a killed process has
/// left. In `restoreKeyring`, the database has a keyring, which the kept file gets a copy of.
enum RestoreOutage: String {
    case restore, restoreKeyring

    private static let backup = FileForm.encrypted(0x17)
    private static let secret = DatabaseKeyring.Secret.rawKey([UInt8](repeating: 1, count: 32))
    /// The number of transfers of the database that is replaced.
    private static let transferCount = OutageWork.transferCount + 4

    func main(_ arguments: [String]) throws {
        switch arguments[0] {
        case "make": try make(arguments[3], mode: arguments[2])
        case "run": try change(arguments[3], keeping: "old.db", audit: { RestoreOutage.say("changed") })
        case "judge": try judge()
        default: throw CocoaError(.featureUnsupported)
        }
    }

    private static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

    private func path(_ name: String, beside path: String) -> String {
        (path as NSString).deletingLastPathComponent + "/" + name
    }

    // MARK: - The work

    private func make(_ path: String, mode: String) throws {
        let form = FileForm.encrypted(0x42)
        try RotationWork.make(
            [
                self.path("safe.db", beside: path), RestoreOutage.backup.text, "\(OutageWork.transferCount)",
                "delete",
            ])
        try RotationWork.make([path, form.text, "\(OutageWork.transferCount)", mode])
        if self == .restoreKeyring, let key = form.key {
            try DatabaseKeyring(databasePath: path).adopt([.secret(RestoreOutage.secret)], key: key)
        }
        let queue = try DatabaseQueue(path: path, configuration: oldConfiguration)
        try queue.write { db in
            for number in OutageWork.transferCount + 1...RestoreOutage.transferCount {
                try Bank.transfer(db, teller: 1, number: number, noteSize: 5000)
            }
        }
        // Closing the connection copies the log into the file, so the files are put back afterwards.
        let files = try (mode == "wal" ? [path, "\(path)-wal"] : []).map { name in
            (name, try Data(contentsOf: URL(fileURLWithPath: name)))
        }
        try queue.close()
        for (name, content) in files { try content.write(to: URL(fileURLWithPath: name)) }
    }

    private func change(_ path: String, keeping name: String, audit: @escaping @Sendable () -> Void = {})
        throws
    {
        var options = DatabaseFile.ConversionOptions()
        options.keepOldPath = self.path(name, beside: path)
        options.audit = { _ in audit() }
        options.keepsKeyring = self == .restoreKeyring
        let backup = self.path("safe.db", beside: path)
        func restore(_ newKey: DatabaseKey?) throws {
            // As the tool does: `keepingKeyring` holds the lock that the public method would take.
            _ = try DatabaseFile(path: backup).perform(
                .restore(to: path, RestoreOutage.backup.key, newKey: newKey), options: options, progress: nil)
        }
        guard self == .restoreKeyring else { return try restore(nil) }
        try DatabaseKeyring(databasePath: path).keepingKeyring(
            unlockedBy: RestoreOutage.secret, lockTimeout: 0, restoring: restore)
    }

    private var oldConfiguration: Configuration {
        guard self == .restoreKeyring else { return FileForm.encrypted(0x42).configuration }
        return Configuration().with { $0.key = .keyring(unlockedBy: RestoreOutage.secret) }
    }

    private var newConfiguration: Configuration {
        self == .restoreKeyring ? oldConfiguration : RestoreOutage.backup.configuration
    }

    // MARK: - The check

    private struct Loss: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    private func judge() throws {
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 4 else { throw CocoaError(.featureUnsupported) }
            do {
                let isRestored = try judge(words[0], isDone: words[3] == "1")
                let form = isRestored ? RestoreOutage.backup : .encrypted(0x42)
                RestoreOutage.say("good \(form.text) \(transferCount(isRestored: isRestored))")
            } catch {
                RestoreOutage.say("lost \(error)".replacingOccurrences(of: "\n", with: " "))
            }
        }
    }

    private func transferCount(isRestored: Bool) -> Int {
        isRestored ? OutageWork.transferCount : RestoreOutage.transferCount
    }

    /// Checks that the database is the old or the restored one, and that the next restore completes, both
    /// after the database was used and without that.
    private func judge(_ path: String, isDone: Bool) throws -> Bool {
        let folder = (path as NSString).deletingLastPathComponent
        let unused = folder + "-used"
        try copyKeepingLinks(folder, to: unused)
        // A merged copy of the old file and its log may have the path already.
        let old = self.path("old.db", beside: path)
        let isKept = fileNumber(old).map { $0 != fileNumber(path) } ?? false
        let isRestored = try isRestored(path)
        guard isRestored || !isDone else { throw Loss("the work was reported as done, and is not") }
        guard isKept || !isRestored else { throw Loss("the old file is not kept") }
        if isRestored { try checkContent(of: old, isRestored: false) }
        try checkCompletes(path, wasRestored: isRestored, isKept: isKept, "after it was used, ")
        try FileManager.default.removeItem(atPath: folder)
        try FileManager.default.moveItem(atPath: unused, toPath: folder)
        try checkCompletes(path, wasRestored: isRestored, isKept: isKept, "")
        return isRestored
    }

    private func fileNumber(_ path: String) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.systemFileNumber] as? Int
    }

    /// Copies a folder. Two names of one file are so in the copy too, and notes identify the copies.
    private func copyKeepingLinks(_ folder: String, to copy: String) throws {
        let files = FileManager.default
        try files.createDirectory(atPath: copy, withIntermediateDirectories: false)
        var copies: [Int: String] = [:]
        for name in try files.contentsOfDirectory(atPath: folder) {
            let (old, new) = ("\(folder)/\(name)", "\(copy)/\(name)")
            let number = fileNumber(old)
            if let number, let first = copies[number] {
                try files.linkItem(atPath: first, toPath: new)
            } else {
                try files.copyItem(atPath: old, toPath: new)
                if let number { copies[number] = new }
            }
        }
        for note in copies.values where (note as NSString).lastPathComponent.hasPrefix(".coffer-") {
            guard var text = try? String(contentsOfFile: note, encoding: .utf8) else { continue }
            for (old, path) in copies {
                guard let new = fileNumber(path) else { continue }
                text.replace("\"inode\" : \(old)\n", with: "\"inode\" : \(new)\n")
            }
            try Data(text.utf8).write(to: URL(fileURLWithPath: note))
        }
    }

    /// Opens the database, as an application would after the power loss.
    private func isRestored(_ path: String) throws -> Bool {
        if self == .restoreKeyring {
            let last = try lastTransfer(of: path, oldConfiguration)
            guard [false, true].map(transferCount(isRestored:)).contains(last) else {
                throw Loss("transfer \(last) is the last one")
            }
            return last == transferCount(isRestored: true)
        }
        var (opened, failures): ([Bool], [any Error]) = ([], [])
        for isRestored in [false, true] {
            do {
                try checkContent(of: path, isRestored: isRestored)
                opened.append(isRestored)
            } catch {
                failures.append(error)
            }
        }
        guard opened.count == 1 else { throw Loss("\(opened.count) keys open the database: \(failures)") }
        return opened[0]
    }

    private func lastTransfer(of path: String, _ configuration: Configuration) throws -> Int {
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        let last = try queue.read { db in
            try Bank.audit(db)
            return try Bank.lastNumber(db, teller: 1)
        }
        try Bank.inspect(queue)
        try queue.close()
        return last
    }

    private func checkContent(of path: String, isRestored: Bool) throws {
        let last = try lastTransfer(of: path, isRestored ? newConfiguration : oldConfiguration)
        guard last == transferCount(isRestored: isRestored) else {
            throw Loss("transfer \(last) is the last one of \((path as NSString).lastPathComponent)")
        }
    }

    /// Repeats the restore, and expects the restored database, the kept ones, and no other files.
    private func checkCompletes(_ path: String, wasRestored: Bool, isKept: Bool, _ when: String) throws {
        do { try change(path, keeping: "older.db") } catch {
            throw Loss("\(when)the next run failed: \(error)")
        }
        var databases = [(path, true), (self.path("older.db", beside: path), wasRestored)]
        if wasRestored { databases.append((self.path("old.db", beside: path), false)) }
        for (path, isRestored) in databases { try checkContent(of: path, isRestored: isRestored) }
        let endings = self == .restoreKeyring ? ["", ".keys"] : [""]
        let expected = databases.flatMap { path, _ in
            endings.map { (path as NSString).lastPathComponent + $0 }
        }
        // An interrupted restore that has merged the log into the database leaves the file and the log of
        // before. The log has the name of the database's log too, and may have been emptied under that name.
        let left = isKept && !wasRestored ? ["old.db", "old.db-wal", "old.db.keys"] : []
        let names = try FileManager.default.contentsOfDirectory(
            atPath: (path as NSString).deletingLastPathComponent)
        guard Set(names).subtracting(left) == Set(expected + ["safe.db"]) else {
            throw Loss("\(when)there are \(names.sorted())")
        }
    }
}
