internal import SQLCipherBridge

/// Reads the b-trees of a damaged database as far as possible, and records which pages belong to one.
final class TreeReader {
    /// A row, or an entry of an index.
    struct Row {
        let page: Int
        let rowID: Int64
        let record: StoredRecord
    }

    /// The parts of a tree that could not be read.
    struct Loss {
        /// A missing page, which stands for all pages that only it leads to as well.
        struct Page {
            let number: Int
            /// The possible row IDs of its rows. There are usually fewer rows than row IDs.
            let rowIDs: ClosedRange<Int64>
            /// The number of pages on the path to it.
            let depth: Int

            /// The greatest number of rows that it can have. Row IDs below 1 are rare, and do not count unless
            /// all are.
            fileprivate func greatestRowCount(lastRowID: Int64?) -> Double {
                let isFirst = rowIDs.lowerBound == .min && rowIDs.upperBound >= 1
                let first = isFirst ? 1 : rowIDs.lowerBound
                let last = rowIDs.upperBound == .max ? lastRowID ?? .max : rowIDs.upperBound
                return max(0, Double(last) - Double(first) + 1)
            }
        }

        /// True for the row IDs of a page that is between two row IDs of interior pages.
        fileprivate static func isEnclosed(_ rowIDs: ClosedRange<Int64>) -> Bool {
            rowIDs.lowerBound != .min && rowIDs.upperBound != .max
        }

        /// The missing pages, in the order of their row IDs. Incomplete if a forged file names more pages
        /// than it can have.
        var pages: [Page] = []
        /// The number of missing pages, not counting pages that only they lead to.
        var pageCount = 0
        /// The number of rows that could not be decoded.
        var rowCount = 0

        fileprivate var leaves = (depth: 0, count: 0, rowCount: 0)
        /// The rows, and the possible row IDs, of leaves between two row IDs of interior pages.
        fileprivate var enclosed = (rowCount: 0.0, rowIDCount: 0.0)
        fileprivate var interiors = (count: 0, childCount: 0)

        var isNothing: Bool { pageCount == 0 && rowCount == 0 }

        /// The row IDs that rows on missing pages may have. Adjacent pages are merged into one range.
        var rowIDs: [ClosedRange<Int64>] {
            pages.map(\.rowIDs).reduce(into: []) { ranges, next in
                if let last = ranges.last,
                    next.lowerBound == .min || next.lowerBound - 1 <= last.upperBound
                {
                    ranges[ranges.count - 1] = last.lowerBound...max(last.upperBound, next.upperBound)
                } else {
                    ranges.append(next)
                }
            }
        }

        /// Returns the estimated number of rows on the missing pages, and on unreadable pages below them; nil if
        /// too little was read.
        ///
        /// A missing page counts as full as the others, or as having all of its possible row IDs if there are
        /// fewer, or if the pages that were read have no gaps.
        ///
        /// - Parameters:
        ///   - foundRowCount: the number of rows that were found on pages below missing ones.
        ///   - unreadableCount: the greatest possible number of unreadable pages below missing ones; nil if it
        ///     is not known.
        ///   - lastRowID: the highest row ID that the table had; nil if it is not known.
        func estimatedRowCount(foundRowCount: Int, unreadableCount: Int?, lastRowID: Int64?) -> Double? {
            guard pageCount > 0 else { return 0 }
            guard leaves.count > 0 else {
                // If rows were found, the missing root was an interior page.
                return foundRowCount > 0 && unreadableCount == 0 ? 0 : nil
            }
            let rowsOfLeaf = Double(leaves.rowCount) / Double(leaves.count)
            let fanOut = interiors.count > 0 ? Double(interiors.childCount) / Double(interiors.count) : 1
            let hasNoGaps = enclosed.rowCount > 0 && enclosed.rowCount == enclosed.rowIDCount
            let found = Double(foundRowCount)
            var (onLeaves, below, mostBelow) = (0.0, 0.0, 0.0)
            for page in pages {
                let most = page.greatestRowCount(lastRowID: lastRowID)
                // All leaves of a b-tree have the same depth.
                guard page.depth < leaves.depth else {
                    onLeaves += hasNoGaps && Loss.isEnclosed(page.rowIDs) ? most : min(rowsOfLeaf, most)
                    continue
                }
                let leafCount = (page.depth..<leaves.depth).reduce(1.0) { count, _ in count * fanOut }
                below += min(leafCount * rowsOfLeaf, most)
                mostBelow += most
            }
            let unread = unreadableCount.map { min(below, Double($0) * rowsOfLeaf) } ?? below - found
            return onLeaves + max(0, min(unread, mostBelow - found))
        }
    }

    private let pages: SalvagedPages

    /// The marks of each stored page.
    private var marks: [UInt8]
    private static let taken: UInt8 = 1
    private static let free: UInt8 = 2
    /// The number of pages that were taken.
    private(set) var takenCount = 0
    private var missingCount = 0

