internal import Coffer

/// Reads one JSON object a line, or the objects of one array. Blobs and infinities have the object form that
/// `coffer query` writes; other objects and arrays become texts, in their original spelling.
final class JSONLinesReader: RecordReader {
    private var source: ByteSource
    private var line = 1
    private var form = Form.unknown
    private static let longestRecord = 1 << 30

    private enum Form {
        /// No byte has been read.
        case unknown
        case lines
        /// The next byte starts an object, or ends an array that is empty.
        case arrayStart
        /// An object has been read.
        case arrayRest
        case ended
    }

    init(_ source: ByteSource) {
        self.source = source
    }

    var byteCount: Int64 { source.byteCount }

    /// Returns nil, because each object names its own columns.
    func names() throws(Failure) -> [String]? { nil }
    func skipNames() throws(Failure) {}

    func next() throws(Failure) -> ImportRecord? {
        if form == .unknown {
            let first = try skipSpace()
            form = first == UInt8(ascii: "[") ? .arrayStart : .lines
            if form == .arrayStart { _ = try source.next() }
        }
        switch form {
        case .unknown, .lines: return try nextLine()
        case .arrayStart, .arrayRest: return try nextOfArray()
        case .ended: return nil
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }

    /// Skips white space, and returns the byte that follows it.
    private func skipSpace() throws(Failure) -> UInt8? {
        while let byte = try source.peek(), JSONLinesReader.isSpace(byte) { _ = try take() }
        return try source.peek()
    }

    private func take() throws(Failure) -> UInt8? {
        let byte = try source.next()
        if byte == UInt8(ascii: "\n") { line += 1 }
        return byte
    }

    private func record(_ bytes: [UInt8], at line: Int) -> ImportRecord {
        do throws(JSONMembers.Problem) {
            return ImportRecord(
                line: line, bytes: bytes, content: .members(try JSONMembers.members(of: bytes)))
        } catch {
            return ImportRecord(line: line, bytes: bytes, content: .bad(error.reason))
        }
    }

    private func add(_ byte: UInt8, to bytes: inout [UInt8], from first: Int) throws(Failure) {
        guard bytes.count < JSONLinesReader.longestRecord else {
            throw Failure(.badData, "input", "Line \(first) is too long.")
        }
        bytes.append(byte)
    }

    // MARK: Lines

    private func nextLine() throws(Failure) -> ImportRecord? {
        while try source.peek() != nil {
            let first = line
            var bytes: [UInt8] = []
            while let byte = try take(), byte != UInt8(ascii: "\n") {
                try add(byte, to: &bytes, from: first)
            }
            if !bytes.allSatisfy(JSONLinesReader.isSpace) { return record(bytes, at: first) }
        }
        return nil
    }

    // MARK: An array

    private func nextOfArray() throws(Failure) -> ImportRecord? {
        if form == .arrayStart, try skipSpace() == UInt8(ascii: "]") {
            _ = try take()
            return try end()
        }
        _ = try skipSpace()
        let first = line
        var bytes: [UInt8] = []
        // The syntax of the element is checked later: only its end matters here.
        var (depth, isInText, isEscaped) = (0, false, false)
        while let byte = try source.peek() {
            if depth == 0, !isInText, byte == UInt8(ascii: ",") || byte == UInt8(ascii: "]") { break }
            _ = try take()
            try add(byte, to: &bytes, from: first)
            switch byte {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\") where isInText: isEscaped = true
            case UInt8(ascii: "\""): isInText.toggle()
            case _ where isInText: break
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
        }
        switch try take() {
        case UInt8(ascii: ","): form = .arrayRest
        case nil: throw Failure(.badData, "input", "The JSON array is incomplete: the input ends inside it.")
        default: _ = try end()
        }
        return record(bytes, at: first)
    }

    /// Checks that nothing follows the array.
    private func end() throws(Failure) -> ImportRecord? {
        form = .ended
        guard try skipSpace() == nil else {
            throw Failure(.badData, "input", "Line \(line): text follows the end of the JSON array.")
        }
        return nil
    }
}
