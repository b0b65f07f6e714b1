internal import SQLCipherBridge

/// The note of a rotation in place. It has the same name as the note of a rotation by copy, so that after a
/// crash the next rotation of either kind finds the journal mode to restore.
struct InPlaceNote {
    /// True if an interrupted run had left a note.
    var wasLeft: Bool { note?.wasLeft == true }
    private let journalMode: JournalMode
    /// Nil if the path of the file leaves no room for the name of a note, and there is no journal mode to
    /// restore.
    private let note: NoteFile?
    private let path: String

    /// Creates the note, and removes the leftovers of an interrupted rotation.
    ///
    /// - Parameter journalMode: the file's current mode.
    /// - Throws: `busy` if another process is rotating the key.
    init(_ path: String, journalMode: JournalMode, salt: [UInt8]) throws {
        self.path = path
        let names = ReplacementNames(path: path, operation: .rotate)
        note = try InPlaceNote.take(names, isOptional: journalMode != .wal)
        // An interrupted run left the WAL mode, and ended before it set it again.
        self.journalMode = note?.previous?.journalMode == JournalMode.wal.rawValue ? .wal : journalMode
        guard let note else { return }
        do {
            try NewDatabaseFile.removeLeftovers(before: .rotate, of: path)
            try note.write(
                ReplacementNote(
                    .rotate, id: .random(), step: "rekey", journalMode: self.journalMode.rawValue,
                    saltBefore: salt.hexadecimal))
            try FailPoint.noteMade.pass(path)
        } catch {
            if !wasLeft { try? note.remove() }
            throw error
        }
    }

    /// Creates the note, or takes over the note of an interrupted rotation, and removes its leftovers.
    ///
    /// - Parameter isOptional: whether the rotation can work without a note.
    private static func take(_ names: ReplacementNames, isOptional: Bool) throws -> NoteFile? {
        guard let status = try SystemFile.status(names.path) else {
            throw DatabaseFileError(.missing, path: names.path)
        }
        do {
            return try names.takeNote().cleared(of: status, at: names.path)
        } catch let error as DatabaseFileError {
            guard isOptional, error.reason == .pathTooLong else { throw error }
            return nil
        }
    }

    /// Completes a run that was interrupted after the file had its new key.
    ///
    /// - Parameter connection: a connection with the new key, which is the key of `protection`.
    /// - Returns: whether there was such a run.
    static func completeInterruptedRun(
        _ path: String, _ connection: ConnectionHandle, _ protection: FileProtection
    ) throws -> Bool {
        guard try !ReplacementNames.leftovers(of: path, operation: .rotate).isEmpty else { return false }
        let note = try InPlaceNote(
            path, journalMode: connection.journalMode(), salt: FileHeader(connection).salt)
        try note.restoreJournalMode(connection, protection)
        try note.remove()
        return true
    }

    /// Restores the file's journal mode. Removes the empty journal of the key change, if it exists: SQLite
    /// deletes a truncated journal when the mode changes.
    func restoreJournalMode(_ connection: ConnectionHandle, _ protection: FileProtection) throws {
        if try connection.journalMode() != .wal {
            _ = try connection.firstText(trusted: "PRAGMA main.journal_mode = TRUNCATE")
            _ = try connection.firstText(trusted: "PRAGMA main.journal_mode = DELETE")
        }
        try connection.restore(journalMode, protection)
    }

    /// Restores the file's journal mode and removes the note. If this fails, the note stays for the next run.
    func restoreAndRemove(_ connection: ConnectionHandle, _ protection: FileProtection) throws {
        try restoreJournalMode(connection, protection)
        try remove()
    }

    func remove() throws {
        guard let note else { return }
        try note.remove()
        try SystemFile.synchronize(directoryOf: path)
        try FailPoint.noteRemoved.pass(path)
    }
}
