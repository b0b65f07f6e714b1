internal import Coffer
internal import Foundation

/// Facts about a file that is about to be erased, and about the files next to it that stay.
struct ErasedFileFacts {
    private let path: String
    private let inspection: DatabaseFile.Inspection?

    init(of path: String) {
        self.path = path
        // The erasure itself reports the problem of a file that cannot be read.
        inspection = try? DatabaseFile(path: path).inspect()
    }

    /// True for a database without encryption of which an erasure overwrites only the start.
    var isLargePlaintext: Bool {
        guard let inspection else { return false }
        return inspection.kind == .plaintext && inspection.size > 65536
    }

    func checkIsDatabase() throws(Failure) {
        guard inspection?.kind == .notADatabase else { return }
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
