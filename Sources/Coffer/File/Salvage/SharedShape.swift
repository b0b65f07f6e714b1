/// The combined shape of a page's records, column by column: a table can only have had them if it allows all
/// of it.
struct SharedShape {
    /// The kinds of values, as far as a table may refuse them.
    struct Kinds: OptionSet {
        let rawValue: UInt8
        static let null = Kinds(rawValue: 1)
        static let number = Kinds(rawValue: 2)
        static let bytes = Kinds(rawValue: 4)
    }

    /// The kinds in each column.
    private(set) var kinds: [Kinds] = []
    /// The smallest number of values in a record; `mostCount` is the largest.
    private(set) var leastCount = Int.max
    private(set) var mostCount = 0
    /// True if the end of any record is lost.
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
