/// Rows of pages that were committed behind a damaged frame of a log, where no reader finds them.
struct RowsBehindDamage {
    private let pages: SalvagedPages
    private let numbers: Set<Int>

    /// Looks at all pages.
    ///
    /// - Parameters:
    ///   - file: the file with these pages in the place of its own.
    ///   - numbers: which pages these are.
    ///   - progress: called now and then.
    init(_ file: PageFile, _ numbers: [Int], threadCount: Int, progress: () throws -> Void) throws {
        pages = try SalvagedPages(file, threadCount: threadCount) { _ in try progress() }
        self.numbers = Set(numbers)
    }

    /// Calls `body` with each row that the same page does not have without these frames, and the table whose
    /// tree leads to it.
    ///
    /// - Parameters:
    ///   - known: the pages without these frames.
    ///   - progress: called for each row that is read.
    func forEach(
        notAmong known: SalvagedPages, of tables: [SalvagedSchema.Entry], progress: () throws -> Void,
        _ body: (TreeReader.Row, _ table: String?) throws -> Void
    ) throws {
        let reader = TreeReader(pages)
        var page: (number: Int, rows: [Int64: [TreeReader.Row]]) = (0, [:])
        func visit(_ row: TreeReader.Row, _ table: String?) throws {
            try progress()
            guard numbers.contains(row.page) else { return }
            if page.number != row.page {
                page = (row.page, Dictionary(grouping: try rows(ofPage: row.page, known), by: \.rowID))
            }
            let isKnown = page.rows[row.rowID]?.contains { $0.record.values == row.record.values }
            if isKnown != true { try body(row, table) }
        }

        for entry in tables {
            let isTable = try pages.tree(entry.root)?.kind.isOfTable ?? true
            _ = try reader.read(root: entry.root, isTable: isTable) { try visit($0, entry.name) }
        }
        for number in numbers.sorted() where number > 1 && !reader.isTaken(number) {
            guard let content = try pages.content(number) else { continue }
            let stray = try reader.strayRows(onPage: number, content, isTable: true)
            for row in stray?.rows ?? [] { try visit(row, nil) }
        }
    }

    /// The rows of a page that are all on it.
    private func rows(ofPage number: Int, _ pages: SalvagedPages) throws -> [TreeReader.Row] {
        var rows: [TreeReader.Row] = []
        guard let page = try pages.tree(number) else { return [] }
        page.forEachCell { cell in
            guard let cell, let payload = cell.payload, payload.overflowPage == nil,
                let record = StoredRecord(page.local(payload), isWhole: true)
            else { return }
            rows.append(TreeReader.Row(page: number, rowID: cell.rowID, record: record))
        }
        return rows
    }
}
