internal import Coffer
internal import Foundation

/// Reads CSV as defined by RFC 4180, or tab-separated values as `coffer query` writes them. NULL, blobs and
/// infinities survive the round trip.
final class DelimitedReader: RecordReader {
    enum Kind { case csv, tsv }

    private let kind: Kind
    private let nullText: String
    /// The byte between the fields of CSV, or nil for a comma that was not asked for.
    private let delimiter: UInt8?
    private var source: ByteSource
    private var line = 1

    /// The maximum size of a record, in bytes: more than any row of a table has. An unclosed quote must not
    /// read the whole input into memory.
    private static let longestRecord = 1 << 30

    init(_ source: ByteSource, _ kind: Kind, nullText: String, delimiter: UInt8? = nil) {
        self.source = source
        self.kind = kind
        self.nullText = nullText
        self.delimiter = delimiter
    }

    var byteCount: Int64 { source.byteCount }

    private struct Field {
        var bytes: [UInt8] = []
        var isQuoted = false
    }

    func next() throws(Failure) -> ImportRecord? {
        guard try source.peek() != nil else { return nil }
        let first = line
        let (fields, bytes, problem) = try kind == .csv ? readCSV() : readTSV()
        if let problem { return ImportRecord(line: first, bytes: bytes, content: .bad(problem)) }
        var values: [ImportValue] = []
        for field in fields {
            guard let value = kind == .csv ? csvValue(field) : tsvValue(field.bytes) else {
                return ImportRecord(
                    line: first, bytes: bytes,
                    content: .bad("a field is not UTF-8, or has an invalid escape"))
            }
            values.append(.value(value))
        }
        return ImportRecord(line: first, bytes: bytes, content: .values(values))
    }

    func names() throws(Failure) -> [String]? {
        guard try source.peek() != nil else { return nil }
        let (fields, bytes, problem) = try kind == .csv ? readCSV() : readTSV()
        try checkDelimiter(fields, bytes, isBad: problem != nil)
        var names: [String] = []
        for field in fields {
            let bytes = kind == .csv ? field.bytes : DelimitedReader.unescaped(field.bytes)
            guard problem == nil, let name = bytes.flatMap({ String(validating: $0, as: UTF8.self) }) else {
                throw Failure(
                    .badData, "input",
                    "The input cannot be imported: its first line does not name the columns.")
            }
            names.append(name)
        }
        return names
    }

    /// Throws if the fields of the first line are probably separated by another character.
    private func checkDelimiter(_ fields: [Field], _ bytes: [UInt8], isBad: Bool) throws(Failure) {
        guard kind == .csv, delimiter == nil, fields.count == 1, isBad || !fields[0].isQuoted else { return }
        let words: String
        if bytes.contains(UInt8(ascii: ";")) {
            words = "a semicolon: give --delimiter ';'"
        } else if bytes.contains(UInt8(ascii: "\t")) {
            words = "a tab: give --delimiter tab, or --format tsv for the escapes of coffer query"
        } else {
            return
        }
        throw Failure(
            .badData, "input",
            "The input cannot be imported: its first line has no comma, but \(words). For a single column of "
                + "that name, give --delimiter ','.")
    }

    // MARK: CSV

