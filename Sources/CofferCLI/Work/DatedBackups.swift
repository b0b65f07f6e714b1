internal import Coffer
internal import Foundation
internal import SystemCalls

/// The dated backups in a folder.
struct DatedBackups {
    private struct Entry {
        let backup: DatabaseFile.DatedBackup
        let size: Int64
        /// The reason why the file is not proved to be a backup that was made under its name, or nil.
        let objection: String?

        var keyring: String? {
            let path = backup.path + ".keys"
            return NewFile.exists(path) ? path : nil
        }
    }

    private let folder: String
    /// The oldest one first.
    private let entries: [Entry]

    /// Returns the backups of one database, or of all databases.
    ///
    /// - Parameter owner: a user whose files count too; nil for the owner of the database.
    init(in folder: String, of database: String?, owner: UInt32? = nil) throws {
        self.folder = folder
        let backups =
            try database.map { try DatabaseFile(path: $0).backups(in: folder) }
            ?? DatabaseFile.allBackups(in: folder)
        let owner = owner ?? database.flatMap(DatedBackups.owner)
        entries = try backups.compactMap { backup in
            // Links and folders of such a name are no backups.
            guard let status = try? FileStatus(backup.path), status.isRegular else { return nil }
            return Entry(backup: backup, size: status.size, objection: try backup.objection(owner: owner))
        }
    }

    /// Returns the owner of a database, or nil if there is none. The owner of a symbolic link does not count.
    private static func owner(of database: String) -> UInt32? {
        guard let status = try? FileStatus(database), status.isRegular else { return nil }
        return status.userID
    }

    // MARK: Listing

    func list(_ reporter: Reporter) {
        let places = Dictionary(grouping: entries, by: \.backup.databaseName).mapValues { named in
            Set(named.map(\.backup.databasePlace)).count
        }
        let lines = entries.map { entry in
            let backup = entry.backup
            // The digits distinguish databases of the same name in different folders.
            let isOneOfSeveral = places[backup.databaseName].map { $0 > 1 } ?? false
            return [
                backup.databaseName + (isOneOfSeveral ? " (\(backup.databasePlace))" : ""),
                DatedBackups.words(for: backup), TextLayout.size(entry.size),
                entry.keyring == nil ? "no keyring" : "keyring",
                FileNames.name(of: backup.path) + (entry.objection.map { " (not proved: \($0))" } ?? ""),
            ]
        }
        for (entry, line) in zip(entries, TextLayout.table(lines)) {
            reporter.result(
                [
                    "path": entry.backup.path, "database": entry.backup.databaseName,
                    "place": entry.backup.databasePlace, "time": DatedBackups.text(of: entry.backup),
                    "size": entry.size, "keyring": entry.keyring, "unproved": entry.objection,
                ], text: [line], isAnswer: true)
        }
        if entries.isEmpty { reporter.note("\(harmless: folder): no dated backups") }
    }

    /// Formats the time of a backup for people, in UTC.
    private static func words(for backup: DatabaseFile.DatedBackup) -> String {
        "\(text(of: backup).dropLast(5).replacing("T", with: " ")) UTC"
    }

    /// Formats the time of a backup for programs, such as `2026-11-22T21:45:12.345Z`.
    private static func text(of backup: DatabaseFile.DatedBackup) -> String {
        var text = backup.timeText
        for offset in [4, 7, 13, 16] {
            let index = text.index(text.startIndex, offsetBy: offset)
            text.insert(offset < 8 ? "-" : ":", at: index)
        }
        return text
    }

    /// The precision of names. Fractions of it are rounding errors.
    private static func milliseconds(_ date: Date) -> Int64 {
        Int64((date.timeIntervalSince1970 * 1000).rounded())
    }

    // MARK: Choosing

    /// A backup to restore, and its description for people.
    struct Choice {
        let path: String
        let words: String
    }

