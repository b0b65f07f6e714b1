internal import Foundation

internal import Glibc
internal import SQLCipherBridge

/// What is going on with a file, for the next run should this one be interrupted. It has no secrets in it.
struct ReplacementNote: Codable, Equatable {
    var version = 2
    /// Nil for the making of a new file.
    var operation: ReplacementOperation?
    /// The identifier of the run, which names its copy.
    var id: String
    var step: String
    var processID: Int32
    var startedAt: Date
    /// Of the file as it was, as hexadecimal digits; nil for plaintext.
    var saltBefore: String?
    var oldKeyID: String?
    /// The journal mode to restore.
    var journalMode: String?
    /// Where the old file is to be kept. Absolute: the next run may be in another directory.
    var keepOldPath: String?
    var pageSize: Int?
    /// The file as it was, which the name given by `keepOldPath` leads to afterwards.
    var original: FileIdentity?
    /// The copy, which the name of the file leads to afterwards.
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

/// The file of a note, locked as long as its run lives: the lock distinguishes the note of a running process
/// from one that was left.
///
/// A note that was left is believed only if no other user can have written it: a regular file with one name,
/// that belongs to this user or the superuser, and that no other user may write to. It is never changed, but
/// replaced by a new file as a whole, which has the lock already.
final class NoteFile {
    /// What an interrupted run has noted; nil when there was no note, and for one that was cut off before its
    /// first words.
    let previous: ReplacementNote?
    /// Whether there was a note.
    let wasLeft: Bool
    private let path: String
    private let next: String
    private var file: FileDescriptor

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

    /// Makes the note, or takes over one that was left.
    ///
    /// - Parameter next: where new content is written before it takes the place of the note.
    /// - Throws: `busy` when the run that made it lives, `unsafeFile(.foreignNote)` for one that is not ours.
    static func take(_ path: String, next: String) throws(DatabaseFileError) -> NoteFile {
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
                // A loss of power has left the renaming of a new note done by half.
                try SystemFile.remove(next)
                continue
            }
            guard isOwn(status) else { throw DatabaseFileError(.unsafeFile(.foreignNote), path: path) }
            let file: FileDescriptor
            do throws(DatabaseFileError) {
                file = try FileDescriptor.openNote(path, forWriting: true)
            } catch {
                // Its run has just come to its end.
                if case .inputOutput(_, ENOENT) = error.reason { continue }
                throw error
            }
            guard file.lock() else { throw DatabaseFileError(.busy([]), path: path) }
            // What was opened is what has the name, also now that it is locked: its run may have replaced it.
            let opened = try file.status()
            guard try SystemFile.status(path)?.identity == opened.identity else { continue }
            guard isOwn(opened) else { throw DatabaseFileError(.unsafeFile(.foreignNote), path: path) }
            let previous = ReplacementNote.decode(try file.read(at: 0, count: 65536))
            guard previous != nil || isUnwritten(opened) && !isInUse(opened) else {
                throw DatabaseFileError(.unsafeFile(.foreignNote), path: path)
            }
            return NoteFile(path, next: next, file: file, wasLeft: true, previous: previous)
        }
        throw DatabaseFileError(.busy([]), path: path)
    }

    private static func isOwn(_ status: FileStatus) -> Bool {
        status.isRegular && status.linkCount == 1 && [0, geteuid()].contains(status.userID)
            && status.permissions & 0o022 == 0
    }

    /// Whether a file of ours is what a crash leaves between the making of a note and its first words.
    /// Whatever else is no note is a file of the user's, who may call a report of a rotation so, and is never
    /// replaced or removed.
    private static func isUnwritten(_ status: FileStatus) -> Bool {
        status.size == 0 && status.permissions == 0o600
    }

    /// Whether anybody else has the file open, such as a shell that directs the output of this process into
    /// it.
    private static func isInUse(_ status: FileStatus) -> Bool {
        FileUsers.ownDescriptorCount(of: status) > 1 || !FileUsers.others(of: status).isEmpty
    }

    /// Puts a new note in the place of the one before, in one step that a crash leaves done or not done.
    func write(_ note: ReplacementNote) throws {
        let bytes = try note.encoded()
        // Of a run that was interrupted right here. Who has the lock is the only one to use this name.
        try SystemFile.remove(next)
        let new = try FileDescriptor.create(next, mode: 0o600)
        do {
            guard new.lock() else { throw DatabaseFileError(.busy([]), path: path) }
            try new.writeAll(bytes)
            try SystemFile.rename(next, to: path)
        } catch {
            try? SystemFile.remove(next)
            throw error
        }
        file = new
        try SystemFile.synchronize(directoryOf: path)
    }

    /// Removes the note, if its name still leads to it.
    ///
    /// What the run has done is permanent by then, so that a loss of power does not bring back what nobody
    /// would complete without the note: such as the journal by which the engine would leave the WAL mode
    /// again.
    func remove() throws(DatabaseFileError) {
        try SystemFile.remove(next)
        guard try SystemFile.status(path)?.identity == file.status().identity else { return }
        try SystemFile.synchronize(directoryOf: path)
        try SystemFile.remove(path)
    }

    // MARK: - Looking at notes

    /// The note at a path, if it is one of ours and can be read; whether its run lives does not matter.
    static func read(_ path: String) -> ReplacementNote? {
        guard let file = try? FileDescriptor.openNote(path, forWriting: false),
            let status = try? file.status(), isOwn(status),
            let bytes = try? file.read(at: 0, count: 65536)
        else { return nil }
        return ReplacementNote.decode(bytes)
    }

    /// Whether there is a note of ours at a path.
    private static func isLeft(_ path: String) throws(DatabaseFileError) -> Bool {
        guard let status = try SystemFile.status(path), isOwn(status) else { return false }
        return isUnwritten(status) || read(path) != nil
    }

    /// A note that was left, and those files that exist of what it names.
    static func leftovers(
        note: String, next: String, copy: (RunIdentifier) -> String
    ) throws(DatabaseFileError) -> [String] {
        var result: [String] = []
        if try isLeft(note) { result.append(note) }
        if try SystemFile.status(next) != nil { result.append(next) }
        if let id = read(note).flatMap({ RunIdentifier($0.id) }),
            let status = try SystemFile.status(copy(id)), status.isRegular
        {
            result.append(copy(id))
        }
        return result
    }
}
