internal import Coffer
internal import Glibc
internal import SystemCalls

/// A file to work on, or a place in a folder that cannot be looked at.
struct FoundFile: Sendable {
    let path: String
    /// Identifies the file, however the path of its folder was typed.
    var place: String
    /// The reason that the file cannot be opened or the folder cannot be searched, if it cannot.
    var problem: Failure?

    /// Creates a file that the user named.
    init(_ path: String) { (self.path, place) = (path, path) }

    fileprivate init(_ path: String, place: String, problem: Failure? = nil) {
        (self.path, self.place, self.problem) = (path, place, problem)
    }
}

/// Finds the databases below folders.
///
/// Links are not followed. The files of SQLite and Coffer next to databases are left out. A folder without
/// permission, a name that is not UTF-8 and a pipe with the name of a database become problems of their own,
/// so that they stop no work on other files.
struct FileSearch {
    /// The files that are found without patterns.
    enum Usual {
        case databases, databasesAndBackups
    }

    /// Shell patterns for names. If empty, the usual files are found.
    let patterns: [String]
    let usual: Usual
    /// Called for each folder; throws to end the search.
    let checkpoint: () throws -> Void

    /// The endings of the usual files, for the help.
    static let usualEndings = [".db", ".db3", ".sqlite", ".sqlite3"]

    /// Returns the named files, and the databases in the named folders instead of these. Each is returned
    /// once, even if it is named and in a folder.
    func files(of paths: [String]) throws -> [FoundFile] {
        var seen: Set<FileIdentity> = []
        // Bytes, because strings that compare equal may name different files.
        var places: Set<[UInt8]> = []
        return try paths.flatMap { path in
            guard FileSearch.isFolder(path) else {
                let place = FileSearch.place(FileNames.name(of: path), in: FileNames.folder(of: path))
                return places.insert(place).inserted ? [FoundFile(path)] : []
            }
            return try files(in: path, &seen).filter { places.insert(Array($0.place.utf8)).inserted }
        }
    }

    /// Returns the place of a named file as files in folders have it. Links are named files of their own.
    private static func place(_ name: String, in folder: String) -> [UInt8] {
        let folder = FileNames.canonical(folder)
        return Array((folder == "/" ? "/" + name : "\(folder)/\(name)").utf8)
    }

    static func isFolder(_ path: String) -> Bool {
        (try? FileStatus(path, followsLinks: true))?.isDirectory ?? false
    }

    // MARK: The search

    /// - Parameter seen: the folders that were searched. A mount or another argument may show one of them
    ///   again: its files are not repeated.
    private func files(in folder: String, _ seen: inout Set<FileIdentity>) throws -> [FoundFile] {
        var folder = folder
        while folder != "/", let shorter = folder.without(ending: "/") { folder = shorter }
        var (found, waiting) = ([FoundFile](), [FoundFile(folder, place: FileNames.canonical(folder))])
        var isPartlyKnown = false
        while let next = waiting.popLast() {
            try checkpoint()
            guard let status = try? FileStatus(next.path, followsLinks: next.path == folder) else { continue }
            guard seen.insert(status.identity).inserted else {
                isPartlyKnown = true
                continue
            }
            do throws(Errno) {
                try search(next, &found, &waiting)
            } catch {
                let failure = Failure(error, "The folder cannot be searched", denied: .inputMissing)
                found.append(FoundFile(next.path, place: next.place, problem: failure))
            }
        }
        guard !found.isEmpty || isPartlyKnown else {
            return [FoundFile(folder, place: FileNames.canonical(folder), problem: noFile)]
        }
        return found.sorted { $0.path < $1.path }
    }

    private var noFile: Failure {
        let names =
            patterns.isEmpty
            ? "whose name ends in \(FileSearch.usualEndings.joined(separator: ", ")). Give --name for others"
            : "that --name fits"
        return Failure(.inputMissing, "no_files", "The folder has no file \(names).")
    }

    /// Looks at all entries of a folder, and throws the first error.
    private func search(_ folder: FoundFile, _ found: inout [FoundFile], _ waiting: inout [FoundFile])
        throws(Errno)
    {
        var problem: Errno?
        for name in try Folder.names(in: folder.path) {
            do throws(Errno) { try add(name, of: folder, &found, &waiting) } catch {
                // The file may have been removed in the meantime. Any other entry may be a database.
                if error.code != ENOENT { problem = problem ?? error }
            }
        }
        if let problem { throw problem }
    }

    private func add(
        _ name: [UInt8], of folder: FoundFile, _ found: inout [FoundFile], _ waiting: inout [FoundFile]
    ) throws(Errno) {
        let start = folder.path == "/" ? "/" : folder.path + "/"
        let bytes = Array(start.utf8) + name
        let status = try FileSearch.status(bytes)
        guard !status.isSymbolicLink, status.isDirectory || isWanted(name) else { return }
        guard let text = String(validating: name, as: UTF8.self) else {
            // Converted to text, the name would be another one.
            let place = "\0" + bytes.map { String($0, radix: 16) }.joined(separator: " ")
            let path = String(decoding: bytes, as: UTF8.self)
            found.append(FoundFile(path, place: place, problem: FileNames.notUTF8))
            return
        }
        let file = FoundFile(
            start + text, place: folder.place == "/" ? "/" + text : "\(folder.place)/\(text)")
        if status.isDirectory {
            waiting.append(file)
        } else if status.isRegular {
            found.append(file)
        } else {
            let problem = Failure(.inputMissing, "not_a_file", "This is not a regular file.")
            found.append(FoundFile(file.path, place: file.place, problem: problem))
        }
    }

    private static func status(_ path: [UInt8]) throws(Errno) -> FileStatus {
        let name = path.map(CChar.init(bitPattern:)) + [0]
        return try unsafe FileStatus(named: name)
    }

    // MARK: Names

    private static let sideEndings = ["-wal", "-shm", "-journal", ".keys"].map { Array($0.utf8) }

    private func isWanted(_ name: [UInt8]) -> Bool {
        let isOurs =
            name.starts(with: ".coffer-".utf8)
            || FileSearch.sideEndings.contains { name.suffix($0.count).elementsEqual($0) }
        guard !isOurs else { return false }
        guard patterns.isEmpty else { return patterns.contains { FileSearch.fits(name, $0) } }
        let text = String(decoding: name, as: UTF8.self)
        return FileSearch.usualEndings.contains(where: text.lowercased().hasSuffix)
            || usual == .databasesAndBackups && DatabaseFile.isNameOfDatedBackup(text)
    }

    private static func fits(_ name: [UInt8], _ pattern: String) -> Bool {
        let name = name.map(CChar.init(bitPattern:)) + [0]
        return unsafe fnmatch(pattern, name, 0) == 0
    }
}
