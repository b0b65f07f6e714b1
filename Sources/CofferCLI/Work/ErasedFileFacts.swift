internal import Foundation
internal import SystemCalls

/// Facts about a file that is about to be erased, and about the files next to it that stay.
struct ErasedFileFacts {
    enum Kind {
        /// Encrypted, or anything else that could be.
        case encrypted
        case plaintext
        case other
    }

    let kind: Kind
    let size: Int64
    private let path: String

    init(of path: String) {
        self.path = path
        guard let status = try? FileStatus(path), status.isRegular, status.size > 0,
            let file = FileHandle(forReadingAtPath: path),
            let start = try? file.read(upToCount: 4096)
        else {
            // The erasure itself reports the problem.
            (kind, size) = (.encrypted, 0)
            return
        }
        size = status.size
        kind =
            if start.starts(with: Array("SQLite format 3\0".utf8)) {
                .plaintext
            } else {
                // An encrypted page has a random salt and no form.
                status.size % 512 == 0 && !ErasedFileFacts.isText(start) ? .encrypted : .other
            }
    }

    /// Returns true if the start of a file is UTF-8 without NUL, except for a character that it cuts.
    private static func isText(_ start: Data) -> Bool {
        !start.contains(0) && (0...3).contains { String(bytes: start.dropLast($0), encoding: .utf8) != nil }
    }

    func checkIsDatabase() throws(Failure) {
        guard kind == .other else { return }
        throw Failure(
            .badData, "not_a_database",
            "'\(path)' is not a database, and was not erased. If it is to be erased, add --any-file."
        ).about(path)
    }

    /// Names the old files that other commands have kept next to the database.
    func tellKeptFiles(_ reporter: Reporter) {
        let (name, folder) = (FileNames.name(of: path), FileNames.folder(of: path))
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for kept in names.sorted() where kept == "\(name).plaintext" || kept.hasPrefix("\(name).replaced-") {
            guard ![".keys", "-journal", "-wal", "-shm"].contains(where: kept.hasSuffix) else { continue }
            let place = path.dropLast(name.count) + kept
            let words = kept.hasSuffix(".plaintext") ? "its content without encryption" : "an old file of it"
            reporter.warning(
                "'\(place)' is \(words), and stays. To erase it: coffer erase \(place) --yes-erase \(kept)")
        }
    }
}
