internal import SQLCipherBridge

/// The note of a rotation in place, under the name that a rotation by copy gives to its own: should the
/// process end in the middle, the next rotation of either kind finds in it the journal mode that the file is
/// to have.
struct InPlaceNote {
    /// Whether an interrupted run had left a note.
    var wasLeft: Bool { note?.wasLeft == true }
    private let journalMode: JournalMode
    /// Nil where the path of the file leaves no room for the name of a note, and there is nothing to come
    /// back to.
    private let note: NoteFile?
    private let path: String

    /// Makes the note, and removes what an interrupted rotation has left.
    ///
    /// - Parameter journalMode: the one that the file is in now.
    /// - Throws: `busy` when another process is rotating the key.
    init(_ path: String, journalMode: JournalMode, salt: [UInt8]) throws {
        self.path = path
        let names = ReplacementNames(path: path, operation: .rotate)
        note = try InPlaceNote.take(names, isOptional: journalMode != .wal)
        // An interrupted run has left the WAL mode, and did not come to set it again.
        self.journalMode = note?.previous?.journalMode == JournalMode.wal.rawValue ? .wal : journalMode
        guard let note else { return }
        do {
            guard let status = try SystemFile.status(path) else {
                throw DatabaseFileError(.missing, path: path)
            }
            try note.removeLeftovers(names, of: status, at: path)
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

    /// - Parameter isOptional: whether the work can do without a note.
    private static func take(_ names: ReplacementNames, isOptional: Bool) throws(DatabaseFileError)
        -> NoteFile?
    {
        do throws(DatabaseFileError) {
            return try NoteFile.take(names.note, next: names.nextNote)
        } catch {
            guard isOptional, error.reason == .pathTooLong else { throw error }
            return nil
        }
    }

    /// Completes a run that ended after the file had its new key, if there was one.
    ///
    /// - Parameter connection: one with the new key, which is that of `protection`.
    /// - Returns: whether there was one.
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

    func restoreJournalMode(_ connection: ConnectionHandle, _ protection: FileProtection) throws {
        try connection.restore(journalMode, protection)
    }

    /// Brings the file back to its mode. The note stays for the next run where this fails.
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
