internal import SQLCipherBridge

/// What a damaged database says of its tables, indexes, views and triggers.
struct SalvagedSchema {
    struct Entry {
        let type: String
        let name: String
        let table: String
        /// Zero for what has no tree.
        let root: Int
        /// Nil for indexes that belong to a constraint.
        let sql: String?
    }

    /// In the order in which they were made.
    private(set) var entries: [Entry] = []
    /// Whether the schema could be read to its end.
    let isWhole: Bool
    let encoding: TextEncoding

    init(_ reader: TreeReader, _ header: DatabaseHeader?) throws {
        let encoding: TextEncoding =
            switch header?.textEncoding {
            case 2: .utf16LittleEndian
            case 3: .utf16BigEndian
            case nil: try reader.likelyEncoding()
            default: .utf8
            }
        self.encoding = encoding
        var found: [(rowID: Int64, entry: Entry)] = []
        var hasUnreadable = false
        let loss = try reader.read(root: 1, isTable: true) { row in
            guard let entry = Entry(row.record.values, encoding), !row.record.isCut else {
                return hasUnreadable = true
            }
            found.append((row.rowID, entry))
        }
        isWhole = loss.isNothing && !hasUnreadable
        entries = found.sorted { $0.rowID < $1.rowID }.map(\.entry)
    }

    /// The tables that have rows of their own.
    var tables: [Entry] { entries.filter { $0.type == "table" && $0.root > 0 } }

    /// A name that nothing has, in whatever case.
    func freeName(_ start: String) -> String {
        let taken = Set(entries.map { CaseInsensitiveName($0.name) })
        var name = start
        while taken.contains(CaseInsensitiveName(name)) { name += "_" }
        return name
    }

    var indexes: [Entry] { entries.filter { $0.type == "index" } }

    /// Views, triggers and virtual tables.
    var entriesWithoutTree: [Entry] {
        entries.filter { $0.type == "view" || $0.type == "trigger" || $0.type == "table" && $0.root == 0 }
    }
}

extension SalvagedSchema.Entry {
    /// Whether it is the table of the greatest row IDs that were ever used, in whatever case.
    var isOfSequences: Bool { CaseInsensitiveName(name) == CaseInsensitiveName("sqlite_sequence") }

    /// Whether it is a full-text table, for a virtual table.
    var isFullText: Bool { isMade(by: ["fts3", "fts4", "fts5"]) }

    /// Whether it is an R-Tree, for a virtual table.
    var isRTree: Bool { isMade(by: ["rtree", "rtree_i32"]) }

    /// Whether the coordinates of an R-Tree are integers.
    var isRTreeOfIntegers: Bool { isMade(by: ["rtree_i32"]) }

    /// The names that the tables may have in which a full-text table or an R-Tree keeps its content.
    var namesOfParts: [String] {
        let suffixes =
            if isMade(by: ["fts5"]) {
                ["config", "content", "data", "docsize", "idx"]
            } else if isFullText {
                ["content", "docsize", "segdir", "segments", "stat"]
            } else {
                ["node", "parent", "rowid"]
            }
        return suffixes.map { "\(name)_\($0)" }
    }

    /// Whether one of these modules makes the virtual table.
    private func isMade(by modules: [String]) -> Bool {
        let words = (sql ?? "").lowercased().split { $0.isWhitespace || "(\"'`[];".contains($0) }
        return zip(words, words.dropFirst()).contains { word, next in
            word == "using" && modules.contains { next == $0 }
        }
    }

    fileprivate init?(_ values: [StoredRecord.Value], _ encoding: TextEncoding) {
        guard values.count == 5, let type = values[0].text(encoding), let name = values[1].text(encoding),
            let table = values[2].text(encoding), ["table", "index", "view", "trigger"].contains(type)
        else { return nil }
        let root: Int
        switch values[3] {
        case .integer(let number): root = Int(exactly: number) ?? 0
        case .null: root = 0
        default: return nil
        }
        self.init(type: type, name: name, table: table, root: max(0, root), sql: values[4].text(encoding))
    }
}

extension StoredRecord.Value {
    /// The text of a name or a definition; nil for other values, and for text that is damaged.
    func text(_ encoding: TextEncoding) -> String? {
        guard case .text(let stored) = self else { return nil }
        let bytes = Array(stored)
        switch encoding {
        case .utf8: return String(validating: bytes, as: UTF8.self)
        case .utf16LittleEndian, .utf16BigEndian:
            guard bytes.count.isMultiple(of: 2) else { return nil }
            let isBig = encoding == .utf16BigEndian
            let units = stride(from: 0, to: bytes.count, by: 2).map { index in
                let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
                return isBig ? first << 8 | second : second << 8 | first
            }
            return String(validating: units, as: UTF16.self)
        }
    }
}
