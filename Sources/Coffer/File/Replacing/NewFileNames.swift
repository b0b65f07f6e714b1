/// The names of what the making of a new file keeps beside it until it is complete. Who makes the same file next knows them too.
struct NewFileNames {
    private let beside: NamesBeside

    init(path: String) { beside = NamesBeside(path: path) }

    /// A note with the number of the run, locked as long as a process makes the file.
    var lock: String { beside.path(".lock") }

    /// Where the note is written before it has its name.
    var nextLock: String { beside.path(".note") }

    /// The file itself until it is complete, named by the number of one run.
    func temporary(_ run: RunIdentifier) -> String { beside.path("-\(run.text).tmp") }

    /// What an interrupted run has left of the making of a file.
    static func leftovers(of path: String) throws(DatabaseFileError) -> [String] {
        let names = NewFileNames(path: path)
        return try NoteFile.leftovers(note: names.lock, next: names.nextLock, copy: names.temporary)
    }
}
