internal import Coffer
internal import Foundation

/// Reads an object of JSON on each line. Blobs and infinities are the objects that `coffer query` writes for them; other objects and arrays are texts.
final class JSONLinesReader: RecordReader {
    private var source: ByteSource
    private var line = 0
    private static let longestLine = 1 << 30

    init(_ source: ByteSource) {
        self.source = source
    }

    var byteCount: Int64 { source.byteCount }

    func next() throws(Failure) -> ImportRecord? {
        while try source.peek() != nil {
            line += 1
            var bytes: [UInt8] = []
            while let byte = try source.next(), byte != UInt8(ascii: "\n") {
                guard bytes.count < JSONLinesReader.longestLine else {
                    throw Failure(.badData, "input", "The line \(line) is too long.")
                }
                bytes.append(byte)
            }
            guard bytes.contains(where: { $0 != 0x20 && !(0x09...0x0d).contains($0) }) else { continue }
            return ImportRecord(line: line, bytes: bytes, content: JSONLinesReader.content(bytes))
        }
        return nil
    }

    private static func content(_ bytes: [UInt8]) -> ImportRecord.Content {
        guard let object = try? JSONDecoder().decode([String: ImportedJSON].self, from: Data(bytes)) else {
            return .bad("it is no object of JSON")
        }
        return .members(object.mapValues(\.value))
    }
}

/// A value of JSON as one of a database.
private struct ImportedJSON: Decodable {
    let value: DatabaseValue

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            value = .null
        } else if let flag = try? container.decode(Bool.self) {
            value = flag.databaseValue
        } else if let number = try? container.decode(Int64.self) {
            value = number.databaseValue
        } else if let number = try? container.decode(Double.self) {
            value = number.databaseValue
        } else if let text = try? container.decode(String.self) {
            value = text.databaseValue
        } else {
            let tree = try container.decode(Tree.self)
            value = tree.special ?? tree.json.text.databaseValue
        }
    }

    /// Values within values.
    private enum Tree: Decodable {
        case leaf(JSONValue)
        case list([Tree])
        case object([String: Tree])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .leaf(.null)
            } else if let flag = try? container.decode(Bool.self) {
                self = .leaf(.bool(flag))
            } else if let number = try? container.decode(Int64.self) {
                self = .leaf(.int(number))
            } else if let number = try? container.decode(Double.self) {
                self = .leaf(.double(number))
            } else if let text = try? container.decode(String.self) {
                self = .leaf(.string(text))
            } else if let list = try? container.decode([Tree].self) {
                self = .list(list)
            } else {
                self = .object(try container.decode([String: Tree].self))
            }
        }

        var json: JSONValue {
            switch self {
            case .leaf(let value): value
            case .list(let list): .array(list.map(\.json))
            case .object(let members): .object(members.sorted { $0.key < $1.key }.map { .init($0.key, $0.value.json) })
            }
        }

        /// What `coffer query` writes so.
        var special: DatabaseValue? {
            guard case .object(let members) = self, members.count == 1, let (name, value) = members.first,
                case .leaf(.string(let text)) = value
            else { return nil }
            switch (name, text) {
            case ("blob", _): return Hex.bytes(text)?.databaseValue
            case ("real", "Infinity"): return Double.infinity.databaseValue
            case ("real", "-Infinity"): return (-Double.infinity).databaseValue
            default: return nil
            }
        }
    }
}
