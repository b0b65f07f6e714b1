internal import SystemCalls

/// Reads an input line by line. It holds at most one line, of limited length, regardless of the size of the
/// input.
struct LineReader: ~Copyable {
    struct Line {
        let bytes: [UInt8]
        /// Counted from 1.
        let number: Int
        /// True if the line ends with a separator, false if it ends with the input.
        let isTerminated: Bool
    }

    enum Problem: Error {
        case system(Errno)
        case tooLong(line: Int)
    }

    private let descriptor: CInt
    private let separator: UInt8
    private let limit: Int
    private var buffer: [UInt8] = []
    private var start = 0
    private var number = 0
    private var hasEnded = false

    /// - Parameters:
    ///   - descriptor: must stay open while the reader is in use.
    ///   - limit: the maximum length of a line, in bytes.
    init(_ descriptor: CInt, separator: UInt8 = UInt8(ascii: "\n"), limit: Int) {
        self.descriptor = descriptor
        self.separator = separator
        self.limit = limit
    }

    /// Returns the next line without its separator, or nil at the end.
    mutating func next() throws(Problem) -> Line? {
        // Bytes that were searched before are not searched again.
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: separator) {
                return try line(to: end, isTerminated: true)
            }
            guard buffer.count - start <= limit else { throw .tooLong(line: number + 1) }
            guard !hasEnded else {
                return start == buffer.count ? nil : try line(to: buffer.count, isTerminated: false)
            }
            searched = buffer.count - start
            buffer.removeFirst(start)
            start = 0
            try fill()
        }
    }

    /// Returns the next line, and throws the failures of an input whose lines are too long or cannot be read.
    ///
    /// - Parameter tooLong: makes the failure from the number of the line.
    mutating func next(of name: String, tooLong: (Int) -> Failure) throws(Failure) -> Line? {
        do throws(Problem) { return try next() } catch {
            switch error {
            case .system(let error): throw Failure(error, "\(name) cannot be read")
            case .tooLong(let line): throw tooLong(line)
            }
        }
    }

    private mutating func line(to end: Int, isTerminated: Bool) throws(Problem) -> Line {
        guard end - start <= limit else { throw .tooLong(line: number + 1) }
        number += 1
        let line = Line(bytes: Array(buffer[start..<end]), number: number, isTerminated: isTerminated)
        start = isTerminated ? end + 1 : end
        return line
    }

    private mutating func fill() throws(Problem) {
        do throws(Errno) {
            let part = try Descriptor.read(from: descriptor, upTo: 65_536)
            hasEnded = part.isEmpty
            buffer += part
        } catch {
            throw .system(error)
        }
    }
}
