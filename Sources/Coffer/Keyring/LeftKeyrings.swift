package import Foundation
internal import SystemCalls

/// The keyrings of copies whose runs were killed before the copies got their names.
///
/// A keyring without its database may be the only way to open a database that was moved. So a keyring is
/// removed only if it certainly belongs to a killed run: the run's note names the copy under its temporary
/// name, the copy has only that name, and its salt is derived from the keyring.
struct LeftKeyrings {
    /// The path that stands for the copies in the names of notes: the same in all runs of a command.
    let place: String
    /// The origin and the folder, for backups with dates in their names.
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

    /// Removes the keyrings, and leftover files from their creation. The copies are removed when the next one
    /// is made at the same place.
    ///
    /// - Throws: `busy` if another process is making a copy at the place.
    func remove() throws {
        try LeftKeyrings.removeNotes(ofKeyring: "\(place).keys")
        try find { paths in
            for path in paths { try SystemFile.remove(path) }
            if !paths.isEmpty { try SystemFile.synchronize(directoryOf: place) }
        }
        try LeftKeyrings.removeNotes(ofKeyring: "\(place).keys")
        if let dated { try StrayKeyring.removeBackups(of: dated.origin, in: dated.folder) }
    }

    /// True if ``remove()`` would remove a keyring.
    var isThere: Bool { get throws { try find { !$0.isEmpty } } }

    /// Removes the leftover files of a run that was killed while it created or changed a keyring, unless they
    /// show that the database of the keyring is still to be made.
    static func removeNotes(ofKeyring path: String) throws {
        let names = NewFileNames(path: path)
        if KeyringFile(path: path).isBeingMade, try SystemFile.status(path) != nil,
            let database = path.without(ending: ".keys"),
            (try? DatabaseKeyring(databasePath: database).isOfDatabase()) != true
        {
            return
        }
        // If another process is changing the keyring now, it removes the leftovers itself.
        guard try SystemFile.status(names.lock) != nil, let note = try? names.takeNote() else { return }
        try note.cleared().remove()
    }

    /// Removes these files, and returns their paths.
    static func removedNotes(ofKeyring path: String) throws -> [String] {
        let notes = try NewFileNames.leftovers(of: path)
        try removeNotes(ofKeyring: path)
        return try notes.filter { try SystemFile.status($0) == nil }
    }

    /// Calls `body` with the paths of the keyrings, and holds the lock that prevents other processes from
    /// making a copy at the place.
    private func find<Result>(_ body: ([String]) throws -> Result) throws -> Result {
        let names = NewFileNames(path: place)
        guard try SystemFile.status(names.lock) != nil else { return try body([]) }
        // A leftover note stays for the next run, which removes the copy.
        let note: TakenNote
        do throws(DatabaseFileError) {
            note = try names.takeNote()
        } catch {
            throw DatabaseFileError(
                error.reason, path: error.reason == .unsafeFile(.foreignNote) ? error.path : place)
        }
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

    /// Returns the salt of a copy under its temporary name; nil if it has another name as well, or is gone.
    fileprivate static func salt(ofUnnamed path: String) throws -> [UInt8]? {
        guard try SystemFile.status(path)?.isRegular == true else { return nil }
        let file = try FileDescriptor.openNote(path, forWriting: false)
        let status = try file.status()
        guard status.isRegular, status.linkCount == 1, status.isOwn || status.userID == 0 else { return nil }
        let salt = try file.read(at: 0, count: 16)
        return salt.count == 16 ? salt : nil
    }

    private static func isLeft(_ path: String, salt: [UInt8]) throws -> Bool {
        guard let copy = path.without(ending: ".keys"), try SystemFile.status(copy) == nil,
            let document = try? KeyringFile(path: path).trustedDocument(), document.generation == 1
        else { return false }
        return try KeyringCode.salt(id: document.id, epoch: document.epochs[0]) == salt
    }
}

/// A file in a folder of backups that has the name of a backup's keyring, but whose backup is missing.
struct StrayKeyring {
    let path: String
    private let backup: BackupName

    /// Returns all such files of a database, without reading them.
    static func all(of origin: BackupOrigin, in folder: String) throws -> [StrayKeyring] {
        let names = try Set(SystemFile.names(in: folder))
        return names.compactMap { name in
            guard let backup = name.without(ending: ".keys").flatMap({ BackupName($0, of: origin) }),
                !names.contains(backup.text)
            else { return nil }
            return StrayKeyring(path: "\(folder == "/" ? "" : folder)/\(name)", backup: backup)
        }
    }

