internal import SQLCipherBridge

/// What the records of a page have, column by column: what a table must allow to have had them all.
struct SharedShape {
    /// Kinds of values, as far as a table may refuse them.
    struct Kinds: OptionSet {
        let rawValue: UInt8
        static let null = Kinds(rawValue: 1)
        static let number = Kinds(rawValue: 2)
        static let bytes = Kinds(rawValue: 4)
    }

    /// Those that each column has.
    private(set) var kinds: [Kinds] = []
    /// How many values a record has.
    private(set) var leastCount = Int.max
    private(set) var mostCount = 0
    /// Whether the end of a record is lost.
    private(set) var isAnyCut = false

    init(_ records: some Sequence<StoredRecord>) {
        for record in records {
            leastCount = min(leastCount, record.valueCount)
            mostCount = max(mostCount, record.valueCount)
            isAnyCut = isAnyCut || record.isCut
            var column = 0
            record.forEachKind { kind in
                if column == kinds.count { kinds.append([]) }
                kinds[column].insert(Kinds(kind))
                column += 1
            }
        }
    }
}

extension SharedShape.Kinds {
    fileprivate init(_ kind: StoredRecord.Field.Kind) {
        self =
            switch kind {
            case .null: .null
            case .integer, .real: .number
            case .text, .blob: .bytes
            }
    }
}