    /// Returns the database in the current folder of which all dated backups in a folder are.
    static func databaseHere(of folder: String) throws -> String {
        guard let status = try? FileStatus(folder, followsLinks: true), status.isDirectory else {
            throw Failure.usage("Give the database to replace: coffer restore \(folder) DATABASE")
        }
        let names = try names(in: folder)
        if names.count == 1, let name = names.first, try !DatedBackups(in: folder, of: name).entries.isEmpty {
            return name
        }
        throw Failure.usage(
            "Give the database to replace: coffer restore \(folder) \(names.first ?? "DATABASE")"
                + (names.count > 1 ? ", or another of \(names.joined(separator: ", "))." : ""))
    }

    /// Returns the names of the databases that have dated backups in a folder, sorted.
    private static func names(in folder: String) throws -> [String] {
        Set(try DatedBackups(in: folder, of: nil).entries.map(\.backup.databaseName)).sorted()
    }

    /// Returns sentences about the backups of other databases in a folder.
    private static func others(in folder: String) throws -> String {
        let names = try names(in: folder)
        guard !names.isEmpty else { return "" }
        return
            " It has backups of \(names.joined(separator: ", ")). For a database of another name, give the "
            + "backup itself: 'coffer backup --list \(folder)' shows them."
    }

    /// Returns the latest backup of a database in a folder.
    ///
    /// A database that was moved, or is restored on another machine, has no backups of its own: then all of
    /// its name count, if they are of one database. Files that are not proved to be backups do not count.
    ///
    /// - Parameter end: nil, or the time before which the backup was made.
    static func latest(of database: String, in folder: String, before end: Date?, _ reporter: Reporter) throws
        -> Choice
    {
        let name = FileNames.name(of: database)
        let owner = owner(of: database)
        var entries = try DatedBackups(in: folder, of: database).entries
        try checkIsSafe(folder, owner: owner)
        let isMoved = !entries.contains { $0.objection == nil }
        if isMoved {
            entries = try DatedBackups(in: folder, of: nil, owner: owner).entries.filter {
                $0.backup.databaseName.utf8.elementsEqual(name.utf8)
            }
        }
        for entry in entries {
            guard let objection = entry.objection else { continue }
            reporter.warning(
                "\(harmless: entry.backup.path): is not proved to be a backup, so it does not count: "
                    + "\(objection).")
        }
        let fileCount = entries.count
        entries.removeAll { $0.objection != nil }
        if isMoved {
            let count = Set(entries.map(\.backup.databasePlace)).count
            guard count <= 1 else {
                throw Failure.usage(
                    "'\(folder)' has backups of \(count) databases named '\(name)', and none of the one at "
                        + "this path. List them with 'coffer backup --list', and name the file.")
            }
        }
        let now = Date()
        for entry in entries where entry.backup.date > now {
            reporter.warning(
                "\(harmless: entry.backup.path): is dated in the future, so it does not count: a clock is or "
                    + "was wrong. To restore it, name the file.")
        }
        entries.removeAll { $0.backup.date > now }
        let limit = end.map(milliseconds) ?? .max
        guard let chosen = entries.last(where: { milliseconds($0.backup.date) < limit }) else {
            throw Failure(
                .inputMissing, "missing",
                entries.isEmpty
                    ? "'\(folder)' has no dated backup of '\(name)'"
                        + (fileCount == 0 ? ".\(try others(in: folder))" : " that counts.")
                    : "'\(folder)' has no backup of '\(name)' before that time. The oldest is of "
                        + "\(words(for: entries[0].backup)).")
        }
        let place = isMoved ? ", when it was at another path" : ""
        return Choice(
            path: chosen.backup.path,
            words: "\(harmless: chosen.backup.path): the backup of \(words(for: chosen.backup))\(place), "
                + "\(counted: entries.count, "backup") in the folder")
    }

    private static func checkIsSafe(_ folder: String, owner: UInt32?) throws {
        do {
            try DatabaseFile.checkIsSafe(backupFolder: folder, owner: owner)
        } catch let error as DatabaseFileError {
            var failure = Failure(error)
            guard case .unsafeFile(.sharedDirectory) = error.reason else { throw failure }
            failure = Failure(
                failure.status, failure.reason,
                "'\(folder)': Other users can rename files in this folder, so names do not show which backup "
                    + "is the latest. List them with 'coffer backup --list', and name the file.")
            throw failure
        }
    }
}
