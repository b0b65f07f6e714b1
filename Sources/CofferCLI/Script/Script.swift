/// SQL text with one or more statements.
struct Script: Sendable {
    struct Statement: Sendable, Hashable {
        let text: String
        /// The line of the script that the statement begins on, counted from 1.
        let line: Int
    }

    let statements: [Statement]

    /// - Throws: ``Failure`` if a statement contains a key, if the text is not a statement, or if there is no
    ///   statement.
    init(_ text: String) throws(Failure) {
        guard !text.utf8.contains(0) else {
            throw Failure.usage("The statement contains a NUL byte, at which SQLite would stop reading.")
        }
        // SQLite treats a byte order mark as white space.
        statements = Script.statements(
            of: text.hasPrefix("\u{feff}") ? String(text.unicodeScalars.dropFirst()) : text)
        guard !statements.isEmpty else { throw Failure.usage("There is no statement.") }
        for statement in statements {
            if let words = ShellWord.advice(on: statement.text) { throw Failure.usage(words) }
            guard !StatementText.carriesKey(statement.text) else {
                throw Failure.usage(
                    "The statement contains a key, which others can see there. Use 'coffer rotate' and the "
                        + "key options."
                )
            }
        }
    }

    private static func statements(of text: String) -> [Statement] {
        let bytes = Array(text.utf8)
        var result: [Statement] = []
        var splitter = StatementSplitter()
        var (start, line) = (0, 1)
        while start < bytes.count {
            let end = splitter.end(in: bytes, from: start)
            let part = bytes[start..<(end ?? bytes.count)]
            if !(end == nil ? splitter.isBlank : splitter.endedBlank) {
                let space = part.prefix { $0 == 0x20 || (0x09...0x0d).contains($0) }
                result.append(
                    Statement(text: String(decoding: part, as: UTF8.self), line: line + newlines(in: space)))
            }
            line += newlines(in: part)
            start = end ?? bytes.count
        }
        return result
    }

    private static func newlines(in bytes: ArraySlice<UInt8>) -> Int {
        bytes.count { $0 == UInt8(ascii: "\n") }
    }

    /// The maximum length of a script, in bytes.
    private static let longest = 256 << 20

    /// Reads a script from a file, or from standard input for "-".
    ///
    /// - Parameters:
    ///   - flags: additional flags for opening the file.
    ///   - check: see ``InputFile/init(_:_:flags:check:)``.
    static func read(_ path: String, flags: CInt = 0, check: @escaping () throws(Failure) -> Void = {})
        throws(Failure) -> String
    {
        let input = try InputFile(path, "file", flags: flags, check: check)
        var bytes: [UInt8] = []
        while true {
            let part = try input.read()
            guard !part.isEmpty else { break }
            bytes += part
            // The rest may be a disk.
            guard !part.contains(0) else {
                throw Failure.usage("\(input.name) contains a NUL byte, at which SQLite would stop reading.")
            }
            guard bytes.count <= longest else {
                throw Failure(
                    .badData, "script",
                    "\(input.name) is longer than 256 MiB, which is read into memory as a whole. Split it.")
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure.usage("\(input.name) is not UTF-8.")
        }
        return text
    }
}
