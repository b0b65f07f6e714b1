internal import Coffer

/// The form of a result's rows in JSON. The text that all rows share is made once.
struct JSONRow {
    private let start: [UInt8]
    /// The text before each value, or nil if the row is an array.
    private let names: [[UInt8]]?
    private let end: [UInt8]
    /// The last row. Its memory is used again.
    private var text = JSONText()

    /// Rows that are lines of the tool's own JSON, with a last member `values`.
    ///
    /// - Parameter line: a line without this member.
    init(inResult line: JSONObject) {
        start = line.bytes.dropLast() + Array(",\"values\":[".utf8)
        names = nil
        end = Array("]}\n".utf8)
    }

    /// Rows that are objects.
    init(columns: [String], start: String, end: String) {
        self.start = Array((start + "{").utf8)
        names = columns.map { JSONValue.string($0).bytes + [UInt8(ascii: ":")] }
        self.end = Array(("}" + end).utf8)
    }

    /// Returns the bytes of a row. If the schema has changed, the values may be more than the columns.
    mutating func bytes(_ values: [DatabaseValue]) -> [UInt8] {
        text.removeAll()
        text.append(raw: start)
        for (index, value) in values.prefix(names?.count ?? values.count).enumerated() {
            if index > 0 { text.append(raw: ",") }
            if let names { text.append(raw: names[index]) }
            text.append(value)
        }
        text.append(raw: end)
        return text.bytes
    }
}

extension JSONText {
    /// Appends the value of a row. Blobs and infinities, which JSON lacks, are objects; no other value is.
    fileprivate mutating func append(_ value: DatabaseValue) {
        switch value.storage {
        case .null: append(raw: "null")
        case .int64(let number): append(number)
        case .double(let number) where number.isInfinite:
            append(raw: number < 0 ? #"{"real":"-Infinity"}"# : #"{"real":"Infinity"}"#)
        case .double(let number): append(number)
        case .string(let text): append(text)
        case .blob(let data):
            append(raw: #"{"blob":""#)
            append(raw: Hex.digits(data).utf8)
            append(raw: #""}"#)
        }
    }
}
