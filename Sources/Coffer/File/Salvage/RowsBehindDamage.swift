/// The rows of pages that were committed after a damaged frame of a log, which no reader sees.
struct RowsBehindDamage {
    private let pages: SalvagedPages
    private let numbers: Set<Int>

    /// - Parameters:
    ///   - file: the file, with these pages replacing its own.
    ///   - numbers: the numbers of these pages.
    init(_ file: PageFile, _ numbers: [Int]) throws {
        pages = try SalvagedPages(file)
        self.numbers = Set(numbers)
    }

    /// Calls `body` with each row that the same page does not have without these frames, and with the table
    /// whose b-tree leads to it.
    ///
    /// - Parameters:
    ///   - known: the pages without these frames.
    ///   - progress: called for each row that is read.
    func forEach(
        notAmong known: SalvagedPages, of tables: [SalvagedSchema.Entry], progress: () throws -> Void,
        _ body: (TreeReader.Row, _ table: String?) throws -> Void
    ) throws {
        let reader = TreeReader(pages)
        let knownReader = TreeReader(known)
        var page: (number: Int, rows: Set<Row>) = (0, [])
        func visit(_ row: TreeReader.Row, _ table: String?) throws {
            try progress()
            // A row with overflow pages may have been changed only there.
            guard numbers.contains(row.page) || row.record.size >= pages.usableSize / 8 else { return }
            if page.number != row.page {
                page = (row.page, try rows(ofPage: row.page, known, knownReader))
            }
            if !page.rows.contains(Row(row)) { try body(row, table) }
        }

        for entry in tables {
            let isTable = try pages.tree(entry.root)?.kind.isOfTable ?? true
            let walk = TreeReader.Walk(reader, root: entry.root, isTable: isTable, givesRows: true)
            while !walk.isAtEnd { for row in try walk.next() { try visit(row, entry.name) } }
        }
        for number in numbers.sorted() where number > 1 && !reader.isTaken(number) {
            guard let content = try pages.content(number) else { continue }
            let stray = try reader.strayRows(onPage: number, content, isTable: true)
            for row in stray?.rows ?? [] { try visit(row, nil) }
        }
    }

    /// The identity of a row for the comparison.
    private struct Row: Hashable {
        let rowID: Int64
        let record: ArraySlice<UInt8>

        init(_ row: TreeReader.Row) { (rowID, record) = (row.rowID, row.record.bytes) }
    }

    private func rows(ofPage number: Int, _ pages: SalvagedPages, _ reader: TreeReader) throws -> Set<Row> {
        guard let content = try pages.content(number) else { return [] }
        let rows =
            try reader.strayRows(onPage: number, content, isTable: true)
            ?? reader.strayRows(onPage: number, content, isTable: false)
        return Set(rows?.rows.map(Row.init) ?? [])
    }
}
