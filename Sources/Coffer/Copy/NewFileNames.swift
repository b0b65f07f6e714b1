/// The names of what the making of a new file keeps beside it until it is complete.
///
/// They do not contain the name of the file, which may already be as long as names can be, but a number that is made from it: whoever makes
/// the same file next recognises what an interrupted run has left.
struct NewFileNames {
    private let directory: String
    private let stem: String

    init(path: String) {
        directory = SystemFile.directory(of: path)
        // FNV-1a. Should two names have one number, those who make the files wait for one another.
        let number = SystemFile.name(of: path).utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        stem = ".coffer-\(NewFileNames.digits(number))"
    }

    /// Locked as long as somebody makes the file; there is nothing in it.
    var lock: String { inDirectory("\(stem).lock") }

    /// The file itself until it is complete, named by the number of one run.
    func temporary(run: UInt64) -> String { inDirectory("\(stem)-\(NewFileNames.digits(run)).tmp") }

    /// What runs have left that did not come to their end, without the lock. Only who has the lock can tell them from what a run is making.
    func leftoverCopies() throws(DatabaseFileError) -> [String] {
        try SystemFile.names(in: directory).filter(isCopy).sorted().map(inDirectory)
    }

    /// What interrupted runs have left of the making of a file.
    static func leftovers(of path: String) throws(DatabaseFileError) -> [String] {
        let names = NewFileNames(path: path)
        return try (SystemFile.status(names.lock) == nil ? [] : [names.lock]) + names.leftoverCopies()
    }

    private func isCopy(_ name: String) -> Bool {
        guard name.hasPrefix("\(stem)-") else { return false }
        let rest = name.dropFirst(stem.utf8.count + 1)
        let run = rest.prefix(16)
        let isNumbered = run.utf8.count == 16 && run.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
        return isNumbered && [".tmp", ".tmp-journal", ".tmp-wal", ".tmp-shm"].contains(String(rest.dropFirst(16)))
    }

    private func inDirectory(_ name: String) -> String { directory == "/" ? "/\(name)" : "\(directory)/\(name)" }

    private static func digits(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
