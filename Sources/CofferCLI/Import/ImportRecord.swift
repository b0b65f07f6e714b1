internal import Coffer

/// A row of the input, before it becomes a row of a table.
struct ImportRecord {
    struct Member {
        let name: String
        let value: ImportValue
    }

    enum Content {
        case values([ImportValue])
        case members([Member])
        /// The reason that the record cannot be a row.
        case bad(String)
    }

    /// The line that the record begins on, counted from 1.
    let line: Int
    /// The bytes of the record in the input.
    let bytes: [UInt8]
    let content: Content
}

/// A value of the input, before it becomes the value of a column.
enum ImportValue: Equatable {
    case value(DatabaseValue)
    case number(JSONNumber)
}

/// Reads the rows of an input one at a time, so the input can be of any size.
protocol RecordReader: AnyObject {
    /// Returns the column names on the first line, always as texts, or nil at the end.
    func names() throws(Failure) -> [String]?
    /// Skips the first line, whose names are not used.
    func skipNames() throws(Failure)
    /// Returns the next row, or nil at the end.
    func next() throws(Failure) -> ImportRecord?
    var byteCount: Int64 { get }
}

/// A buffered reader for the bytes of an input.
struct ByteSource {
    private let input: InputFile
    private var buffer: [UInt8] = []
    private var position = 0
    private var hasBegun = false

    init(_ input: InputFile) { self.input = input }

    var byteCount: Int64 { input.byteCount }

    /// Returns the next byte without consuming it, or nil at the end.
    mutating func peek() throws(Failure) -> UInt8? {
        if position == buffer.count {
            buffer = try input.read()
            position = 0
            if !hasBegun { try skipByteOrderMark() }
        }
        return position < buffer.count ? buffer[position] : nil
    }

    /// Skips the byte order mark that some programs write at the start of UTF-8.
    private mutating func skipByteOrderMark() throws(Failure) {
        hasBegun = true
        let mark: [UInt8] = [0xef, 0xbb, 0xbf]
        while !buffer.isEmpty, buffer.count < mark.count, mark.starts(with: buffer) {
            let part = try input.read()
            guard !part.isEmpty else { break }
            buffer += part
        }
        guard buffer.starts(with: mark) else { return }
        buffer.removeFirst(mark.count)
        if buffer.isEmpty { buffer = try input.read() }
    }

    mutating func next() throws(Failure) -> UInt8? {
        let byte = try peek()
        if byte != nil { position += 1 }
        return byte
    }

    /// Moves bytes that were read already to the end of `target`, up to the first one for which `ends` is
    /// true.
    @inline(__always)
    mutating func take(into target: inout [UInt8], until ends: (UInt8) -> Bool) {
        var end = position
        while end < buffer.count, !ends(buffer[end]) { end += 1 }
        target.append(contentsOf: buffer[position..<end])
        position = end
    }
}
