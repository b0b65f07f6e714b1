internal import SQLCipherBridge

/// Checks the b-trees of a database like SQLite's `quick_check`, in a fraction of the time: `quick_check`
/// reads all rows a second time to check their constraints.
///
/// It can confirm that the b-trees are whole, but it does not diagnose damage. Anything unexpected falls back
/// to the engine's check. So do databases with auto-vacuum or virtual tables, and rows with a header that is
/// longer than a page.
struct TreeCheck {
    private let view: any StoredBytes
    private let header: DatabaseHeader
    private let pageCount: Int
    private let usableSize: Int
    private let lockPage: Int
    /// One bit for each page.
    private var isUsed: [UInt64]
    private var usedCount = 0
    /// One bit for each byte of the current page.
    private var room: ByteMap

    private struct Doubt: Error {}

    /// - Parameters:
    ///   - view: the decrypted content, to which nothing writes.
    ///   - schema: a connection that reads the same content.
    ///   - checkpoint: called now and then; throws to stop.
    /// - Returns: false if the engine has to check.
    static func isWhole(
        _ view: any StoredBytes, schema: ConnectionHandle, checkpoint: () throws -> Void
    ) throws -> Bool {
        do {
            let tables = try Table.all(in: schema)
            var check = try TreeCheck(view)
            try check.useFreePages(checkpoint)
            for table in tables {
                let rowCount = try check.walk(root: table.root, isOfTable: table.hasRowIDs, checkpoint)
                for index in table.indexes {
                    let count = try check.walk(root: index.root, isOfTable: false, checkpoint)
                    guard index.isPartial || count == rowCount else { throw Doubt() }
                }
            }
            return check.usedCount == check.pageCount - (check.lockPage <= check.pageCount ? 1 : 0)
        } catch is Doubt {
            return false
        } catch let error as EngineError
            where [EngineCode.error, EngineCode.corrupt].contains(error.primaryCode)
        {
            return false
        }
    }

    /// The b-trees of a table and of its indexes.
    private struct Table {
        let root: Int
        let hasRowIDs: Bool
        var indexes: [(root: Int, isPartial: Bool)] = []

        /// - Throws: `Doubt` if the schema has objects that only the engine can check, such as virtual
        ///   tables, which have no root page.
        static func all(in schema: ConnectionHandle) throws -> [Table] {
            let rowIDs = try haveRowIDs(schema)
            var tables: [(name: String, root: Int)] = []
            var indexes: [String: [String: Int]] = [:]
            // Matching is exact: any other type, even `VIEW`, is left to the engine.
            let sql = """
                SELECT type, name, tbl_name, rootpage FROM main.sqlite_schema
                WHERE coalesce(type, '') NOT IN ('view', 'trigger') OR rootpage <> 0
                """
            try schema.forEachRow(trusted: sql) { row in
                let (root, name, table) = (
                    Int(row.int64(at: 3)), row.identifier(at: 1), row.identifier(at: 2)
                )
                switch row.string(at: 0) {
                case "table" where root > 0: tables.append((name, root))
                case "index" where root > 0: indexes[table, default: [:]][name] = root
                default: throw Doubt()
                }
            }
            var all = [Table(root: 1, hasRowIDs: true)]
            for (name, root) in tables {
                guard let hasRowIDs = rowIDs[name] else { throw Doubt() }
                var table = Table(root: root, hasRowIDs: hasRowIDs)
                try table.addIndexes(&indexes[name, default: [:]], of: name, schema)
                all.append(table)
            }
            guard indexes.values.allSatisfy(\.isEmpty) else { throw Doubt() }
            return all
        }

        /// Returns, for each ordinary table, true if it has row IDs.
        private static func haveRowIDs(_ schema: ConnectionHandle) throws -> [String: Bool] {
            var rowIDs: [String: Bool] = [:]
            try schema.forEachRow(trusted: "PRAGMA main.table_list") { row in
                guard row.string(at: 2) == "table" else { return }
                rowIDs[row.identifier(at: 1)] = row.int64(at: 4) == 0
            }
            return rowIDs
        }

        /// - Parameter roots: the root pages of the table's indexes, by index name. Entries that remain are
        ///   not indexes of this table.
        private mutating func addIndexes(
            _ roots: inout [String: Int], of name: String, _ schema: ConnectionHandle
        ) throws {
            var isKeyMissing = false
            let list = "PRAGMA main.index_list(\(name.quotedDatabaseIdentifier))"
            try schema.forEachRow(trusted: list) { row in
                if let root = roots.removeValue(forKey: row.identifier(at: 1)) {
                    indexes.append((root, row.int64(at: 4) != 0))
                } else {
                    // The primary key of a table without row IDs is the table itself.
                    guard !hasRowIDs, !isKeyMissing, row.string(at: 3) == "pk" else { throw Doubt() }
                    isKeyMissing = true
                }
            }
            guard isKeyMissing != hasRowIDs else { throw Doubt() }
        }
    }

