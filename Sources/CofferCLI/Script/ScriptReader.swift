internal import Coffer

/// Reads the statements of a script one at a time, so the script can be of any length.
final class ScriptReader {
    private let input: InputFile
    private let longestStatement: Int
    private var splitter = StatementSplitter()
    private var buffer: [UInt8] = []
    /// The start of the next statement, and the end of the part that has been searched.
    private var start = 0
    private var searched = 0
    private var line = 1
    private var hasEnded = false
    /// True if a NUL byte has ended the script. The rest up to it is then a statement, even if it is a
    /// comment, so that it is refused.
    private var isCut = false

    var byteCount: Int64 { input.byteCount }
    private(set) var statementNumber = 0
    /// The line of the statement that was returned last.
    private(set) var statementLine = 1

    /// The text after the last statement, at the end.
    var rest: [UInt8] { Array(buffer[start...]) }

    /// - Parameter longestStatement: the maximum length of a statement, in bytes. SQLite's is the default
    ///   (`SQLITE_MAX_SQL_LENGTH`).
    init(_ input: InputFile, longestStatement: Int = 1_000_000_000) {
        self.input = input
        self.longestStatement = longestStatement
    }

    /// Returns the next statement, or nil at the end.
    func next() throws -> [UInt8]? {
        while true {
            if let end = splitter.end(in: buffer, from: searched) {
                searched = end
                let statement = Array(buffer[start..<end])
                start = end
                if splitter.endedBlank { count(statement) } else { return give(statement) }
            } else if hasEnded {
                searched = buffer.count
                guard isCut || !splitter.isBlank, start < buffer.count else { return nil }
                let statement = rest
                start = buffer.count
                return give(statement)
            } else {
                searched = buffer.count
                try fill()
            }
        }
    }

    private func give(_ statement: [UInt8]) -> [UInt8] {
        let space = statement.prefix { $0 == 0x20 || (0x09...0x0d).contains($0) }
        statementNumber += 1
        statementLine = line + space.count { $0 == UInt8(ascii: "\n") }
        count(statement)
        // SQLite treats a byte order mark as white space.
        return statementNumber == 1 && statement.starts(with: [0xef, 0xbb, 0xbf])
            ? Array(statement.dropFirst(3)) : statement
    }

    private func count(_ text: [UInt8]) { line += text.count { $0 == UInt8(ascii: "\n") } }

    private func fill() throws(Failure) {
        buffer.removeFirst(start)
        searched -= start
        start = 0
        guard buffer.count <= longestStatement else {
            throw Failure(
                .badData, "script",
                "\(input.name), statement \(statementNumber + 1) (line \(line)): It is longer than SQLite "
                    + "allows. Is this an SQL script, and is a quote or a semicolon missing?")
        }
        let part = try input.read()
        // No statement contains a NUL byte: the rest is not read, because it may be a disk.
        let end = part.firstIndex(of: 0)
        isCut = end != nil
        hasEnded = part.isEmpty || isCut
        buffer += end.map { part[...$0] } ?? part[...]
    }

    /// Returns a failure that names the statement.
    func located(_ error: ScriptError) -> Failure {
        guard let code = error.code else {
            return Failure(.badData, "script", "\(input.name): \(error.message).")
        }
        let failure = Failure(DatabaseError(resultCode: code, message: error.message))
        let place = "\(input.name), statement \(statementNumber) (line \(statementLine)): "
        // If SQLite rejects the statement, only the script is at fault.
        let isOfScript = [.usage, .answerIsNo, .internalError, .outputExists].contains(failure.status)
        return Failure(
            isOfScript ? .badData : failure.status, isOfScript ? "script" : failure.reason,
            place + failure.message)
    }
}
