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
    /// The size of the last record, which the next one probably has.
    private var usual = (fields: 0, bytes: 0)

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

    /// A field of a record without problems.
    private struct Field {
        /// The place of the text in the record, without the quotes around it.
        var range: Range<Int>
        var isQuoted = false
        /// True if each quote of the text is doubled in the record.
        var hasDoubledQuotes = false

        func bytes(in record: [UInt8]) -> [UInt8] {
            guard hasDoubledQuotes else { return Array(record[range]) }
            var (bytes, isSecond) = ([UInt8](), false)
            for byte in record[range] {
                isSecond = byte == UInt8(ascii: "\"") && !isSecond
                if !isSecond || byte != UInt8(ascii: "\"") { bytes.append(byte) }
            }
            return bytes
        }

        /// Returns nil for a text that is not UTF-8.
        func text(in record: [UInt8]) -> String? {
            hasDoubledQuotes
                ? String(utf8: bytes(in: record).span) : String(utf8: record.span.extracting(range))
        }
    }

    func next() throws(Failure) -> ImportRecord? {
        guard try source.peek() != nil else { return nil }
        let first = line
        let (fields, bytes, mistake) = try kind == .csv ? readCSV() : readTSV()
        let problem = mistake ?? (first == 1 && hasReturn(fields, bytes) ? DelimitedReader.onlyReturns : nil)
        if let problem { return ImportRecord(line: first, bytes: bytes, content: .bad(problem)) }
        var values: [ImportValue] = []
        values.reserveCapacity(fields.count)
        for field in fields {
            guard let value = kind == .csv ? csvValue(field, bytes) : tsvValue(field, bytes) else {
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
        guard !hasReturn(fields, bytes) else { throw DelimitedReader.hasOnlyReturns }
        var names: [String] = []
        for field in fields {
            let content = field.bytes(in: bytes)
            let text = kind == .csv ? content : DelimitedReader.unescaped(content)
            guard problem == nil, let name = text.flatMap({ String(validating: $0, as: UTF8.self) }) else {
                throw Failure(
                    .badData, "input",
                    "The input cannot be imported: its first line does not name the columns.")
            }
            names.append(name)
        }
        return names
    }

    /// Skips the first line, which need not name the columns.
    func skipNames() throws(Failure) {
        guard case .bad(DelimitedReader.onlyReturns) = try next()?.content else { return }
        throw DelimitedReader.hasOnlyReturns
    }

    /// Returns true if a field has a CR that is not quoted. If the lines of an input end in CR alone, it has
    /// one line with such fields.
    private func hasReturn(_ fields: [Field], _ bytes: [UInt8]) -> Bool {
        fields.contains { !$0.isQuoted && bytes[$0.range].contains(UInt8(ascii: "\r")) }
    }

    private static let onlyReturns =
        "its first line has a CR that no LF follows. If all lines end so, convert them with tr '\\r' '\\n'"
    private static let hasOnlyReturns = Failure(
        .badData, "input", "The input cannot be imported: \(onlyReturns).")

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
        // Local copies, because each access to a property of an object is checked.
        var (source, line) = (self.source, self.line)
        var (fields, bytes, field) = ([Field](), [UInt8](), Field(range: 0..<0))
        fields.reserveCapacity(usual.fields)
        bytes.reserveCapacity(usual.bytes)
        defer {
            (self.source, self.line) = (source, line)
            usual = (min(fields.count, 256), min(bytes.count, 4096))
        }
        // The start of the field, the end of its text after a closing quote, and true while inside quotes.
        var (start, closed, isInside, problem) = (0, nil as Int?, false, nil as String?)
        let delimiter = delimiter ?? UInt8(ascii: ",")
        func endField(at end: Int) {
            field.range = field.isQuoted ? start + 1..<max(closed ?? end, start + 1) : start..<end
            fields.append(field)
            (field, start, closed) = (Field(range: 0..<0), bytes.count, nil)
        }
        while true {
            if isInside {
                source.take(into: &bytes) { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\n") }
            } else if closed == nil {
                source.take(into: &bytes) {
                    $0 == delimiter || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\n")
                        || $0 == UInt8(ascii: "\r")
                }
            }
            guard let byte = try source.next() else { break }
            guard bytes.count < DelimitedReader.longestRecord else {
                throw DelimitedReader.tooLong(first: line)
            }
            bytes.append(byte)
            if byte == UInt8(ascii: "\n") { line += 1 }
            if isInside {
                guard byte == UInt8(ascii: "\"") else { continue }
                if try source.peek() == UInt8(ascii: "\"") {
                    field.hasDoubledQuotes = true
                    bytes.append(byte)
                    _ = try source.next()
                } else {
                    (isInside, closed) = (false, bytes.count - 1)
                }
                continue
            }
            // A line may end in CR LF.
            if byte == UInt8(ascii: "\r"), try source.peek() == UInt8(ascii: "\n") {
                _ = try source.next()
                line += 1
                bytes.append(UInt8(ascii: "\n"))
                endField(at: bytes.count - 2)
                return (fields, bytes, problem)
            }
            switch byte {
            case UInt8(ascii: "\""):
                if bytes.count == start + 1 {
                    (isInside, field.isQuoted) = (true, true)
                } else {
                    problem = "a quote is inside an unquoted field"
                }
            case delimiter:
                endField(at: bytes.count - 1)
            case UInt8(ascii: "\n"):
                endField(at: bytes.count - 1)
                return (fields, bytes, problem)
            default:
                if closed != nil { problem = "text follows a closing quote" }
            }
        }
        endField(at: bytes.count)
        return (fields, bytes, isInside ? "a quote is not closed" : problem)
    }

    private func csvValue(_ field: Field, _ record: [UInt8]) -> DatabaseValue? {
        guard let text = field.text(in: record) else { return nil }
        guard !field.isQuoted else { return text.databaseValue }
        if text.utf8.count == nullText.utf8.count, text.hasSameBytes(as: nullText) { return .null }
        switch record[field.range].last {
        case UInt8(ascii: "'"):
            guard text.utf8.count >= 3, text.hasPrefix("x'"),
                let data = Hex.bytes(text.dropFirst(2).dropLast())
            else { return text.databaseValue }
            return data.databaseValue
        case UInt8(ascii: "f"): return DelimitedReader.infinity(text) ?? text.databaseValue
        default: return text.databaseValue
        }
    }

    private static func infinity(_ text: String) -> DatabaseValue? {
        text == "Inf"
            ? Double.infinity.databaseValue : text == "-Inf" ? (-Double.infinity).databaseValue : nil
    }

    // MARK: Tab-separated values

    private func readTSV() throws(Failure) -> (fields: [Field], bytes: [UInt8], problem: String?) {
        var source = self.source
        defer { self.source = source }
        var (fields, bytes, start) = ([Field](), [UInt8](), 0)
        while let byte = try source.next() {
            guard bytes.count < DelimitedReader.longestRecord else {
                throw DelimitedReader.tooLong(first: line)
            }
            bytes.append(byte)
            switch byte {
            case UInt8(ascii: "\t"):
                fields.append(Field(range: start..<bytes.count - 1))
                start = bytes.count
            case UInt8(ascii: "\n"):
                line += 1
                let end = bytes.count - 1
                let hasReturn = end > start && bytes[end - 1] == UInt8(ascii: "\r")
                return (fields + [Field(range: start..<(hasReturn ? end - 1 : end))], bytes, nil)
            default: break
            }
        }
        return (fields + [Field(range: start..<bytes.count)], bytes, nil)
    }

    private func tsvValue(_ field: Field, _ record: [UInt8]) -> DatabaseValue? {
        guard let text = field.text(in: record) else { return nil }
        if text == "\\N" { return .null }
        if text.hasPrefix("\\x"), let data = Hex.bytes(text.dropFirst(2)) { return data.databaseValue }
        if let infinity = DelimitedReader.infinity(text) { return infinity }
        guard text.utf8.contains(UInt8(ascii: "\\")) else { return text.databaseValue }
        return DelimitedReader.unescaped(Array(text.utf8)).map {
            String(decoding: $0, as: UTF8.self).databaseValue
        }
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

    private static func tooLong(first: Int) -> Failure {
        Failure(
            .badData, "input",
            "The row before line \(first) is too long: is a quote not closed?")
    }
}

extension String {
    /// Returns nil if the bytes are not UTF-8.
    fileprivate init?(utf8 bytes: Span<UInt8>) {
        guard let text = try? UTF8Span(validating: bytes) else { return nil }
        self.init(copying: text)
    }
}
