internal import Foundation
internal import Glibc
internal import SystemCalls

/// The state of an operation on a file, noted for the next run in case this one is interrupted. It contains
/// no secrets.
struct ReplacementNote: Codable, Equatable {
    var version = 2
    /// Nil while a new file is made.
    var operation: ReplacementOperation?
    /// The identifier of the run, which names its copy.
    var id: String
    var step: String
    var processID: Int32
    var startedAt: Date
    /// The salt of the old file, in hexadecimal digits; nil for plaintext.
    var saltBefore: String?
    var oldKeyID: String?
    /// The journal mode to restore.
    var journalMode: String?
    /// The path at which the old file is to be kept. It is absolute because the next run may have another
    /// working directory.
    var keepOldPath: String?
    var pageSize: Int?
    /// The identity of the old file, which is at `keepOldPath` afterwards.
    var original: FileIdentity?
    /// The identity of a copy of the old file, which takes its place at `keepOldPath`.
    var kept: FileIdentity?
    /// The SHA-256 of the keyring of which the old file gets a copy, in hexadecimal digits.
    var keyringDigest: String?
    /// The identity of the old file merged with its log, which has the name of the file until the new file
    /// does.
    var merged: FileIdentity?
    /// The times at which the old file and the merged copy were modified, in nanoseconds since 1970.
    var originalModified, mergedModified: Int64?
    /// The identity of the copy, which has the name of the file afterwards.
    var copy: FileIdentity?

    init(
        _ operation: ReplacementOperation?, id: RunIdentifier, step: String, journalMode: String? = nil,
        saltBefore: String? = nil
    ) {
        self.operation = operation
        self.id = id.text
        self.step = step
        self.journalMode = journalMode
        self.saltBefore = saltBefore
        processID = ProcessInfo.processInfo.processIdentifier
        startedAt = Date()
    }

    static func decode(_ bytes: [UInt8]) -> ReplacementNote? {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try? decoder.decode(ReplacementNote.self, from: Data(bytes))
    }

    func encoded() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return try Array(encoder.encode(self)) + [UInt8(ascii: "\n")]
    }
}

/// The file of a note, locked as long as its run is active: the lock distinguishes the note of a running
/// process from a leftover.
///
/// A leftover note is trusted only if no other user can have written it: it must be a regular file with one
/// name, belong to this user or the superuser, and not be writable by other users. A note is never modified,
/// but replaced as a whole by a new file that is locked already.
final class NoteFile {
    /// The note of an interrupted run; nil if there was no note, or if the run ended before it wrote the
    /// first one.
    let previous: ReplacementNote?
    /// True if there was a note.
    let wasLeft: Bool
    private let path: String
    private let next: String
    private var file: FileDescriptor
    /// The file that the run makes, under the name that only the note contains.
    private var copy: (path: String, identity: FileIdentity)?

    private init(
        _ path: String, next: String, file: consuming FileDescriptor, wasLeft: Bool,
        previous: ReplacementNote?
    ) {
        self.path = path
        self.next = next
        self.file = file
        self.wasLeft = wasLeft
        self.previous = previous
    }

    /// Locks a new note, or a leftover one.
    ///
    /// - Parameter next: the path at which new content is written before it replaces the note.
    /// - Throws: `busy` if the run that made the note is active, `unsafeFile(.foreignNote)` if the file is
    ///   not a note of ours.
    fileprivate static func lock(_ path: String, next: String) throws(DatabaseFileError) -> NoteFile {
        for _ in 0..<100 {
            do throws(DatabaseFileError) {
                let file = try FileDescriptor.create(path, mode: 0o600)
                guard file.lock() else { throw DatabaseFileError(.busy([]), path: path) }
                return NoteFile(path, next: next, file: file, wasLeft: false, previous: nil)
            } catch {
                guard error.reason == .exists else { throw error }
            }
            guard let status = try SystemFile.status(path) else { continue }
            if status.linkCount == 2, try SystemFile.status(next)?.identity == status.identity {
                // A power loss interrupted the renaming of a new note, and both names are present.
                try SystemFile.remove(next)
                continue
            }
            guard isOwn(status) else { throw DatabaseFileError(.unsafeFile(.foreignNote), path: path) }
            let file: FileDescriptor
            do throws(DatabaseFileError) {
                file = try FileDescriptor.openNote(path, forWriting: true)
            } catch {
                // The run that made the note has just ended.
                if case .inputOutput(_, ENOENT) = error.reason { continue }
                throw error
            }
            guard file.lock() else { throw DatabaseFileError(.busy([]), path: path) }
            // Now that the file is locked, check that the name still leads to it: its run may have replaced
            // it.
            let opened = try file.status()
            guard try SystemFile.status(path)?.identity == opened.identity else { continue }
            guard isOwn(opened) else { throw DatabaseFileError(.unsafeFile(.foreignNote), path: path) }
            let previous = ReplacementNote.decode(try file.read(at: 0, count: 65536))
            if previous == nil {
                guard isUnwritten(opened) else {
                    throw DatabaseFileError(.unsafeFile(.foreignNote), path: path)
                }
                // A run that has just created the note, or a shell that writes to a file of this name.
                guard try !isInUse(opened) else { throw DatabaseFileError(.busy([]), path: path) }
            }
            return NoteFile(path, next: next, file: file, wasLeft: true, previous: previous)
        }
        throw DatabaseFileError(.busy([]), path: path)
    }

    private static func isOwn(_ status: FileStatus) -> Bool {
        status.isRegular && status.linkCount == 1 && [0, geteuid()].contains(status.userID)
            && status.permissions & 0o022 == 0
    }