    /// The maximum depth of a tree, as in SQLite.
    private static let greatestDepth = 20
    /// The number of missing pages that are always recorded individually, however few pages the file has.
    private static let leastMissingCount = 1 << 16

    init(_ pages: SalvagedPages) {
        self.pages = pages
        marks = [UInt8](repeating: 0, count: pages.present.count)
    }

    /// Returns true if the page belongs to a tree that was read.
    func isTaken(_ page: Int) -> Bool { has(page, TreeReader.taken) }

    /// Returns true if the page is on the free list.
    func isFree(_ page: Int) -> Bool { has(page, TreeReader.free) }

    private func has(_ page: Int, _ mark: UInt8) -> Bool {
        pages.present.index(of: page).map { marks[$0] & mark != 0 } ?? false
    }

    func setFree(_ page: Int) {
        if let index = pages.present.index(of: page) { marks[index] |= TreeReader.free }
    }

    /// Claims a page for one tree, because a damaged file may have a loop.
    private func take(_ page: Int) -> Bool {
        guard let index = pages.present.index(of: page), marks[index] & TreeReader.taken == 0 else {
            return false
        }
        marks[index] |= TreeReader.taken
        takenCount += 1
        return true
    }

    /// Reads a tree, mostly in key order.
    ///
    /// - Parameters:
    ///   - isTable: true if the tree has the rows of a table with row IDs.
    ///   - body: called with each row or entry; nil to only claim the pages.
    func read(root: Int, isTable: Bool, _ body: ((Row) throws -> Void)?) throws -> Loss {
        let walk = Walk(self, root: root, isTable: isTable, givesRows: body != nil)
        while !walk.isAtEnd {
            let rows = try walk.next()
            if let body { for row in rows { try body(row) } }
        }
        return walk.loss
    }

    /// A walk over a tree, part by part, mostly in key order.
    final class Walk {
        /// The parts that could not be read so far.
        private(set) var loss = Loss()

        private let reader: TreeReader
        private let isTable: Bool
        private let givesRows: Bool
        private var waiting: [(page: Int, rowIDs: ClosedRange<Int64>, depth: Int)]
        /// The page whose cells were partly read.
        private var place: Place?

        private struct Place {
            let number: Int
            let page: BTreePage
            let rowIDs: ClosedRange<Int64>
            let depth: Int
            var cells: BTreePage.Cells
            /// The lowest row ID that the next child may have.
            var first: Int64
            let firstOfChildren: Int
        }

        /// The size of a part: the number of bytes in its pages, and in the overflow pages of its rows.
        private static let partSize = 1 << 19

        /// - Parameters:
        ///   - isTable: true if the tree has the rows of a table with row IDs.
        ///   - givesRows: false to only claim the pages.
        init(_ reader: TreeReader, root: Int, isTable: Bool, givesRows: Bool) {
            self.reader = reader
            self.isTable = isTable
            self.givesRows = givesRows
            waiting = [(page: root, rowIDs: Int64.min...Int64.max, depth: 0)]
        }

        var isAtEnd: Bool { waiting.isEmpty && place == nil }

        /// Reads the next part.
        ///
        /// - Returns: its rows or entries. Their size exceeds the size of a part by at most one row.
        func next() throws -> [Row] {
            var rows: [Row] = []
            var size = 0
            while size < Walk.partSize, !isAtEnd {
                if place == nil {
                    try open(waiting.removeLast())
                    size += reader.pages.usableSize
                }
                guard var current = place.take() else { continue }
                while size < Walk.partSize, !current.cells.isAtEnd {
                    try read(current.cells.next(), &current, &rows, &size)
                }
                if current.cells.isAtEnd { leave(current) } else { place = current }
            }
            if isAtEnd { loss.pages.sort { $0.rowIDs.lowerBound < $1.rowIDs.lowerBound } }
            return rows
        }

        private func open(_ next: (page: Int, rowIDs: ClosedRange<Int64>, depth: Int)) throws {
            guard next.depth < TreeReader.greatestDepth, reader.take(next.page),
                let page = try reader.pages.tree(next.page), page.kind.isOfTable == isTable
            else {
                // If the file was cut off, most pages are missing. But the limit is needed because interior
                // pages of a forged file may claim any number of them.
                if reader.missingCount < max(reader.pages.present.count, TreeReader.leastMissingCount) {
                    loss.pages.append(
                        Loss.Page(number: next.page, rowIDs: next.rowIDs, depth: next.depth))
                }
                reader.missingCount += 1
                loss.pageCount += 1
                return
            }
            place = Place(
                number: next.page, page: page, rowIDs: next.rowIDs, depth: next.depth,
                cells: BTreePage.Cells(of: page), first: next.rowIDs.lowerBound,
                firstOfChildren: waiting.count)
        }

