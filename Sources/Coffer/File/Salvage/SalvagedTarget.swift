internal import SQLCipherBridge

/// A table of the new database, and its losses compared with the damaged database.
struct SalvagedTarget {
    let table: SalvagedTable
    private(set) var report: DatabaseFile.Salvage.Table
    let loss: TreeReader.Loss
    /// The number of rows that were restored from pages that no b-tree leads to.
    private var strayRowCount = 0

    /// Creates a target, and inserts the rows of a b-tree into its table.
    ///
    /// - Parameter read: reads the tree, and calls the given function with the rows of each part.
    init(
        _ table: SalvagedTable, lost: LostRows,
        _ read: (([TreeReader.Row]) throws -> Void) throws -> TreeReader.Loss
    ) throws {
        self.table = table
        var report = DatabaseFile.Salvage.Table(name: table.name.readableIdentifier)
        loss = try read { rows in
            report.rowCount += try table.insert(rows) { row, reason in
                try lost.add(row, table: table.name, reason: reason)
                report.refusedRowCount += 1
            }
        }
        table.finish()
        if table.hasRowIDs { report.missingRowIDs = loss.rowIDs }
        report.missingPageCount = loss.pageCount
        report.unreadableRowCount = loss.rowCount
        self.report = report
    }

    /// Inserts a row from a page that no b-tree leads to.
    mutating func insert(stray row: TreeReader.Row, lost: LostRows) throws {
        strayRowCount += 1
        if let reason = try table.insert(row) {
            try lost.add(row, table: table.name, reason: reason)
            report.refusedRowCount += 1
        } else {
            report.rowCount += 1
        }
    }

    /// Records that rows of the table were moved to the tables for lost rows.
    mutating func refuse(_ count: Int) {
        report.rowCount -= count
        report.refusedRowCount += count
    }

    /// Records the number of rows of a shadow table after the module of its virtual table has rebuilt it.
    mutating func makeAnew(rowCount: Int) { report.rowCount = rowCount }

    /// True if rows are known to be missing.
    var hasLostRows: Bool {
        report.missingPageCount + report.unreadableRowCount + report.refusedRowCount > 0
    }

    /// Estimates the loss.
    ///
    /// - Parameters:
    ///   - unreadableCount: the greatest possible number of unreadable pages below missing ones; nil if it is
    ///     not known.
    ///   - lastRowID: the highest row ID that the table had; nil if it is not known.
    fileprivate mutating func estimateLoss(unreadableCount: Int?, lastRowID: Int64?) {
        // In a table that is ordered by its primary key, a missing interior page had rows itself.
        report.estimatedLostRowCount = loss.estimatedRowCount(
            foundRowCount: strayRowCount, unreadableCount: table.hasRowIDs ? unreadableCount : nil,
            lastRowID: lastRowID
        ).map { Int(min($0, 1e15).rounded()) }
    }

    /// Returns true if a single missing page may have had the rows from one row ID to another.
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
    /// Returns the only table that can have lost these rows of one page, if there is exactly one.
    ///
    /// - Parameter hasRowIDs: true if the page belongs to a b-tree with row IDs.
    func owner(of rows: [TreeReader.Row], hasRowIDs: Bool) -> Int? {
        guard let first = rows.first?.rowID, let last = rows.last?.rowID else { return nil }
        // Computed once for all tables: a forged file may have many tables and many rows.
        let shape = SharedShape(rows.lazy.map(\.record))
        let candidates = indices.filter { index in
            let target = self[index]
            return target.table.hasRowIDs == hasRowIDs
                && (hasRowIDs ? target.misses(first, last) : target.report.missingPageCount > 0)
                && target.table.fits(shape)
        }
        // Among several candidates, the only one whose column count all rows have.
        if candidates.count <= 1 { return candidates.first }
        let complete = candidates.filter { index in
            let count = self[index].table.columnCount
            return shape.leastCount == count && shape.mostCount == count
        }
        return complete.count == 1 ? complete.first : nil
    }

    /// Estimates the losses after all rows were inserted.
    ///
    /// - Parameters:
    ///   - unreadableCount: the number of pages that cannot be read, without those of indexes.
    ///   - sequences: a connection whose `sqlite_sequence` has the values of the damaged file, or nil.
    mutating func estimateLosses(unreadableCount: Int, sequences: ConnectionHandle?) throws {
        let names = Set(lazy.filter { $0.report.missingPageCount > 0 }.map { ExactText($0.table.name) })
        var lastRowIDs: [ExactText: Int64] = [:]
        if !names.isEmpty {
            try sequences?.forEachRow(
                trusted: "SELECT name, seq FROM main.sqlite_sequence WHERE typeof(seq) = 'integer'"
            ) { row in
                let name = ExactText(row.identifier(at: 0))
                if names.contains(name) { lastRowIDs[name] = row.int64(at: 1) }
            }
        }
        let hiddenCount = unreadableCount - reduce(0) { $0 + $1.report.missingPageCount }
        for index in indices {
            // Without MACs, and in a forged file, a page may be unreadable and not count as such.
            self[index].estimateLoss(
                unreadableCount: hiddenCount < 0 ? nil : hiddenCount,
                lastRowID: lastRowIDs[ExactText(self[index].table.name)])
        }
    }

    /// True if a table that is ordered by its primary key has lost pages.
    var haveLostClusteredPages: Bool {
        contains { !$0.table.hasRowIDs && $0.report.missingPageCount > 0 }
    }
}
