public import Foundation

/// A JSON array with an object for each row.
///
///     try db.dumpRequest(Attachment.all(), format: .json())  // [{"id":1,"fileName":"deed.pdf","size":41920}]
///
/// Blobs are base64-encoded. The members of an object are in the order of the columns, and two columns of the
/// same name are two members.
public struct JSONDumpFormat: DumpFormat, Sendable {
    /// The encoder of the names and values, which are encoded one at a time. Of its options for formatting
    /// objects, only `.prettyPrinted` has an effect.
    public var encoder: JSONEncoder

    /// An encoder that writes infinity and NaN as strings, and does not escape slashes.
    public static var defaultEncoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dataEncodingStrategy = .base64
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        encoder.outputFormatting = .withoutEscapingSlashes
        return encoder
    }

    private var isFirstRow = true

    /// Creates the format.
    ///
    /// - Parameter encoder: encodes the names and the values, one at a time.
    public init(encoder: JSONEncoder = JSONDumpFormat.defaultEncoder) {
        self.encoder = encoder
    }

    public mutating func writeRow(_ db: Database, statement: Statement, to stream: inout DumpStream) throws {
        let isPretty = encoder.outputFormatting.contains(.prettyPrinted)
        let names = statement.allColumnNames
        let members = try statement.dumpedColumns.map { index in
            let value = try text(of: statement.value(at: index))
            return "\(try text(of: names[Int(index)])):\(value)"
        }
        stream.write(isFirstRow ? (isPretty ? "[\n" : "[") : ",\n")
        isFirstRow = false
        if isPretty {
            stream.write("  {\n" + members.map { "    \($0)" }.joined(separator: ",\n") + "\n  }")
        } else {
            stream.write("{\(members.joined(separator: ","))}")
        }
    }

    public mutating func finalize(_ db: Database, statement: Statement, to stream: inout DumpStream) {
        if !isFirstRow {
            stream.write(encoder.outputFormatting.contains(.prettyPrinted) ? "\n]\n" : "]\n")
        } else if statement.columnCount > 0 {
            stream.write("[]\n")
        }
    }

    private func text(of value: DatabaseValue) throws -> String {
        switch value.storage {
        case .null: "null"
        case .int64(let value): try text(of: value)
        case .double(let value): try text(of: value)
        case .string(let value): try text(of: value)
        case .blob(let value): try text(of: value)
        }
    }

    private func text(of value: some Encodable) throws -> String {
        String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}

extension DumpFormat where Self == JSONDumpFormat {
    /// A JSON array with an object for each row.
    ///
    /// - Parameter encoder: encodes the names and the values, one at a time.
    public static func json(encoder: JSONEncoder = JSONDumpFormat.defaultEncoder) -> Self {
        JSONDumpFormat(encoder: encoder)
    }
}
