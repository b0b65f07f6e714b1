internal import Coffer

/// A row of an input, before it is one of a table.
struct ImportRecord {
    struct Member {
        let name: String
        let value: ImportValue
    }

    enum Content {
        case values([ImportValue])
        case members([Member])
        /// Why it cannot be a row.
        case bad(String)
    }

    /// The line that it begins on, from 1 on.
    let line: Int
    /// As it stands in the input.
    let bytes: [UInt8]
    let content: Content
}

/// A value of an input, before it is one of a column.
enum ImportValue: Equatable {
    case value(DatabaseValue)
    case number(JSONNumber)
}

/// Gives the rows of an input one by one, however many there are.
protocol RecordReader: AnyObject {
    /// The names of columns on the first line, which are texts whatever they look like; nil at the end.
    func names() throws(Failure) -> [String]?
    /// The next row; nil at the end.
    func next() throws(Failure) -> ImportRecord?
    var byteCount: Int64 { get }
}

/// The bytes of an input, in pieces.
struct ByteSource {
    private let descriptor: CInt
    private let name: String
    private var buffer: [UInt8] = []
    private var position = 0
    private(set) var byteCount: Int64 = 0
    private var hasBegun = false

    /// Waits until there is something to read; throws to end the reading.
    private let wait: () throws(Failure) -> Void

    /// - Parameter descriptor: stays open for as long as this is used.
    init(_ descriptor: CInt, name: String, wait: @escaping () throws(Failure) -> Void = {}) {
        self.descriptor = descriptor
        self.name = name
        self.wait = wait
    }

    /// The next byte without taking it; nil at the end.
    mutating func peek() throws(Failure) -> UInt8? {
        if position == buffer.count {
            buffer = try read()
            position = 0
            if !hasBegun { try skipByteOrderMark() }
        }
        return position < buffer.count ? buffer[position] : nil
    }

    private mutating func read() throws(Failure) -> [UInt8] {
        try wait()
        do throws(SystemError) {
            let part = try Descriptor.read(from: descriptor, upTo: 262_144)
            byteCount += Int64(part.count)
            return part
        } catch {
            throw Failure(error, "\(name) cannot be read")
        }
    }

    /// Leaves out the three bytes that some programs begin UTF-8 with, which are no text.
    private mutating func skipByteOrderMark() throws(Failure) {
        hasBegun = true
        let mark: [UInt8] = [0xef, 0xbb, 0xbf]
        while !buffer.isEmpty, buffer.count < mark.count, mark.starts(with: buffer) {
            let part = try read()
            guard !part.isEmpty else { break }
            buffer += part
        }
        guard buffer.starts(with: mark) else { return }
        buffer.removeFirst(mark.count)
        if buffer.isEmpty { buffer = try read() }
    }

    mutating func next() throws(Failure) -> UInt8? {
        let byte = try peek()
        if byte != nil { position += 1 }
        return byte
    }
}
