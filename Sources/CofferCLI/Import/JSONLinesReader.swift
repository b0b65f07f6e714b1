internal import Coffer

/// Reads one JSON object a line. Blobs and infinities have the object form that `coffer query` writes; other
/// objects and arrays become texts, in their original spelling.
final class JSONLinesReader: RecordReader {
    private var source: ByteSource
    private var line = 0
    private static let longestLine = 1 << 30

    init(_ source: ByteSource) {
        self.source = source
    }

    var byteCount: Int64 { source.byteCount }

    /// Returns nil, because each object names its own columns.
    func names() throws(Failure) -> [String]? { nil }

    func next() throws(Failure) -> ImportRecord? {
        while try source.peek() != nil {
            line += 1
            var bytes: [UInt8] = []
            while let byte = try source.next(), byte != UInt8(ascii: "\n") {
                guard bytes.count < JSONLinesReader.longestLine else {
                    throw Failure(.badData, "input", "Line \(line) is too long.")
                }
                bytes.append(byte)
            }
            guard bytes.contains(where: { $0 != 0x20 && !(0x09...0x0d).contains($0) }) else { continue }
            return ImportRecord(line: line, bytes: bytes, content: JSONLinesReader.content(bytes))
        }
        return nil
    }

    private static func content(_ bytes: [UInt8]) -> ImportRecord.Content {
        do throws(JSONMembers.Problem) {
            return .members(try JSONMembers.members(of: bytes))
        } catch {
            return .bad(error.reason)
        }
    }
}