    /// Removes backups whose removal was interrupted after they were renamed over their keyrings. Such a file
    /// begins with the salt in its name.
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
    /// Removes the keyring if it belongs to a copy that never got its name, and the other leftover files of
    /// the copy's killed run.
    package func removeLeft() throws {
        try DatabaseFileError.translated(path) {
            try LeftKeyrings(ofCopyAt: databasePath).remove()
            guard try SystemFile.status(databasePath) != nil else { return }
            // The run may have been killed after the copy got its name. Starting a new file, which fails,
            // removes its leftover files.
            do { _ = try NewDatabaseFile.begin(path: databasePath, isPlaintext: false) } catch {}
        }
    }

    /// Returns true if ``removeLeft()`` would remove the keyring.
    package func isLeft() throws -> Bool {
        try DatabaseFileError.translated(path) { try LeftKeyrings(ofCopyAt: databasePath).isThere }
    }
}

extension DatabaseKeyring {
    /// Returns true if the database has, or had, a data key of this keyring; nil if it is missing or empty.
    /// Needs no secret, because the salt of the database is derived from the keyring.
    package func isOfDatabase() throws -> Bool? {
        try located { place in try place.isOfDatabase(place.file.document().document) }
    }

    /// True if a run is creating the keyring and its database, or was killed, and the database does not have
    /// the keyring's data key.
    package var isBeingMade: Bool {
        (try? located { $0.file.isBeingMade }) == true && (try? isOfDatabase()) != true
    }

    /// Removes the keyring that a killed ``adopt(_:key:options:progress:)`` or
    /// ``adopt(_:lockTimeout:restoring:)`` left. It opens nothing: the copy that got its data key still has
    /// its temporary name, which only the note of that run contains.
    ///
    /// - Parameter lockTimeout: the time to wait for other changes of the keyring to finish, in seconds.
    /// - Returns: false if the keyring may open a database. It stays then.
    package func removeLeftOfAdoption(lockTimeout: TimeInterval) throws -> Bool {
        try located { place in
            let file = place.file
            let copies = place.copiesOfKilledAdoptions()
            return try file.changing(
                waiting: lockTimeout, staysInMaking: { !$0 && (try? isOfDatabase()) != true }
            ) { bytes, _ in
                let document = try file.document(of: bytes).document
                guard document.generation == 1, try place.isOfDatabase(document) == false,
                    try copies.contains(where: { copy in
                        try LeftKeyrings.salt(ofUnnamed: copy).map {
                            try document.isOfDatabase(salt: $0, file)
                        } == true
                    })
                else { return false }
                try file.destroy(bytes)
                return true
            }
        }
    }
}

extension KeyringPlace {
    /// Returns the temporary paths of the copies that a killed rotation or restore may have left.
    fileprivate func copiesOfKilledAdoptions() -> [String] {
        let rotation = ReplacementNames(path: ownPath, operation: .rotate)
        let restore = NewFileNames(path: ownPath)
        func run(_ note: ReplacementNote?) -> RunIdentifier? { note.flatMap { RunIdentifier($0.id) } }
        var copies = [run(NoteFile.read(rotation.note)).map(rotation.copy)]
        // A restore also makes a copy with the salt of a keyring that was there before. Only the process that
        // made the keyring has written both notes.
        let restored = NoteFile.read(restore.lock)
        if let restored, restored.processID == file.adoptionMark?.processID {
            copies.append(run(restored).map(restore.temporary))
        }
        return copies.compactMap(\.self)
    }

    /// Returns true if the database has, or had, a data key of a keyring; nil if it is missing or empty.
    func isOfDatabase(_ document: KeyringDocument) throws -> Bool? {
        do {
            guard let salt = try databaseSalt() else { return nil }
            return try document.isOfDatabase(salt: salt, file)
        } catch let error as KeyError {
            guard case .plaintextFile = error.failure else { throw error }
            return false
        }
    }
}

extension KeyringDocument {
    /// Returns true if a database with this salt has a data key of the keyring, or of an earlier or later
    /// state of it.
    fileprivate func isOfDatabase(salt: [UInt8], _ file: KeyringFile) throws(KeyError) -> Bool {
        do throws(KeyError) {
            _ = try epoch(ofSalt: salt, file)
            return true
        } catch {
            switch error.failure {
            case .keyring(_, .ofAnotherFile): return false
            case .keyring(_, .olderThanFile), .keyring(_, .newerThanFile): return true
            default: throw error
            }
        }
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
