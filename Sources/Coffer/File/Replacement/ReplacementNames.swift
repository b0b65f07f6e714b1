/// The names of what a replacement keeps beside the file.
struct ReplacementNames {
    let path: String
    let operation: ReplacementOperation

    /// The note of what is going on.
    var note: String { "\(path).\(operation.rawValue).json" }

    /// The copy, named by the identifier of one run: 8 hexadecimal digits.
    func copy(id: String) -> String { "\(path).\(operation.rawValue)-\(id)" }

    /// What SQLite may keep beside a database file.
    static func companions(of path: String) -> [String] { ["-journal", "-wal", "-shm"].map { path + $0 } }

    /// Whatever runs of this operation, that did not come to their end, have left beside the file; without the note.
    func leftoverCopies() throws(DatabaseFileError) -> [String] {
        let directory = SystemFile.directory(of: path)
        let prefix = SystemFile.name(of: path) + ".\(operation.rawValue)-"
        let names = try SystemFile.names(in: directory).filter { name in
            guard name.hasPrefix(prefix) else { return false }
            let rest = name.dropFirst(prefix.count)
            let isNumbered = rest.prefix(8).utf8.count == 8 && rest.prefix(8).utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
            return isNumbered && ["", "-journal", "-wal", "-shm"].contains(String(rest.dropFirst(8)))
        }
        return names.sorted().map { directory == "/" ? "/\($0)" : path.contains("/") ? "\(directory)/\($0)" : $0 }
    }

    /// What interrupted runs of any operation have left beside a file, and of the making of the file as a copy.
    static func leftovers(of path: String) throws(DatabaseFileError) -> [String] {
        var result: [String] = []
        for operation in ReplacementOperation.allCases { result += try leftovers(of: path, operation: operation) }
        return try result + NewFileNames.leftovers(of: path)
    }

    /// What interrupted runs of one operation have left beside a file.
    static func leftovers(of path: String, operation: ReplacementOperation) throws(DatabaseFileError) -> [String] {
        let names = ReplacementNames(path: path, operation: operation)
        return try (SystemFile.status(names.note) == nil ? [] : [names.note]) + names.leftoverCopies()
    }
}

/// The works that give a file new content, or make a new file from one.
enum ReplacementOperation: String, Sendable, CaseIterable, Codable {
    case rotate, upgrade, encrypt, decrypt, vacuum
}
