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

    /// Names the old files that other commands have kept: next to the database under names that the tool
    /// gives, and elsewhere according to the audit log.
    func tellKeptFiles(_ log: AuditLog?, _ reporter: Reporter) {
        let (name, folder) = (FileNames.name(of: path), FileNames.folder(of: path))
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let found = names.sorted().filter { ErasedFileFacts.isKept($0, of: name) }
            .map { String(path.dropLast(name.count) + $0) }
        let logged = Set((try? log?.keptOldPaths(of: FileNames.canonical(path))) ?? [])
            .subtracting(found.map(FileNames.canonical))
        for place in found + logged.filter(NewFile.exists).sorted() {
            let isPlaintext = (try? DatabaseFile(path: place).inspect().kind) == .plaintext
            reporter.warning(
                "'\(place)' is \(isPlaintext ? "its content without encryption" : "an old file of it"), and "
                    + "stays. To erase it: coffer erase \(CommandWords.quoted(place)) --yes-erase "
                    + CommandWords.quoted(FileNames.name(of: place)))
        }
    }

    /// Returns true for the names under which commands keep an old file without `--keep-old`.
    private static func isKept(_ file: String, of name: String) -> Bool {
        guard ![".keys", "-journal", "-wal", "-shm"].contains(where: file.hasSuffix) else { return false }
        return ["\(name).plaintext", "\(name).encrypted"].contains(file)
            || file.hasPrefix("\(name).replaced-")
    }
}