    private init(_ view: any StoredBytes) throws {
        self.view = view
        guard let header = try DatabaseHeader(view.read(at: 0, count: DatabaseHeader.size)) else {
            throw Doubt()
        }
        let pageSize = header.pageSize
        guard pageSize >= 512, pageSize.nonzeroBitCount == 1, !header.hasAutoVacuum,
            let pageCount = header.pageCount, Int64(pageCount) * Int64(pageSize) == view.size
        else { throw Doubt() }
        self.header = header
        self.pageCount = pageCount
        usableSize = pageSize - header.reservedSize
        lockPage = DatabaseHeader.lockPage(pageSize: pageSize)
        isUsed = [UInt64](repeating: 0, count: pageCount / 64 + 1)
        room = ByteMap(size: pageSize)
    }

    // MARK: - Pages

    /// Records a reference to a page. Each page may be referenced only once.
    private mutating func use(_ number: Int) throws(Doubt) {
        guard number >= 1, number <= pageCount, number != lockPage else { throw Doubt() }
        let (word, bit) = (number / 64, UInt64(1) << UInt64(number % 64))
        guard isUsed[word] & bit == 0 else { throw Doubt() }
        isUsed[word] |= bit
        usedCount += 1
    }

    private func content(_ number: Int) throws -> [UInt8] {
        let pageSize = header.pageSize
        var content = [UInt8](repeating: 0, count: pageSize)
        guard try view.read(at: Int64(number - 1) * Int64(pageSize), filling: &content) == pageSize else {
            throw Doubt()
        }
        return content
    }

    /// See "The Freelist" of the file format.
    private mutating func useFreePages(_ checkpoint: () throws -> Void) throws {
        var (trunk, left) = header.freePages
        while trunk != 0 {
            try checkpoint()
            try use(trunk)
            let page = try content(trunk)
            let count = Int(page[...].word(at: 4))
            guard count <= usableSize / 4 - 2, count < left else { throw Doubt() }
            for index in 0..<count { try use(Int(page[...].word(at: 8 + 4 * index))) }
            left -= count + 1
            trunk = Int(page[...].word(at: 0))
        }
        guard left == 0 else { throw Doubt() }
    }

    // MARK: - Trees

    /// The number of rows read so far in a tree, and the bounds for the next row ID.
    private struct Progress {
        var count = 0
        /// The next row ID must be greater than this.
        var last: Int64?
        /// The next row ID must not be greater than this: the key in the parent page.
        var greatest: Int64?

        mutating func advance(to rowID: Int64) throws(Doubt) {
            if let last, rowID <= last { throw Doubt() }
            if let greatest, rowID > greatest { throw Doubt() }
            last = rowID
        }
    }

    /// A limit that is greater than the number of levels in the largest possible tree.
    private static let mostLevels = 20

    /// - Returns: the number of rows or entries in the tree.
    private mutating func walk(root: Int, isOfTable: Bool, _ checkpoint: () throws -> Void) throws -> Int {
        var progress = Progress()
        _ = try walk(root, level: 0, isOfTable: isOfTable, &progress, checkpoint)
        return progress.count
    }

    /// - Returns: the number of levels below the page.
    private mutating func walk(
        _ number: Int, level: Int, isOfTable: Bool, _ progress: inout Progress,
        _ checkpoint: () throws -> Void
    ) throws -> Int {
        try use(number)
        if usedCount.isMultiple(of: 256) { try checkpoint() }
        let bytes = try content(number)
        guard level < TreeCheck.mostLevels,
            let page = BTreePage.Layout(
                bytes.span, number: number, usableSize: usableSize, pageCount: pageCount),
            page.kind.isOfTable == isOfTable,
            page.cellCount > 0 || level == 0 && !page.kind.isInterior,
            let cells = page.cells(in: bytes.span, filling: &room)
        else { throw Doubt() }
        let greatest = progress.greatest
        var depths: Set<Int> = []
        for cell in cells {
            if let child = cell.child {
                progress.greatest = isOfTable ? cell.rowID : nil
                depths.insert(
                    try walk(child, level: level + 1, isOfTable: isOfTable, &progress, checkpoint))
                progress.last = cell.rowID
            } else if isOfTable {
                try progress.advance(to: cell.rowID)
            }
            if let payload = cell.payload {
                progress.count += 1
                try look(at: bytes.span.extracting(payload.local), of: payload.size)
                try useOverflow(of: payload, checkpoint)
            }
        }
        progress.greatest = greatest
        guard let last = page.lastChild else { return 0 }
        depths.insert(try walk(last, level: level + 1, isOfTable: isOfTable, &progress, checkpoint))
        guard let depth = depths.first, depths.count == 1 else { throw Doubt() }
        return depth + 1
    }

    /// Checks the header of a record: the serial types in it must add up to the record's size.
    private func look(at local: Span<UInt8>, of size: Int) throws(Doubt) {
        guard var fields = StoredRecord.Fields(local), !fields.isAtEnd else { throw Doubt() }
        while !fields.isAtEnd {
            guard fields.next(in: local) != nil else { throw Doubt() }
        }
        guard fields.place == size else { throw Doubt() }
    }

    private mutating func useOverflow(
        of payload: BTreePage.Payload, _ checkpoint: () throws -> Void
    ) throws {
        guard var next = payload.overflowPage else { return }
        var left = payload.size - payload.local.count
        while left > 0 {
            try use(next)
            if usedCount.isMultiple(of: 256) { try checkpoint() }
            left -= usableSize - 4
            next = Int(try content(next)[...].word(at: 0))
        }
        guard next == 0 else { throw Doubt() }
    }
}
