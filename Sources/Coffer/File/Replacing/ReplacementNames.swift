/// The names of what a replacement keeps beside the file.
///
/// Only the note has the name of the file in it, for people to see. The others begin with `.coffer-`, which
/// nobody gives to files of their own, and are removed only if a note of ours names them.
struct ReplacementNames {
    let path: String
    let operation: ReplacementOperation

    /// The note of what is going on.
    var note: String { "\(path).\(operation.rawValue).json" }

    /// Where a note is written before it takes the place of the one before. There only for moments.
    var nextNote: String { beside.path("-\(operation.rawValue).note") }

    /// The copy, named by the identifier of one run.
    func copy(_ id: RunIdentifier) -> String { beside.path("-\(id.text).\(operation.rawValue)") }

    private var beside: NamesBeside { NamesBeside(path: path) }

    /// What SQLite may keep beside a database file.
    static func companions(of path: String) -> [String] { ["-journal", "-wal", "-shm"].map { path + $0 } }

    /// What interrupted runs of any operation have left beside a file, and of the making of the file as a
    /// copy.
    static func leftovers(of path: String) throws(DatabaseFileError) -> [String] {
        var result: [String] = []
        for operation in ReplacementOperation.allCases {
            result += try leftovers(of: path, operation: operation)
        }
        return try result + NewFileNames.leftovers(of: path)
    }

    /// What interrupted runs of one operation have left beside a file: their note, and what it names.
    static func leftovers(of path: String, operation: ReplacementOperation) throws(DatabaseFileError)
        -> [String]
    {
        let names = ReplacementNames(path: path, operation: operation)
        return try NoteFile.leftovers(note: names.note, next: names.nextNote, copy: names.copy)
    }
}

/// Hidden names beside a file, which do not contain its name: that may already be as long as names can be.
struct NamesBeside {
    private let directory: String
    private let stem: String

    init(path: String) {
        directory = SystemFile.directory(of: path)
        // FNV-1a. Should two names have one number, those who work on the files wait for one another.
        let number = SystemFile.name(of: path).utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01b3
        }
        stem = ".coffer-\(RunIdentifier(number: number).text)"
    }

    func path(_ ending: String) -> String {
        let name = "\(stem)\(ending)"
        return directory == "/" ? "/\(name)" : "\(directory)/\(name)"
    }
}

/// What distinguishes one run from all others: 16 hexadecimal digits.
struct RunIdentifier: Equatable, Sendable {
    let text: String

    static func random() -> RunIdentifier { RunIdentifier(number: UInt64.random(in: 0...(.max))) }

    init(number: UInt64) {
        let digits = String(number, radix: 16)
        text = String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    /// Nil for a text that is no identifier: what a note says becomes part of a name, and must not lead
    /// elsewhere.
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

/// The names of what the making of a new file keeps beside it until it is complete. Who makes the same file
/// next knows them too.
struct NewFileNames {
    private let beside: NamesBeside

    init(path: String) { beside = NamesBeside(path: path) }

    /// A note with the number of the run, locked as long as a process makes the file.
    var lock: String { beside.path(".lock") }

    /// Where the note is written before it has its name.
    var nextLock: String { beside.path(".note") }

    /// The file itself until it is complete, named by the number of one run.
    func temporary(_ run: RunIdentifier) -> String { beside.path("-\(run.text).tmp") }

    /// Where a file is replaced: the old one with the pages of its log, named by the number of one run.
    func merged(_ run: RunIdentifier) -> String { beside.path("-\(run.text).old") }

    /// What an interrupted run has left of the making of a file.
    static func leftovers(of path: String) throws(DatabaseFileError) -> [String] {
        let names = NewFileNames(path: path)
        var result = try NoteFile.leftovers(note: names.lock, next: names.nextLock, copy: names.temporary)
        if let id = NoteFile.read(names.lock).flatMap({ RunIdentifier($0.id) }),
            try SystemFile.status(names.merged(id)) != nil
        {
            result.append(names.merged(id))
        }
        return result
    }
}
