internal import Foundation
internal import SQLCipherBridge

/// The note of a rotation in place, under the name that a rotation by copy gives to its own: should the process end in the middle, the next
/// rotation of either kind finds in it the journal mode that the file is to have.
struct InPlaceNote {
    /// Whether an interrupted run had left a note.
    let wasLeft: Bool
    private let journalMode: String
    /// Nil where the path of the file leaves no room for the name of a note.
    private let note: ReplacementNoteFile?
    private let path: String

    /// Makes the note, and removes what an interrupted rotation has left.
    ///
    /// - Parameter journalMode: the one that the file is in now.
    /// - Throws: `busy` when somebody else is rotating the key.
    init(_ path: String, journalMode: String, salt: [UInt8]) throws {
        self.path = path
        let names = ReplacementNames(path: path, operation: .rotate)
        note = try InPlaceNote.take(names.note, isOptional: journalMode != "wal")
        wasLeft = note?.wasLeft == true
        // An interrupted run has left the WAL mode, and did not come to set it again.
        self.journalMode = note?.previous?.journalMode == "wal" ? "wal" : journalMode
        guard let note else { return }
        do {
            try note.removeLeftovers(names, of: SystemFile.status(path))
            try note.write(
                ReplacementNote(
                    operation: .rotate, id: "in-place", step: "rekey", processID: ProcessInfo.processInfo.processIdentifier,
                    startedAt: Date(),
                    saltBefore: salt.hexadecimal, journalMode: self.journalMode))
            try SystemFile.synchronize(directory: SystemFile.directory(of: path))
            try FailPoint.noteMade.pass(path)
        } catch {
            if !wasLeft { try? note.remove() }
            throw error
        }
    }

    /// - Parameter isOptional: whether the work can do without a note, as there is nothing to come back to.
    private static func take(_ path: String, isOptional: Bool) throws(DatabaseFileError) -> ReplacementNoteFile? {
        do throws(DatabaseFileError) {
            return try ReplacementNoteFile.take(path)
        } catch {
            guard isOptional, error.reason == .pathTooLong else { throw error }
            return nil
        }
    }

    /// Completes a run that ended after the file had its new key, if there was one.
    ///
    /// - Parameter connection: one with the new key.
    /// - Returns: whether there was one.
    static func completeInterruptedRun(_ path: String, _ connection: ConnectionHandle) throws -> Bool {
        guard try !ReplacementNames.leftovers(of: path, operation: .rotate).isEmpty else { return false }
        let mode = try connection.firstText(trusted: "PRAGMA main.journal_mode") ?? "delete"
        let note = try InPlaceNote(path, journalMode: mode, salt: FileHeader(connection).salt)
        try note.restoreJournalMode(connection)
        try note.remove()
        return true
    }

    func restoreJournalMode(_ connection: ConnectionHandle) throws(EngineError) {
        guard journalMode == "wal" else { return }
        guard try connection.firstText(trusted: "PRAGMA main.journal_mode = WAL") == "wal" else {
            throw EngineError(code: EngineCode.busy, message: "The WAL mode could not be set again")
        }
    }

    /// Brings the file back to its mode. The note stays for the next run where this fails.
    func restoreAndRemove(_ connection: ConnectionHandle) throws {
        try restoreJournalMode(connection)
        try remove()
    }

    func remove() throws(DatabaseFileError) {
        guard let note else { return }
        try note.remove()
        try SystemFile.synchronize(directory: SystemFile.directory(of: path))
        try FailPoint.noteRemoved.pass(path)
    }
}
