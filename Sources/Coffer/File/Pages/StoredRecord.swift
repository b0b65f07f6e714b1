/// The values of a row or of an entry of an index, as they are stored:
/// <https://www.sqlite.org/fileformat2.html#record_format>.
///
/// They are looked at again each time that they are asked for: nothing but the bytes is kept.
struct StoredRecord {
    enum Value: Equatable {
        case null
        case integer(Int64)
        case real(Double)
        /// In the encoding of the database: bytes of the record, which are not copied.
        case text(ArraySlice<UInt8>)
        case blob(ArraySlice<UInt8>)
    }

    /// Those that could be read.
    let bytes: ArraySlice<UInt8>
    /// How many values are there as a whole.
    let valueCount: Int
    /// Whether values are missing at the end that the record says it has.
    let isCut: Bool

    /// How many of its bytes could be read.
    var size: Int { bytes.count }

    /// - Parameters:
    ///   - bytes: those of the record that could be read.
    ///   - isWhole: whether these are all.
    /// - Returns: nil when this is no record.
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
                // More than a row may have: a record of zeros would be a million of them.
                guard count < StoredRecord.mostValues else { return nil }
                count += 1
            }
        }
        if isWhole, isCut || fields.place != span.count { return nil }
        self.bytes = bytes
        valueCount = count
        self.isCut = isCut
    }

    /// As many as SQLite can be built for.
    private static let mostValues = 32_767

    /// Those that are there as a whole.
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

    /// Calls `body` with the kind of each value that is there as a whole.
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

    /// What the header of a record says of a value.
    struct Field {
        enum Kind {
            case null, integer, real, text, blob
        }

        fileprivate let type: Int64
        /// Its bytes, in those of the record.
        let place: Range<Int>

        /// Its bytes, where the record is behind others.
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

    /// Goes through the header of a record, value by value.
    struct Fields {
        /// How many bytes the header says that it has.
        let headerSize: Int
        /// Where the next value begins.
        private(set) var place: Int
        private var offset = 0

        /// - Returns: nil when this is no record.
        init?(_ record: Span<UInt8>) {
            guard let size = record.varint(at: &offset).flatMap(Int.init(exactly:)), size >= offset else {
                return nil
            }
            headerSize = size
            place = size
        }

        var isAtEnd: Bool { offset >= headerSize }

        /// The next value, the bytes of which may be none of the record; nil at the end, and for a type that
        /// there is not.
        mutating func next(in record: Span<UInt8>) -> Field? {
            guard !isAtEnd, headerSize <= record.count,
                let type = record.extracting(..<headerSize).varint(at: &offset),
                let size = Fields.valueSize(of: type), size <= Int.max - place
            else { return nil }
            defer { place += size }
            return Field(type: type, place: place..<place + size)
        }

        /// How many bytes a value of a type has; nil for types that there are not.
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
