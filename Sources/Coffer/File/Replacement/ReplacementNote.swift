internal import Foundation

/// What is going on with a file, for the next run should this one be interrupted. It has no secrets in it.
struct ReplacementNote: Codable, Equatable {
    var version = 1
    var operation: ReplacementOperation
    /// The identifier of the run, which names its copy.
    var id: String
    var step: String
    var processID: Int32
    var startedAt: Date
    /// Of the file as it was, as hexadecimal digits; nil for plaintext.
    var saltBefore: String?
    var oldKeyID: String?
    /// The mode that the file is in at the end again.
    var journalMode: String?
    var keepOldPath: String?
    var pageSize: Int?
}

/// The file of a note, locked as long as its run lives: the lock tells a note of a running work from one that was left.
final class ReplacementNoteFile {
    /// What a run that was interrupted has noted, as far as it can be read.
    let previous: ReplacementNote?
    /// Whether there was a note.
    let wasLeft: Bool
    private let file: Descriptor

    private init(file: consuming Descriptor, wasLeft: Bool, previous: ReplacementNote?) {
        self.file = file
        self.wasLeft = wasLeft
        self.previous = previous
    }

    /// Makes the note, or takes over one that was left.
    ///
    /// - Throws: `busy` when the run that made it lives.
    static func take(_ path: String) throws(DatabaseFileError) -> ReplacementNoteFile {
        for _ in 0..<100 {
            do throws(DatabaseFileError) {
                let file = try Descriptor.create(path, mode: 0o600)
                guard file.lock() else { throw DatabaseFileError(.busy([]), path: path) }
                return ReplacementNoteFile(file: file, wasLeft: false, previous: nil)
            } catch {
                guard error.reason == .exists else { throw error }
            }
            guard let status = try SystemFile.status(path) else { continue }
            guard status.isRegular else { throw DatabaseFileError(.unsafeFile(.notARegularFile), path: path) }
            let file: Descriptor
            do throws(DatabaseFileError) {
                file = try Descriptor.open(path, forWriting: true)
            } catch {
                // Its run has just come to its end.
                if case .inputOutput(_, ENOENT) = error.reason { continue }
                throw error
            }
            guard file.lock() else { throw DatabaseFileError(.busy([]), path: path) }
            guard let now = try SystemFile.status(path), now.isSameFile(as: try file.status()) else { continue }
            let content = try file.read(at: 0, count: 65536)
            return ReplacementNoteFile(file: file, wasLeft: true, previous: try? decoder.decode(ReplacementNote.self, from: Data(content)))
        }
        throw DatabaseFileError(.busy([]), path: path)
    }

    /// Removes what the run that has left this note, or one before, has left beside the file, without the note.
    ///
    /// - Parameter status: of the file.
    func removeLeftovers(_ names: ReplacementNames, of status: FileStatus?) throws(DatabaseFileError) {
        for leftover in try names.leftoverCopies() { try SystemFile.remove(leftover) }
        if let kept = previous?.keepOldPath, let status, try SystemFile.status(kept)?.isSameFile(as: status) == true {
            // The run was to put its copy in place next.
            try SystemFile.remove(kept)
        }
    }

    func write(_ note: ReplacementNote) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        try file.replaceContent(with: Array(encoder.encode(note)) + [UInt8(ascii: "\n")])
    }

    func remove() throws(DatabaseFileError) {
        try SystemFile.remove(file.path)
    }

    /// The note at a path, if there is one and it can be read; whether its run lives does not matter.
    static func read(_ path: String) -> ReplacementNote? {
        guard let bytes = try? Descriptor.open(path).read(at: 0, count: 65536) else { return nil }
        return try? decoder.decode(ReplacementNote.self, from: Data(bytes))
    }

    private static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }
}
