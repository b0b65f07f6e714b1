/// The values of a row or of an entry of an index, as they are stored:
/// <https://www.sqlite.org/fileformat2.html#record_format>.
struct StoredRecord {
    enum Value: Equatable {
        case null
        case integer(Int64)
        case real(Double)
        /// In the encoding of the database: bytes of the record, which are not copied.
        case text(ArraySlice<UInt8>)
        case blob(ArraySlice<UInt8>)
    }

    /// How many of its bytes could be read.
    let size: Int
    /// Those that are there as a whole.
    private(set) var values: [Value] = []
    /// Whether values are missing at the end that the record says it has.
    private(set) var isCut = false

    /// - Parameters:
    ///   - bytes: those of the record that could be read.
    ///   - isWhole: whether these are all.
    /// - Returns: nil when this is no record.
    init?(_ bytes: ArraySlice<UInt8>, isWhole: Bool) {
        size = bytes.count
        var offset = bytes.startIndex
        guard let headerSize = bytes.varint(at: &offset).flatMap(Int.init(exactly:)), headerSize >= 1 else {
            return nil
        }
        guard headerSize <= bytes.count else {
            guard !isWhole else { return nil }
            isCut = true
            return
        }
        let header = bytes[..<(bytes.startIndex + headerSize)]
        guard offset <= header.endIndex else { return nil }
        var place = header.endIndex
        while offset < header.endIndex {
            guard let type = header.varint(at: &offset), let count = StoredRecord.valueSize(of: type) else {
                return nil
            }
            guard count <= bytes.endIndex - place else {
                guard !isWhole else { return nil }
                isCut = true
                return
            }
            // More than a row may have: a record of zeros would be a million of them.
            guard values.count < StoredRecord.mostValues else { return nil }
            values.append(StoredRecord.value(of: type, bytes[place..<place + count]))
            place += count
        }
        if isWhole, place != bytes.endIndex { return nil }
    }

    /// As many as SQLite can be built for.
    private static let mostValues = 32_767

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

    private static func value(of type: Int64, _ bytes: ArraySlice<UInt8>) -> Value {
        switch type {
        case 0: return .null
        case 8: return .integer(0)
        case 9: return .integer(1)
        case 7: return .real(Double(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) }))
        case 1...6:
            let start: Int64 = bytes.first.map { $0 < 0x80 } ?? true ? 0 : -1
            return .integer(bytes.reduce(start) { $0 << 8 | Int64($1) })
        default: return type % 2 == 0 ? .blob(bytes) : .text(bytes)
        }
    }
}