        private func read(
            _ cell: BTreePage.Cell?, _ current: inout Place, _ rows: inout [Row], _ size: inout Int
        ) throws {
            guard let cell else {
                loss.rowCount += 1
                return
            }
            if let child = cell.child {
                let upper = current.rowIDs.upperBound
                // A row ID that is out of order can only be wrong.
                let last = isTable ? min(max(cell.rowID, current.first), upper) : upper
                waiting.append((child, current.first...last, current.depth + 1))
                if isTable, last < upper { current.first = last + 1 }
            }
            guard let payload = cell.payload, givesRows || payload.overflowPage != nil else { return }
            let (bytes, isWhole) = try reader.read(payload, of: current.page)
            if payload.overflowPage != nil { size += bytes.count }
            guard givesRows else { return }
            guard let record = StoredRecord(bytes, isWhole: isWhole) else {
                loss.rowCount += 1
                return
            }
            rows.append(Row(page: current.number, rowID: cell.rowID, record: record))
        }

        private func leave(_ current: Place) {
            guard let last = current.page.lastChild else {
                loss.leaves = (
                    max(current.depth, loss.leaves.depth), loss.leaves.count + 1,
                    loss.leaves.rowCount + current.page.cellCount
                )
                if Loss.isEnclosed(current.rowIDs) {
                    loss.enclosed.rowCount += Double(current.page.cellCount)
                    loss.enclosed.rowIDCount +=
                        Double(current.rowIDs.upperBound) - Double(current.rowIDs.lowerBound) + 1
                }
                return
            }
            let first = current.firstOfChildren
            waiting.append((last, current.first...current.rowIDs.upperBound, current.depth + 1))
            loss.interiors = (
                loss.interiors.count + 1, loss.interiors.childCount + waiting.count - first
            )
            waiting[first...].reverse()
        }
    }

    /// The rows of one page that no tree leads to.
    struct StrayRows {
        var rows: [Row] = []
        /// True if the whole page is consistent with a page that SQLite has written.
        var isSound = true
    }

    /// Returns the rows of one page that no tree leads to, or that cannot be trusted.
    ///
    /// - Parameter content: the decrypted page.
    /// - Returns: nil unless the page has rows of the requested kind.
    func strayRows(onPage number: Int, _ content: [UInt8], isTable: Bool) throws -> StrayRows? {
        guard let page = pages.page(content, number), page.cellCount > 0, page.kind.isOfTable == isTable,
            page.kind != .interiorOfTable
        else {
            return nil
        }
        var stray = StrayRows()
        try page.forEachCell { cell in
            guard let cell, let payload = cell.payload else { return stray.isSound = false }
            let (bytes, isWhole) = try read(payload, of: page)
            guard let record = StoredRecord(bytes, isWhole: isWhole) else { return stray.isSound = false }
            if isTable, let last = stray.rows.last, last.rowID >= cell.rowID { stray.isSound = false }
            stray.rows.append(Row(page: number, rowID: cell.rowID, record: record))
        }
        guard !stray.rows.isEmpty else { return nil }
        _ = take(number)
        return stray
    }

    /// Guesses the text encoding of a database that has lost its first page: most text in UTF-16 has a zero
    /// in every other byte.
    func likelyEncoding() throws -> TextEncoding {
        var counts = (little: 0, big: 0, other: 0)
        for number in pages.present.numbers where counts.little + counts.big + counts.other < 1000 {
            guard let page = try pages.tree(number), !page.kind.isInterior else { continue }
            page.forEachCell { cell in
                guard let payload = cell?.payload,
                    let record = StoredRecord(page.local(payload), isWhole: payload.overflowPage == nil)
                else { return }
                for case .text(let stored) in record.values where stored.count >= 4 {
                    let bytes = Array(stored)
                    let isEven = bytes.count.isMultiple(of: 2)
                    if isEven, bytes.indices.allSatisfy({ $0.isMultiple(of: 2) || bytes[$0] == 0 }) {
                        counts.little += 1
                    } else if isEven, bytes.indices.allSatisfy({ !$0.isMultiple(of: 2) || bytes[$0] == 0 }) {
                        counts.big += 1
                    } else {
                        counts.other += 1
                    }
                }
            }
        }
        if counts.little > max(counts.big, counts.other) { return .utf16LittleEndian }
        return counts.big > max(counts.little, counts.other) ? .utf16BigEndian : .utf8
    }

    /// Reads the bytes of a record, as far as its overflow pages can be followed.
    private func read(_ payload: BTreePage.Payload, of page: BTreePage) throws
        -> (bytes: ArraySlice<UInt8>, isWhole: Bool)
    {
        guard var next = payload.overflowPage else { return (page.local(payload), true) }
        var bytes = Array(page.local(payload))
        while bytes.count < payload.size, take(next), let page = try pages.content(next) {
            let part = min(payload.size - bytes.count, pages.usableSize - 4)
            bytes += page[4..<4 + part]
            next = Int(page[...].word(at: 0))
        }
        return (bytes[...], bytes.count == payload.size)
    }
}
