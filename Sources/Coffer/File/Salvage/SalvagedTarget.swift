/// A table of the new database, and what is known of the one that it was in the damaged database.
struct SalvagedTarget {
    let table: SalvagedTable
    private(set) var report: DatabaseFile.Salvage.Table
    let loss: TreeReader.Loss
    /// How many rows came back from pages that no tree leads to.
    private var strayRowCount = 0

    /// Puts the rows of a tree into a table.
    ///
    /// - Parameters:
    ///   - read: reads the tree, and calls the function that it is given with the rows of each part.
    init(
        _ table: SalvagedTable, lost: LostRows,
        _ read: (([TreeReader.Row]) throws -> Void) throws -> TreeReader.Loss
    ) throws {
        self.table = table
        var report = DatabaseFile.Salvage.Table(name: table.name)
        loss = try read { rows in
            report.rowCount += try table.insert(rows) { row, reason in
                try lost.add(row, table: table.name, reason: reason)
                report.refusedRowCount += 1
            }
        }
        table.endTree()
        if table.hasRowIDs { report.missingRowIDs = loss.rowIDs }
        report.missingPageCount = loss.pageCount
        report.unreadableRowCount = loss.rowCount
        self.report = report
    }

    /// Puts a row into the table that comes from a page that no tree leads to.
    mutating func insert(stray row: TreeReader.Row, lost: LostRows) throws {
        strayRowCount += 1
        if let reason = try table.insert(row) {
            try lost.add(row, table: table.name, reason: reason)
            report.refusedRowCount += 1
        } else {
            report.rowCount += 1
        }
    }

    /// Notes that rows of the table are in the tables for lost rows now.
    mutating func refuse(_ count: Int) {
        report.rowCount -= count
        report.refusedRowCount += count
    }

    /// Notes how many rows the table has since the module of the virtual table that it is a part of has made
    /// it anew.
    mutating func makeAnew(rowCount: Int) { report.rowCount = rowCount }

    /// Whether rows are known to be missing.
    var hasLostRows: Bool {
        report.missingPageCount + report.unreadableRowCount + report.refusedRowCount > 0
    }

    /// To be called once all rows are there.
    mutating func estimateLoss() {
        report.estimatedLostRowCount = loss.estimatedRowCount.map {
            max(0, Int(min($0, 1e15).rounded()) - strayRowCount)
        }
    }

    /// Whether a page that is missing may have had rows from one row ID to another.
    fileprivate func misses(_ first: Int64, _ last: Int64) -> Bool {
        var range = loss.pages.indices
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            let rowIDs = loss.pages[middle].rowIDs
            if rowIDs.upperBound < first {
                range = middle + 1..<range.upperBound
            } else if rowIDs.lowerBound > first {
                range = range.lowerBound..<middle
            } else {
                return rowIDs.contains(last)
            }
        }
        return false
    }
}

extension [SalvagedTarget] {
    /// The only table that can have lost these rows of one page, if there is one.
    ///
    /// - Parameter hasRowIDs: whether the page is one of a tree with row IDs.
    func owner(of rows: [TreeReader.Row], hasRowIDs: Bool) -> Int? {
        guard let first = rows.first?.rowID, let last = rows.last?.rowID else { return nil }
        // Once for all tables: an attacker may have many of both.
        let shape = SharedShape(rows.lazy.map(\.record))
        let candidates = indices.filter { index in
            let target = self[index]
            return target.table.hasRowIDs == hasRowIDs
                && (hasRowIDs ? target.misses(first, last) : target.report.missingPageCount > 0)
                && target.table.fits(shape)
        }
        // Of several, the only one all of whose columns the rows have.
        if candidates.count <= 1 { return candidates.first }
        let complete = candidates.filter { index in
            let count = self[index].table.columnCount
            return shape.leastCount == count && shape.mostCount == count
        }
        return complete.count == 1 ? complete.first : nil
    }

    /// Whether a table that is ordered by its primary key has lost pages.
    var haveLostClusteredPages: Bool {
        contains { !$0.table.hasRowIDs && $0.report.missingPageCount > 0 }
    }
}