    /// Returns true if a file of ours is in the state that a crash leaves between creating a note and writing
    /// to it: empty, with its initial permissions. Any other file that is not a note belongs to the user, who
    /// may have given this name to a report of a rotation, and is never replaced or removed.
    private static func isUnwritten(_ status: FileStatus) -> Bool {
        status.size == 0 && status.permissions == 0o600
    }

    /// Returns true if the file is open elsewhere, for example in a shell that redirects the output of this
    /// process into it.
    private static func isInUse(_ status: FileStatus) throws(DatabaseFileError) -> Bool {
        guard try FileUsers.ownDescriptorCount(of: status) <= 1 else { return true }
        return try !FileUsers.others(of: status).isEmpty
    }

    /// Replaces the note in one step, which a crash leaves either done or not done.
    func write(_ note: ReplacementNote) throws {
        let bytes = try note.encoded()
        // A run may have been interrupted right here. Only the process that holds the lock uses this name.
        try SystemFile.remove(next)
        let new = try FileDescriptor.create(next, mode: 0o600)
        do {
            guard new.lock() else { throw DatabaseFileError(.busy([]), path: path) }
            try new.writeBeginning(bytes)
            try SystemFile.rename(next, to: path)
        } catch {
            try? SystemFile.remove(next)
            throw error
        }
        file = new
        try SystemFile.synchronize(directoryOf: path)
    }

    /// Creates the file of the run, after the note with its name was written.
    func makeCopy(_ path: String, isPlaintext: Bool = false) throws(DatabaseFileError) -> HeldFile {
        let file = try HeldFile(creating: path, isPlaintext: isPlaintext)
        copy = (path, try file.status().identity)
        return file
    }

    /// Removes the run's copy if it did not take its place, and the note, if its name still leads to it. The
    /// note stays if the copy cannot be removed.
    ///
    /// The run's changes are synced first. Otherwise a power loss could undo some of them when there is no
    /// longer a note to complete them from: for example, it could bring back the journal with which the
    /// engine would leave the WAL mode again.
    func remove() throws(DatabaseFileError) {
        if let copy, try SystemFile.status(copy.path)?.identity == copy.identity {
            try SystemFile.remove(copy.path)
        }
        try SystemFile.remove(next)
        guard try SystemFile.status(path)?.identity == file.status().identity else { return }
        try SystemFile.synchronizeAtFailure(directoryOf: path)
        try SystemFile.remove(path)
    }

    // MARK: - Looking at notes

    /// Returns the note at a path if it is one of ours and can be read, even if its run is active.
    static func read(_ path: String) -> ReplacementNote? {
        guard let file = try? FileDescriptor.openNote(path, forWriting: false),
            let status = try? file.status(), isOwn(status),
            let bytes = try? file.read(at: 0, count: 65536)
        else { return nil }
        return ReplacementNote.decode(bytes)
    }

    /// Returns true if there is a note of ours at a path.
    private static func isLeft(_ path: String) throws(DatabaseFileError) -> Bool {
        guard let status = try SystemFile.status(path), isOwn(status) else { return false }
        return isUnwritten(status) || read(path) != nil
    }

    /// Returns a leftover note, and the existing files that it names.
    static func leftovers(
        note: String, next: String, copy: (RunIdentifier) -> String
    ) throws(DatabaseFileError) -> [String] {
        var result: [String] = []
        if try isLeft(note) { result.append(note) }
        // In a shared directory, another user may have put a file there.
        if let status = try SystemFile.status(next), [0, geteuid()].contains(status.userID) {
            result.append(next)
        }
        if let id = read(note).flatMap({ RunIdentifier($0.id) }),
            let status = try SystemFile.status(copy(id)), status.isRegular
        {
            result.append(copy(id))
        }
        return result
    }
}

/// The stage in which this process has the lock of a note, and the files of the interrupted run that wrote it
/// may still exist.
///
/// Only the note contains the names of these files. So it cannot be replaced or removed in this stage, but
/// only as the ``NoteFile`` of ``cleared(removingFirst:)``, once the files are gone. At the end of this
/// value's life, a leftover note stays, and a new one is removed.
struct TakenNote: ~Copyable {
    /// The note of the interrupted run: see ``NoteFile/previous``.
    var previous: ReplacementNote? { file.previous }
    private let file: NoteFile
    private let copies: (RunIdentifier) -> [String]
    private var isCleared = false

    /// Creates the note, or takes over a leftover one.
    ///
    /// - Parameters:
    ///   - next: the path at which new content is written before it replaces the note.
    ///   - copies: returns the paths of the files that a run makes.
    /// - Throws: `busy` if the run that made the note is active, `unsafeFile(.foreignNote)` if the file is
    ///   not a note of ours.
    init(_ path: String, next: String, copies: @escaping (RunIdentifier) -> [String])
        throws(DatabaseFileError)
    {
        file = try NoteFile.lock(path, next: next)
        self.copies = copies
    }

    deinit {
        if !isCleared && !file.wasLeft { try? file.remove() }
    }

    /// Removes the leftover files, and returns the note for a new run. If it throws, a leftover note stays.
    ///
    /// - Parameter removeOthers: removes the files with other names than those of copies, before the copies.
    consuming func cleared(removingFirst removeOthers: (ReplacementNote) throws -> Void = { _ in }) throws
        -> NoteFile
    {
        try removeLeftovers(removingFirst: removeOthers)
        isCleared = true
        return file
    }

    /// Removes the leftover files, but not the note.
    func removeLeftovers(removingFirst removeOthers: (ReplacementNote) throws -> Void) throws {
        guard let previous else { return }
        try removeOthers(previous)
        guard let run = RunIdentifier(previous.id) else { return }
        for path in copies(run) { try SystemFile.remove(path) }
    }
}
