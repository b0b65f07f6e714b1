/// Reads the b-trees of a damaged database as far as they go, and knows which pages belong to one.
final class TreeReader {
    /// A row, or an entry of an index.
    struct Row {
        let page: Int
        let rowID: Int64
        let record: StoredRecord
    }

    /// What of a tree could not be read.
    struct Loss {
        /// The row IDs that rows on lost pages may have. They are not more than these, and mostly fewer.
        var rowIDs: [ClosedRange<Int64>] = []
        /// How many pages are missing, not counting those that only they lead to.
        var pageCount = 0
        /// How many rows there are of which nothing could be made.
        var rowCount = 0

        var isNothing: Bool { pageCount == 0 && rowCount == 0 }
    }

    private let pages: SalvagedPages
    private var isTaken: [Bool]

    init(_ pages: SalvagedPages) {
        self.pages = pages
        isTaken = [Bool](repeating: false, count: pages.pageCount + 1)
    }

    /// Whether a tree that was read has the page, or the free list.
    func isTaken(_ page: Int) -> Bool { isTaken[page] }

    /// Takes pages that no tree has.
    func take(_ free: Set<Int>) { for page in free where isTaken.indices.contains(page) { isTaken[page] = true } }

    /// Takes a page for one tree: a damaged file may have a loop.
    private func take(_ page: Int) -> Bool {
        guard page > 0, page < isTaken.count, !isTaken[page] else { return false }
        isTaken[page] = true
        return true
    }

    /// Reads a tree, mostly in its order.
    ///
    /// - Parameters:
    ///   - isTable: whether it has the rows of a table with row IDs.
    ///   - body: called with each row, or entry; nil to have the pages taken only.
    func read(root: Int, isTable: Bool, _ body: ((Row) throws -> Void)?) throws -> Loss {
        var loss = Loss()
        var waiting = [(page: root, rowIDs: Int64.min...Int64.max)]
        while let (number, rowIDs) = waiting.popLast() {
            guard take(number), let page = try pages.tree(number), page.kind.isOfTable == isTable else {
                loss.pageCount += 1
                if isTable { loss.rowIDs.append(rowIDs) }
                continue
            }
            var children: [(page: Int, rowIDs: ClosedRange<Int64>)] = []
            var first = rowIDs.lowerBound
            for index in 0..<page.cellCount {
                guard let cell = page.cell(index) else {
                    loss.rowCount += 1
                    continue
                }
                if let child = cell.child {
                    // What is out of order can only be wrong.
                    let last = isTable ? min(max(cell.rowID, first), rowIDs.upperBound) : rowIDs.upperBound
                    children.append((child, first...last))
                    if isTable, last < rowIDs.upperBound { first = last + 1 }
                }
                guard let payload = cell.payload else { continue }
                if body == nil, payload.overflowPage == nil { continue }
                let (bytes, isWhole) = try read(payload)
                guard let body else { continue }
                guard let record = StoredRecord(bytes, isWhole: isWhole) else {
                    loss.rowCount += 1
                    continue
                }
                try body(Row(page: number, rowID: cell.rowID, record: record))
            }
            if let last = page.lastChild { children.append((last, first...rowIDs.upperBound)) }
            waiting += children.reversed()
        }
        loss.rowIDs.sort { $0.lowerBound < $1.lowerBound }
        return loss
    }

    /// The rows of one page that no tree leads to.
    ///
    /// - Parameter content: of the page.
    /// - Returns: nil unless all of it are rows of the kind that is asked for.
    func rows(onPage number: Int, _ content: [UInt8], isTable: Bool) throws -> [Row]? {
        guard let page = pages.page(content, number), page.cellCount > 0, page.kind.isOfTable == isTable, page.kind != .interiorOfTable
        else {
            return nil
        }
        var cells: [BTreePage.Cell] = []
        for index in 0..<page.cellCount {
            guard let cell = page.cell(index) else { return nil }
            cells.append(cell)
        }
        guard !isTable || zip(cells, cells.dropFirst()).allSatisfy({ $0.rowID < $1.rowID }) else { return nil }
        var rows: [Row] = []
        for cell in cells {
            guard let payload = cell.payload else { return nil }
            let (bytes, isWhole) = try read(payload)
            guard let record = StoredRecord(bytes, isWhole: isWhole) else { return nil }
            rows.append(Row(page: number, rowID: cell.rowID, record: record))
        }
        _ = take(number)
        return rows
    }

    /// The bytes of a record, as far as the pages that have the rest of it go.
    private func read(_ payload: BTreePage.Payload) throws -> (bytes: ArraySlice<UInt8>, isWhole: Bool) {
        guard var next = payload.overflowPage else { return (payload.local, true) }
        var bytes = Array(payload.local)
        while bytes.count < payload.size, take(next), let page = try pages.content(next) {
            let part = min(payload.size - bytes.count, pages.usableSize - 4)
            bytes += page[4..<4 + part]
            next = Int(page[...].word(at: 0))
        }
        return (bytes[...], bytes.count == payload.size)
    }
}
