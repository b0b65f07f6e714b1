internal import SystemCalls

/// The names of the files that a replacement keeps next to the database.
///
/// Only the name of the note contains the database's name, so that people can see it. The other names begin
/// with `.coffer-`, which users do not choose for files of their own, and such files are removed only if a
/// note of ours names them.
struct ReplacementNames {
    let path: String
    let operation: ReplacementOperation

    /// The note about the run in progress.
    var note: String { "\(path).\(operation.rawValue).json" }

    /// The path at which a note is written before it replaces the previous one. The file exists only briefly.
    var nextNote: String { beside.path("-\(operation.rawValue).note") }

    /// The copy, named by the identifier of one run.
    func copy(_ id: RunIdentifier) -> String { beside.path("-\(id.text).\(operation.rawValue)") }

    /// Creates the note, or takes over a leftover one.
    func takeNote() throws(DatabaseFileError) -> TakenNote {
        try TakenNote(note, next: nextNote, copies: { [copy($0)] })
    }

    private var beside: NamesBeside { NamesBeside(path: path) }

    fileprivate static let endings = ["-journal", "-wal", "-shm"]

    /// The paths of the files that SQLite may keep next to a database file.
    static func companions(of path: String) -> [String] { endings.map { path + $0 } }

    /// Throws if no new file may have a path: see ``DatabaseFile/objection(toNameOf:)``.
    static func checkIsNoCompanion(_ path: String) throws(DatabaseFileError) {
        guard let objection = DatabaseFile.objection(toNameOf: path) else { return }
        throw DatabaseFileError(.unsupported(objection), path: path)
    }

    /// Throws if an old file cannot be kept under a name, because the database's own files have such names.
    static func checkCanKeep(_ kept: String, of path: String) throws(DatabaseFileError) {
        try checkIsNoCompanion(kept)
        guard !(notes(of: path) + ["\(path).keys"]).contains(kept) else {
            throw DatabaseFileError(
                .unsupported("This name is for a file that belongs to the database. Choose another name."),
                path: kept)
        }
    }

    /// The paths that the notes of all operations on a file can have.
    static func notes(of path: String) -> [String] {
        let replacements = ReplacementOperation.allCases.flatMap { operation in
            let names = ReplacementNames(path: path, operation: operation)
            return [names.note, names.nextNote]
        }
        let names = NewFileNames(path: path)
        return replacements + [names.lock, names.nextLock]
    }

    /// Returns the files that interrupted runs of any operation left next to a file, including runs that made
    /// the file as a copy.
    static func leftovers(of path: String) throws(DatabaseFileError) -> [String] {
        var result: [String] = []
        for operation in ReplacementOperation.allCases {
            result += try leftovers(of: path, operation: operation)
        }
        return try result + NewFileNames.leftovers(of: path)
    }

    /// Returns the files that interrupted runs of one operation left next to a file: their note, and the
    /// files that it names.
    static func leftovers(of path: String, operation: ReplacementOperation) throws(DatabaseFileError)
        -> [String]
    {
        let names = ReplacementNames(path: path, operation: operation)
        return try NoteFile.leftovers(note: names.note, next: names.nextNote, copy: names.copy)
    }
}

extension DatabaseFile {
    /// Returns the reason why no new file may have a name, as a sentence; nil if it may.
    ///
    /// SQLite overwrites or removes a journal, a log or an index when it opens the database that they belong
    /// to by their name. Coffer does the same with names that begin with `.coffer-`, and treats a file next
    /// to a database as its keyring if it has the database's name with `.keys` appended.
    package static func objection(toNameOf path: String) -> String? {
        if let ending = ReplacementNames.endings.first(where: { path.ends(inBytesOf: $0) }) {
            return "SQLite would treat a file whose name ends in '\(ending)' as part of another database, "
                + "and could remove it. Choose another name."
        }
        if let owner = path.without(ending: ".keys"), let status = try? SystemFile.status(owner),
            status.isRegular
        {
            return "Coffer would treat a file of this name as the keyring of '\(owner)'. Choose another name."
        }
        guard path.lastComponent.begins(withBytesOf: NamesBeside.start) else { return nil }
        return "Coffer would treat a file whose name begins with '\(NamesBeside.start)' as a leftover of its "
            + "own, and could remove it. Choose another name."
    }
}

