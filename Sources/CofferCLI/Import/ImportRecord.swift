internal import Coffer

/// A row of an input, before it is one of a table.
struct ImportRecord {
    enum Content {
        case values([DatabaseValue])
        case members([String: DatabaseValue])
        /// Why it cannot be a row.
        case bad(String)
    }

    /// The line that it begins on, from 1 on.
    let line: Int
    /// As it stands in the input.
    let bytes: [UInt8]
    let content: Content
}

/// Gives the rows of an input one by one, however many there are.
protocol RecordReader: AnyObject {
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

    /// - Parameter descriptor: stays open for as long as this is used.
    init(_ descriptor: CInt, name: String) {
        self.descriptor = descriptor
        self.name = name
    }

    /// The next byte without taking it; nil at the end.
    mutating func peek() throws(Failure) -> UInt8? {
        if position == buffer.count {
            do throws(SystemError) {
                buffer = try Descriptor.read(from: descriptor, upTo: 262_144)
            } catch {
                throw Failure(error, "\(name) cannot be read")
            }
            byteCount += Int64(buffer.count)
            position = 0
        }
        return position < buffer.count ? buffer[position] : nil
    }

    mutating func next() throws(Failure) -> UInt8? {
        let byte = try peek()
        if byte != nil { position += 1 }
        return byte
    }
}
