/// The stored values of a row or of an index entry: <https://www.sqlite.org/fileformat2.html#record_format>.
///
/// Only the bytes are kept. Each access to the values parses them again.
struct StoredRecord {
    enum Value: Equatable {
        case null
        case integer(Int64)
        case real(Double)
        /// Text in the encoding of the database. The bytes are a slice of the record, not a copy.
        case text(ArraySlice<UInt8>)
        case blob(ArraySlice<UInt8>)
    }

    /// The bytes that could be read.
    let bytes: ArraySlice<UInt8>
    /// The number of complete values.
    let valueCount: Int
    /// True if the record header states more values than there are.
    let isCut: Bool

    /// The number of bytes that could be read.
    var size: Int { bytes.count }

    /// - Parameters:
    ///   - bytes: the bytes of the record that could be read.
    ///   - isWhole: true if the record has no other bytes.
    /// - Returns: nil if this is not a record.
    init?(_ bytes: ArraySlice<UInt8>, isWhole: Bool) {
        let span = bytes.span
        var count = 0
        var isCut = false
        guard var fields = Fields(span) else { return nil }
        if fields.headerSize > span.count {
            isCut = true
        } else {
            while !fields.isAtEnd {
                guard let field = fields.next(in: span) else { return nil }
                guard field.place.upperBound <= span.count else {
                    isCut = true
                    break
                }
                // A row cannot have more values. Without this limit, a record of zeros would have a million
                // of them.
                guard count < StoredRecord.mostValues else { return nil }
                count += 1
            }
        }
        if isWhole, isCut || fields.place != span.count { return nil }
        self.bytes = bytes
        valueCount = count
        self.isCut = isCut
    }

    /// The largest number of columns that SQLite can be compiled for.
    private static let mostValues = 32_767

    /// The complete values.
    var values: [Value] {
        var values: [Value] = []
        values.reserveCapacity(valueCount)
        let span = bytes.span
        guard var fields = Fields(span) else { return [] }
        while values.count < valueCount, let field = fields.next(in: span) {
            values.append(value(of: field, span))
        }
        return values
    }

    /// Calls `body` with the kind of each complete value.
    func forEachKind(_ body: (Field.Kind) -> Void) {
        let span = bytes.span
        guard var fields = Fields(span) else { return }
        var count = 0
        while count < valueCount, let field = fields.next(in: span) {
            body(field.kind)
            count += 1
        }
    }

    private func value(of field: Field, _ span: Span<UInt8>) -> Value {
        let place = bytes.startIndex + field.place.lowerBound..<bytes.startIndex + field.place.upperBound
        return switch field.kind {
        case .null: .null
        case .integer: .integer(field.integer(in: span))
        case .real: .real(field.real(in: span))
        case .text: .text(bytes[place])
        case .blob: .blob(bytes[place])
        }
    }

    /// The description of a value in the record header.
    struct Field {
        enum Kind {
            case null, integer, real, text, blob
        }

        fileprivate let type: Int64
        /// The offsets of the value in the record.
        let place: Range<Int>

        /// Returns the offsets of the value in a buffer in which the record begins at `start`.
        func place(behind start: Int) -> Range<Int> { start + place.lowerBound..<start + place.upperBound }

        var kind: Kind {
            switch type {
            case 0: .null
            case 7: .real
            case 1...9: .integer
            default: type % 2 == 0 ? .blob : .text
            }
        }

        func integer(in record: Span<UInt8>) -> Int64 {
            guard type < 8 else { return type - 8 }
            var number: Int64 = record[place.lowerBound] < 0x80 ? 0 : -1
            for index in place { number = number << 8 | Int64(record[index]) }
            return number
        }

        func real(in record: Span<UInt8>) -> Double {
            Double(bitPattern: UInt64(bitPattern: integer(in: record)))
        }
    }

    /// Parses the header of a record, value by value.
    struct Fields {
        /// The size in bytes that the header states for itself.
        let headerSize: Int
        /// The offset of the next value.
        private(set) var place: Int
        private var offset = 0

        /// - Returns: nil if this is not a record.
        init?(_ record: Span<UInt8>) {
            guard let size = record.varint(at: &offset).flatMap(Int.init(exactly:)), size >= offset else {
                return nil
            }
            headerSize = size
            place = size
        }

        var isAtEnd: Bool { offset >= headerSize }

        /// Returns the next value, whose offsets may be outside the record; nil at the end, and for a
        /// reserved serial type.
        mutating func next(in record: Span<UInt8>) -> Field? {
            guard !isAtEnd, headerSize <= record.count,
                let type = record.extracting(..<headerSize).varint(at: &offset),
                let size = Fields.valueSize(of: type), size <= Int.max - place
            else { return nil }
            defer { place += size }
            return Field(type: type, place: place..<place + size)
        }

        /// Returns the size in bytes of a value with this serial type; nil for reserved types.
        private static func valueSize(of type: Int64) -> Int? {
            switch type {
            case 0, 8, 9: 0
            case 1...4: Int(type)
            case 5: 6
            case 6, 7: 8
            case 12...: Int(exactly: (type - 12) / 2)
            default: nil
            }
        }
    }
}