/// Hidden names next to a file. They do not contain its name, which may already have the maximum length.
struct NamesBeside {
    private let directory: String
    private let stem: String

    fileprivate static let start = ".coffer-"

    init(path: String) {
        directory = SystemFile.directory(of: path)
        // FNV-1a. If two names have the same hash, operations on these files wait for one another.
        let number = SystemFile.name(of: path).utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01b3
        }
        stem = "\(NamesBeside.start)\(RunIdentifier(number: number).text)"
    }

    func path(_ ending: String) -> String {
        let name = "\(stem)\(ending)"
        return directory == "/" ? "/\(name)" : "\(directory)/\(name)"
    }
}

/// The identifier of a run: 16 hexadecimal digits.
struct RunIdentifier: Equatable, Sendable {
    let text: String

    static func random() -> RunIdentifier { RunIdentifier(number: UInt64.random(in: 0...(.max))) }

    init(number: UInt64) {
        let digits = String(number, radix: 16)
        text = String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    /// Returns nil for a text that is not an identifier: the text of a note becomes part of a name, and must
    /// not lead elsewhere.
    init?(_ text: String) {
        guard text.utf8.count == 16, text.utf8.allSatisfy({ "0123456789abcdef".utf8.contains($0) }) else {
            return nil
        }
        self.text = text
    }
}

/// The operations that give a file new content, or make a new file from one.
enum ReplacementOperation: String, Sendable, CaseIterable, Codable {
    case rotate, upgrade, encrypt, decrypt, vacuum
}

/// The names of the files that exist next to a new file until it is complete. The next run that makes the
/// same file derives the same names.
struct NewFileNames {
    private let beside: NamesBeside

    init(path: String) { beside = NamesBeside(path: path) }

    /// A note with the identifier of the run, locked as long as a process makes the file.
    var lock: String { beside.path(".lock") }

    /// The path at which the note is written before it gets its name.
    var nextLock: String { beside.path(".note") }

    /// The file itself until it is complete, named by the identifier of one run.
    func temporary(_ run: RunIdentifier) -> String { beside.path("-\(run.text).tmp") }

    /// When a file is replaced, the old file merged with the pages of its log, named by the identifier of one
    /// run.
    func merged(_ run: RunIdentifier) -> String { beside.path("-\(run.text).old") }

    /// When a file is replaced, the copy of its keyring for the old file, named by the identifier of one run.
    func keyring(_ run: RunIdentifier) -> String { beside.path("-\(run.text).keys") }

    /// Creates the note, or takes over a leftover one.
    func takeNote() throws(DatabaseFileError) -> TakenNote {
        try TakenNote(
            lock, next: nextLock, copies: { [self] in [temporary($0), merged($0), keyring($0)] })
    }

    /// Removes the merged file of a run, and its copy of the keyring under the temporary name.
    func removeCopiesOfOld(_ run: RunIdentifier) throws(DatabaseFileError) {
        try SystemFile.remove(merged(run))
        try SystemFile.remove(keyring(run))
    }

    /// Returns the files that an interrupted run left while it made a file.
    static func leftovers(of path: String) throws(DatabaseFileError) -> [String] {
        let names = NewFileNames(path: path)
        var result = try NoteFile.leftovers(note: names.lock, next: names.nextLock, copy: names.temporary)
        let note = NoteFile.read(names.lock)
        guard let id = note.flatMap({ RunIdentifier($0.id) }) else { return result }
        for name in [names.merged(id), names.keyring(id)] where try SystemFile.status(name) != nil {
            result.append(name)
        }
        return try result + (LeftOldFile(note, of: path)?.paths ?? [])
    }
}
