internal import Foundation
internal import Glibc

/// The statements of earlier shells, in a file that only its owner can read. None of them has a key in it.
struct ShellHistory {
    let path: String
    private static let limit = 1000

    /// Where it is, unless an option says otherwise: nil without a home.
    static var standardPath: String? {
        let home = ProcessInfo.processInfo.environment["HOME"] ?? ""
        return home.hasPrefix("/") ? home + "/.coffer_history" : nil
    }

    /// Whether a statement, or a command of the shell, may be kept.
    static func mayKeep(_ text: String) -> Bool {
        let lowered = text.lowercased()
        // Values of parameters may be secrets, and what has a word of keys in it is not looked at twice.
        guard !lowered.hasPrefix(".bind"), !text.utf8.contains(0), text.utf8.count <= 10_000 else {
            return false
        }
        let setsKeys = ["pragma", "attach"].contains { lowered.contains($0) } && lowered.contains("key")
        // Also where it is no SQL, or the SQL of another engine.
        let namesKey = lowered.contains(#/key\s*=?\s*['"]/#)
        return !setsKeys && !namesKey && !StatementText.carriesKey(text)
    }

    /// The statements, the oldest first. A file that others can write to, or that is none, is not believed.
    func load() throws(Failure) -> [String] {
        guard NewFile.exists(path) else { return [] }
        let file = try open(O_RDONLY)
        var lines: [String] = []
        var reader = LineReader(file.number, limit: 100_000)
        while let line = try? reader.next() { lines.append(String(decoding: line.bytes, as: UTF8.self)) }
        return lines.suffix(ShellHistory.limit)
    }

    /// Adds statements of this shell; those of others that run beside it stay.
    func add(_ statements: [String]) throws(Failure) {
        guard !statements.isEmpty else { return }
        let file = try open(O_WRONLY | O_CREAT | O_APPEND)
        do throws(SystemError) {
            try file.write(statements.map { $0 + "\n" }.joined())
        } catch {
            throw Failure(error, "The history '\(path)' cannot be written")
        }
        try shorten()
    }

    private func shorten() throws(Failure) {
        let lines = try load()
        guard lines.count == ShellHistory.limit, let status = try? open(O_RDONLY).status(),
            status.st_size > 400_000
        else { return }
        let file = try open(O_WRONLY | O_TRUNC)
        do throws(SystemError) {
            try file.write(lines.map { $0 + "\n" }.joined())
        } catch {
            throw Failure(error, "The history '\(path)' cannot be written")
        }
    }

    private func open(_ flags: CInt) throws(Failure) -> Descriptor {
        let file = try OwnFile.open(
            path, flags, name: "The history '\(path)'", action: "cannot be used", reason: "history")
        _ = fchmod(file.number, 0o600)
        return file
    }
}
