internal import Foundation
internal import Glibc
internal import SystemCalls

/// The statements of earlier shell sessions, in a file that only its owner can read. It never contains a key.
struct ShellHistory {
    let path: String
    private static let limit = 1000

    /// The default path, or nil if there is no home directory.
    static var standardPath: String? {
        let home = ProcessInfo.processInfo.environment["HOME"] ?? ""
        return home.hasPrefix("/") ? home + "/.coffer_history" : nil
    }

    /// A line that can be called back.
    struct Entry {
        let text: String
        /// False for a line that only this session remembers.
        let isStored: Bool
    }

    /// Returns the entries for a statement or a command: its text in one line, or each of its lines if a line
    /// break is part of a text or ends a comment. The result is empty for text that may not be kept.
    static func entries(_ text: String, isStored: Bool) -> [Entry] {
        let lines = text.trimmingCharacters(in: .whitespacesAndNewlines).split(
            separator: "\n", omittingEmptySubsequences: false)
        let joined = lines.joined(separator: " ")
        guard mayKeep(joined), mayKeep(text) else { return [] }
        var splitter = StatementSplitter()
        for line in lines.dropLast() {
            splitter.skip(Array(line.utf8))
            if splitter.isBreakSignificant {
                return lines.filter { !$0.isEmpty }.map { Entry(text: String($0), isStored: isStored) }
            }
            splitter.skip([UInt8(ascii: "\n")])
        }
        return [Entry(text: joined, isStored: isStored)]
    }

    /// Returns true if a statement or a command of the shell may be stored.
    static func mayKeep(_ text: String) -> Bool {
        let lowered = text.lowercased()
        // Parameter values may be secrets. Any text with a word for keys in it is rejected without a closer
        // look.
        guard !lowered.hasPrefix(".bind"), !text.utf8.contains(0), text.utf8.count <= 10_000 else {
            return false
        }
        let setsKeys = ["pragma", "attach"].contains { lowered.contains($0) } && lowered.contains("key")
        // This also covers text that is not SQL, and the SQL of other engines.
        let namesKey = lowered.contains(#/key\s*=?\s*['"]/#)
        return !setsKeys && !namesKey && !StatementText.carriesKey(text)
    }

    /// Returns the statements, oldest first. Throws for a file that is not a regular file, or that others can
    /// write to, because its content cannot be trusted.
    func load() throws(Failure) -> [String] {
        guard NewFile.exists(path) else { return [] }
        let file = try open(O_RDONLY)
        var lines: [String] = []
        var reader = LineReader(file.number, limit: 100_000)
        while let line = try? reader.next() { lines.append(String(decoding: line.bytes, as: UTF8.self)) }
        return lines.suffix(ShellHistory.limit)
    }

    /// Appends the statements of this shell. Statements of concurrent shells are kept.
    func add(_ statements: [String]) throws(Failure) {
        guard !statements.isEmpty else { return }
        let file = try open(O_WRONLY | O_CREAT | O_APPEND)
        try Failure.explaining("The history '\(path)' cannot be written") { () throws(Errno) in
            try file.write(statements.map { $0 + "\n" }.joined())
        }
        try shorten()
    }

    private func shorten() throws(Failure) {
        let lines = try load()
        guard lines.count == ShellHistory.limit, let status = try? open(O_RDONLY).status(),
            status.size > 400_000
        else { return }
        let file = try open(O_WRONLY | O_TRUNC)
        try Failure.explaining("The history '\(path)' cannot be written") { () throws(Errno) in
            try file.write(lines.map { $0 + "\n" }.joined())
        }
    }

    private func open(_ flags: CInt) throws(Failure) -> Descriptor {
        let file = try OwnFile.open(
            path, flags, name: "The history '\(path)'", action: "cannot be used", reason: "history")
        try? file.setPermissions(0o600)
        return file
    }
}
