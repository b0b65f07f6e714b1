internal import SQLCipherBridge

/// Keyrings of copies whose runs were killed before the copies got their names.
///
/// A keyring without its database may be all that opens a database that was moved. It is removed only where
/// the opposite is certain: the note of the killed run names the copy under its temporary name, the copy has
/// that name only, and its salt is the one that follows from the keyring.
struct LeftKeyrings {
    /// The path that stands for the copies in the names of notes: the same in all runs of one command.
    let place: String
    /// The database and the folder of backups with dates in their names.
    private let dated: (origin: BackupOrigin, folder: String)?

    var isDated: Bool { dated != nil }

    init(ofCopyAt path: String) {
        place = path
        dated = nil
    }

    init(ofBackupsOf path: String, in folder: String) throws {
        place = try BackupName.place(of: path, in: folder, at: .now).path
        dated = (try BackupOrigin(path), folder)
    }

    /// Removes the keyrings, and what the making of their files has left. The copies go when the next one is
    /// made at the same place.
    ///
    /// - Throws: `busy` where another process makes a copy at the place.
    func remove() throws {
        try LeftKeyrings.removeNotes(ofKeyring: "\(place).keys")
        try find { paths in
            for path in paths { try SystemFile.remove(path) }
            if !paths.isEmpty { try SystemFile.synchronize(directoryOf: place) }
        }
        if let dated { try StrayKeyring.removeBackups(of: dated.origin, in: dated.folder) }
    }

    /// Whether ``remove()`` would remove a keyring.
    var isThere: Bool { get throws { try find { !$0.isEmpty } } }

    /// Removes what a run has left that was killed while it made or changed the file of a keyring.
    static func removeNotes(ofKeyring path: String) throws {
        let names = NewFileNames(path: path)
        // Another process that changes the keyring now leaves nothing.
        guard try SystemFile.status(names.lock) != nil,
            let note = try? NoteFile.take(names.lock, next: names.nextLock)
        else { return }
        if let id = note.previous.flatMap({ RunIdentifier($0.id) }) {
            try SystemFile.remove(names.temporary(id))
        }
        try note.remove()
    }

    /// Calls `body` with the paths of the keyrings, while no other process makes a copy at the place.
    private func find<Result>(_ body: ([String]) throws -> Result) throws -> Result {
        let names = NewFileNames(path: place)
        guard try SystemFile.status(names.lock) != nil else { return try body([]) }
        let note: NoteFile
        do throws(DatabaseFileError) {
            note = try NoteFile.take(names.lock, next: names.nextLock)
        } catch {
            throw DatabaseFileError(
                error.reason, path: error.reason == .unsafeFile(.foreignNote) ? error.path : place)
        }
        // A note that was left stays for the next run, which removes the copy.
        defer { if !note.wasLeft { try? note.remove() } }
        guard let id = note.previous.flatMap({ RunIdentifier($0.id) }),
            let salt = try LeftKeyrings.salt(ofUnnamed: names.temporary(id))
        else { return try body([]) }
        let found = try candidates().filter { try LeftKeyrings.isLeft($0, salt: salt) }
        return try withExtendedLifetime(note) { try body(found) }
    }

    private func candidates() throws -> [String] {
        guard let dated else { return ["\(place).keys"] }
        return try StrayKeyring.all(of: dated.origin, in: dated.folder).map(\.path)
    }

    /// The salt of a copy under its temporary name; nil where it has another name as well, or is gone.
    private static func salt(ofUnnamed path: String) throws -> [UInt8]? {
        guard try SystemFile.status(path)?.isRegular == true else { return nil }
        let file = try FileDescriptor.openNote(path, forWriting: false)
        let status = try file.status()
        guard status.isRegular, status.linkCount == 1, status.isOwn || status.userID == 0 else { return nil }
        let salt = try file.read(at: 0, count: 16)
        return salt.count == 16 ? salt : nil
    }

    private static func isLeft(_ path: String, salt: [UInt8]) throws -> Bool {
        guard try SystemFile.status(String(path.dropLast(".keys".count))) == nil,
            let document = try? KeyringFile(path: path).trustedDocument(), document.generation == 1
        else { return false }
        return try KeyringCode.salt(id: document.id, epoch: document.epochs[0]) == salt
    }
}

/// A file in a folder of backups with the name of a backup's keyring, where the backup is not there.
struct StrayKeyring {
    let path: String
    private let backup: BackupName

    /// All of a database, whatever is in them.
    static func all(of origin: BackupOrigin, in folder: String) throws -> [StrayKeyring] {
        let names = try Set(SystemFile.names(in: folder))
        return names.compactMap { name in
            guard name.hasSuffix(".keys"), let backup = BackupName(String(name.dropLast(5)), of: origin),
                !names.contains(backup.text)
            else { return nil }
            return StrayKeyring(path: "\(folder == "/" ? "" : folder)/\(name)", backup: backup)
        }
    }

    /// Removes backups whose removal was interrupted after they had taken the place of their keyrings: they
    /// begin with the salt of their name.
    static func removeBackups(of origin: BackupOrigin, in folder: String) throws {
        for stray in try all(of: origin, in: folder) where try stray.isBackup() {
            try SystemFile.remove(stray.path)
        }
    }

    private func isBackup() throws -> Bool {
        guard try SystemFile.status(path)?.isRegular == true else { return false }
        let file = try FileDescriptor.openNote(path, forWriting: false)
        let status = try file.status()
        guard status.isRegular, status.isOwn, status.linkCount == 1 else { return false }
        let start = try file.read(at: 0, count: 16)
        guard start.count == 16, !start.starts(with: KeyringText.title.utf8) else { return false }
        return BackupName(database: backup.database, time: backup.time, start: start) == backup
    }
}

extension DatabaseKeyring {
    /// Removes the keyring if it is that of a copy that never got its name, and what else a killed run of
    /// the copy has left.
    package func removeLeft() throws {
        try translated {
            try LeftKeyrings(ofCopyAt: databasePath).remove()
            guard try SystemFile.status(databasePath) != nil else { return }
            // The run may have been killed after the copy had its name: the refusal removes what it has left.
            do { _ = try NewDatabaseFile.begin(path: databasePath, isPlaintext: false) } catch {}
        }
    }

    /// Whether ``removeLeft()`` would remove the keyring.
    package func isLeft() throws -> Bool {
        try translated { try LeftKeyrings(ofCopyAt: databasePath).isThere }
    }
}

extension DatabaseFile {
    /// Removes the keyrings that killed backups of this file have left in a folder.
    package func removeLeftKeyrings(in folder: String) throws {
        try DatabaseFileError.translated(path) {
            try LeftKeyrings(ofBackupsOf: path, in: folder).remove()
        }
    }
}