    private func readCSV() throws(Failure) -> (fields: [Field], bytes: [UInt8], problem: String?) {
        var (fields, bytes, field) = ([Field](), [UInt8](), Field())
        // True while inside the quotes of a field, and after its closing quote.
        var (isInside, isClosed, problem) = (false, false, nil as String?)
        let delimiter = delimiter ?? UInt8(ascii: ",")
        while let byte = try source.next() {
            guard bytes.count < DelimitedReader.longestRecord else { throw tooLong(first: line) }
            bytes.append(byte)
            if byte == UInt8(ascii: "\n") { line += 1 }
            if isInside {
                guard byte == UInt8(ascii: "\"") else {
                    field.bytes.append(byte)
                    continue
                }
                if try source.peek() == UInt8(ascii: "\"") {
                    field.bytes.append(byte)
                    bytes.append(byte)
                    _ = try source.next()
                } else {
                    (isInside, isClosed) = (false, true)
                }
                continue
            }
            // A line may end in CR LF.
            if byte == UInt8(ascii: "\r"), try source.peek() == UInt8(ascii: "\n") { continue }
            switch byte {
            case UInt8(ascii: "\""):
                if field.bytes.isEmpty && !isClosed {
                    (isInside, field.isQuoted) = (true, true)
                } else {
                    problem = "a quote is inside an unquoted field"
                }
            case delimiter:
                fields.append(field)
                (field, isClosed) = (Field(), false)
            case UInt8(ascii: "\n"):
                return (fields + [field], bytes, problem)
            default:
                if isClosed { problem = "text follows a closing quote" }
                field.bytes.append(byte)
            }
        }
        return (fields + [field], bytes, isInside ? "a quote is not closed" : problem)
    }

    private func csvValue(_ field: Field) -> DatabaseValue? {
        guard let text = String(validating: field.bytes, as: UTF8.self) else { return nil }
        guard !field.isQuoted else { return text.databaseValue }
        if text == nullText { return .null }
        if text.hasPrefix("x'"), text.hasSuffix("'"), text.utf8.count >= 3,
            let data = Hex.bytes(text.dropFirst(2).dropLast())
        {
            return data.databaseValue
        }
        return DelimitedReader.infinity(text) ?? text.databaseValue
    }

    private static func infinity(_ text: String) -> DatabaseValue? {
        text == "Inf"
            ? Double.infinity.databaseValue : text == "-Inf" ? (-Double.infinity).databaseValue : nil
    }

    // MARK: Tab-separated values

    private func readTSV() throws(Failure) -> (fields: [Field], bytes: [UInt8], problem: String?) {
        var (fields, bytes, field) = ([Field](), [UInt8](), Field())
        while let byte = try source.next() {
            guard bytes.count < DelimitedReader.longestRecord else { throw tooLong(first: line) }
            bytes.append(byte)
            if byte == UInt8(ascii: "\r"), try source.peek() == UInt8(ascii: "\n") { continue }
            switch byte {
            case UInt8(ascii: "\t"):
                fields.append(field)
                field = Field()
            case UInt8(ascii: "\n"):
                line += 1
                return (fields + [field], bytes, nil)
            default: field.bytes.append(byte)
            }
        }
        return (fields + [field], bytes, nil)
    }

    private func tsvValue(_ bytes: [UInt8]) -> DatabaseValue? {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        if text == "\\N" { return .null }
        if text.hasPrefix("\\x"), let data = Hex.bytes(text.dropFirst(2)) { return data.databaseValue }
        if let infinity = DelimitedReader.infinity(text) { return infinity }
        return DelimitedReader.unescaped(bytes).map { String(decoding: $0, as: UTF8.self).databaseValue }
    }

    /// Returns the bytes of a text, or nil if an escape is incomplete.
    private static func unescaped(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.contains(UInt8(ascii: "\\")) else { return bytes }
        var (result, isEscaped) = ([UInt8](), false)
        for byte in bytes {
            guard isEscaped || byte != UInt8(ascii: "\\") else {
                isEscaped = true
                continue
            }
            switch byte {
            case UInt8(ascii: "t") where isEscaped: result.append(UInt8(ascii: "\t"))
            case UInt8(ascii: "n") where isEscaped: result.append(UInt8(ascii: "\n"))
            case UInt8(ascii: "r") where isEscaped: result.append(UInt8(ascii: "\r"))
            default: result.append(byte)
            }
            isEscaped = false
        }
        return isEscaped ? nil : result
    }

    private func tooLong(first: Int) -> Failure {
        Failure(
            .badData, "input",
            "The row before line \(first) is too long: is a quote not closed?")
    }
}
