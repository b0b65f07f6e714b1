internal import SQLCipherBridge

/// The schema of a damaged database: its tables, indexes, views and triggers.
struct SalvagedSchema {
    struct Entry {
        let type: String
        let name: String
        let table: String
        /// The root page; zero for an object without a b-tree.
        let root: Int
        /// The definition; nil for an index that belongs to a constraint.
        let sql: String?
    }

    /// The entries, in order of creation.
    private(set) var entries: [Entry] = []
    /// True if the whole schema could be read.
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

    /// Returns an unused name that starts with `start`. Names are compared without regard to case.
    func freeName(_ start: String) -> String {
        start.unique(among: Set(entries.map { CaseInsensitiveName($0.name) }))
    }

    var indexes: [Entry] { entries.filter { $0.type == "index" } }

    /// Views, triggers and virtual tables.
    var entriesWithoutTree: [Entry] {
        entries.filter { $0.type == "view" || $0.type == "trigger" || $0.type == "table" && $0.root == 0 }
    }
}

extension SalvagedSchema.Entry {
    /// True for the table of the largest row IDs ever used (`sqlite_sequence`), in any case.
    var isOfSequences: Bool { CaseInsensitiveName(name) == CaseInsensitiveName("sqlite_sequence") }

    /// True if this is a full-text virtual table.
    var isFullText: Bool { isMade(by: ["fts3", "fts4", "fts5"]) }

    /// True if this is an R-Tree.
    var isRTree: Bool { isMade(by: ["rtree", "rtree_i32"]) }

    /// True if this is an R-Tree with integer coordinates.
    var isRTreeOfIntegers: Bool { isMade(by: ["rtree_i32"]) }

    /// The possible names of the shadow tables of a full-text table or an R-Tree.
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

    /// Returns true if the virtual table uses one of these modules.
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
    /// Returns the text of a name or a definition; nil for other values. Invalid bytes of UTF-8 are escaped.
    /// Invalid UTF-16 is not decoded.
    func text(_ encoding: TextEncoding) -> String? {
        guard case .text(let stored) = self else { return nil }
        let bytes = Array(stored)
        switch encoding {
        case .utf8: return String(identifier: bytes)
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
