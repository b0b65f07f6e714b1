internal import SQLCipherBridge

/// The conversions that SQLite makes when a value is stored in a column:
/// <https://www.sqlite.org/datatype3.html#determination_of_column_affinity>.
enum ColumnAffinity {
    /// `number` is SQLite's INTEGER or NUMERIC, which make the same conversions.
    case blob, text, number, real

    /// - Parameters:
    ///   - type: the declared type.
    ///   - isStrict: true for a column of a STRICT table.
    init(type: String, isStrict: Bool) {
        let type = type.uppercased()
        func has(_ words: String...) -> Bool { words.contains { type.contains($0) } }
        // The order matters.
        switch true {
        case has("INT"): self = .number
        case has("CHAR", "CLOB", "TEXT"): self = .text
        case has("BLOB"), type.isEmpty, isStrict && type == "ANY": self = .blob
        case has("REAL", "FLOA", "DOUB"): self = .real
        default: self = .number
        }
    }

    /// Returns true if SQLite would store another value than this one: the table got its types after the
    /// value, for example by `PRAGMA writable_schema`.
    func changes(_ field: StoredRecord.Field, of record: Span<UInt8>, _ encoding: TextEncoding) -> Bool {
        switch (self, field.kind) {
        case (.text, .integer), (.text, .real): true
        case (.number, .real):
            Int64(exactly: field.real(in: record)).map { $0 > .min && $0 < .max } ?? false
        case (.number, .text), (.real, .text): isNumber(record.extracting(field.place), encoding)
        default: false
        }
    }

    /// Returns true if a text has the form of a number: spaces, a sign, digits with a decimal point, an
    /// exponent, and spaces.
    private func isNumber(_ text: Span<UInt8>, _ encoding: TextEncoding) -> Bool {
        let (size, place) =
            switch encoding {
            case .utf8: (1, 0)
            case .utf16LittleEndian: (2, 0)
            case .utf16BigEndian: (2, 1)
            }
        guard text.count.isMultiple(of: size) else { return false }
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: text.count, by: size) {
            let byte = text[start + place]
            // Most texts in these columns are dates and names.
            guard byte < 0x3a || byte | 0x20 == 0x65, size == 1 || text[start + 1 - place] == 0 else {
                return false
            }
            bytes.append(byte)
        }
        var rest = bytes[...]
        func skip(while isSkipped: (UInt8) -> Bool) -> Int {
            let count = rest.prefix(while: isSkipped).count
            rest = rest.dropFirst(count)
            return count
        }
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }
        func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
        func isSign(_ byte: UInt8) -> Bool { byte == 0x2b || byte == 0x2d }
        _ = skip(while: isSpace)
        if rest.first.map(isSign) == true { rest = rest.dropFirst() }
        var digitCount = skip(while: isDigit)
        if rest.first == 0x2e {
            rest = rest.dropFirst()
            digitCount += skip(while: isDigit)
        }
        guard digitCount > 0 else { return false }
        if let first = rest.first, first | 0x20 == 0x65 {
            rest = rest.dropFirst()
            if rest.first.map(isSign) == true { rest = rest.dropFirst() }
            guard skip(while: isDigit) > 0 else { return false }
        }
        _ = skip(while: isSpace)
        return rest.isEmpty
    }
}
