/// One page of a b-tree, parsed defensively: <https://www.sqlite.org/fileformat2.html#b_tree_pages>.
///
/// The page may be forged. All offsets it returns are within the page, and no payload is larger than the
/// file.
struct BTreePage {
    enum Kind: UInt8 {
        case interiorOfIndex = 2
        case interiorOfTable = 5
        case leafOfIndex = 10
        case leafOfTable = 13

        var isInterior: Bool { self == .interiorOfIndex || self == .interiorOfTable }
        var isOfTable: Bool { self == .interiorOfTable || self == .leafOfTable }
    }

    /// The content of a cell.
    struct Cell {
        /// The page with the keys up to and including this cell's; only in interior pages.
        var child: Int?
        /// Only in table b-trees.
        var rowID: Int64 = 0
        /// Nil in interior pages of tables.
        var payload: Payload?
        /// The offset of the cell in the page, and the number of bytes it takes there.
        fileprivate var start = 0
        fileprivate(set) var size = 0
    }

    /// A record that starts on the page.
    struct Payload {
        let size: Int
        /// The offsets of these bytes in the page.
        let local: Range<Int>
        /// The first overflow page; nil if the whole record is on this page.
        let overflowPage: Int?
    }

    let layout: Layout
    private let content: [UInt8]

    var kind: Kind { layout.kind }
    var lastChild: Int? { layout.lastChild }
    var cellCount: Int { layout.cellCount }

    /// - Parameters:
    ///   - content: the decrypted page.
    ///   - usableSize: the page size without the bytes reserved at the end of each page.
    ///   - pageCount: the size of the database in pages, which limits the size of a payload.
    /// - Returns: nil if this is not a b-tree page.
    init?(_ content: [UInt8], number: Int, usableSize: Int, pageCount: Int) {
        guard
            let layout = Layout(
                content.span, number: number, usableSize: usableSize, pageCount: pageCount)
        else { return nil }
        self.layout = layout
        self.content = content
    }

    /// Returns the bytes of a record that are on the page.
    func local(_ payload: Payload) -> ArraySlice<UInt8> { content[payload.local] }

    /// The cells of a page in order.
    ///
    /// Cells of a forged page may overlap. Their sizes together are limited to the page, so reading a page
    /// never yields a multiple of its size.
    struct Cells {
        private let page: BTreePage
        private var index = 0
        private var room: Int

        init(of page: BTreePage) {
            self.page = page
            room = page.layout.roomForCells
        }

        var isAtEnd: Bool { index == page.cellCount }

        /// Returns the next cell; nil if it is malformed, and at the end.
        mutating func next() -> Cell? {
            guard !isAtEnd else { return nil }
            index += 1
            guard let cell = page.layout.cell(index - 1, in: page.content.span), cell.size <= room else {
                return nil
            }
            room -= cell.size
            return cell
        }
    }

    /// Calls `body` with each cell, or with nil for a malformed one.
    func forEachCell(_ body: (Cell?) throws -> Void) rethrows {
        var cells = Cells(of: self)
        while !cells.isAtEnd { try body(cells.next()) }
    }
}

extension BTreePage {
    /// The layout of a page, parsed from its header.
    ///
    /// The caller keeps the bytes of the page and passes them in, which saves reference counting for each
    /// cell.
    struct Layout {
        let kind: Kind
        /// The right-most child of an interior page.
        let lastChild: Int?
        let cellCount: Int

        /// The offset of the page header.
        private let start: Int
        private let usableSize: Int
        /// The lowest offset that a cell may have: the end of the cell pointer array.
        private let firstPlace: Int
        private let largestPayload: Int

        /// - Parameters:
        ///   - content: the decrypted page.
        ///   - usableSize: the page size without the bytes reserved at the end of each page.
        ///   - pageCount: the size of the database in pages, which limits the size of a payload.
        /// - Returns: nil if this is not a b-tree page.
        init?(_ content: Span<UInt8>, number: Int, usableSize: Int, pageCount: Int) {
            let start = number == 1 ? DatabaseHeader.size : 0
            guard content.count >= usableSize, usableSize >= start + 12,
                let kind = Kind(rawValue: content[start])
            else { return nil }
            let headerSize = kind.isInterior ? 12 : 8
            let count = content.halfWord(at: start + 3)
            let firstPlace = start + headerSize + 2 * count
            guard firstPlace <= usableSize else { return nil }
            self.kind = kind
            self.start = start
            self.usableSize = usableSize
            self.firstPlace = firstPlace
            cellCount = count
            lastChild = kind.isInterior ? content.word(at: start + 8) : nil
            // The engine accepts no longer row either.
            largestPayload = min(pageCount * usableSize, 999_000_000)
        }

        fileprivate var roomForCells: Int { usableSize - firstPlace }

        /// Returns all cells if the page is consistent: each byte of the cell content area belongs to exactly
        /// one cell or freeblock, except as many fragmented bytes as the header counts.
        ///
        /// - Parameters:
        ///   - content: the page with this layout.
        ///   - map: a scratch map for at least as many bytes as a page has.
        /// - Returns: nil if the page is inconsistent.
        func cells(in content: Span<UInt8>, filling map: inout ByteMap) -> [Cell]? {
            map.removeAll()
            let bytes = content.extracting(..<usableSize)
            let stored = bytes.halfWord(at: start + 5)
            let contentStart = stored == 0 ? 65536 : stored
            var left = usableSize - contentStart
            guard contentStart >= firstPlace, left >= 0 else { return nil }
            func take(_ offset: Int, _ size: Int) -> Bool {
                guard offset >= contentStart, offset + size <= usableSize else { return false }
                left -= size
                return map.insert(offset..<offset + size)
            }
            var cells: [Cell] = []
            cells.reserveCapacity(cellCount)
            for index in 0..<cellCount {
                guard let cell = cell(index, in: content), take(cell.start, max(4, cell.size)) else {
                    return nil
                }
                cells.append(cell)
            }
            var block = bytes.halfWord(at: start + 1)
            while block != 0 {
                guard block + 4 <= usableSize else { return nil }
                let (next, size) = (bytes.halfWord(at: block), bytes.halfWord(at: block + 2))
                // Adjacent freeblocks, and those less than four bytes apart, are always merged.
                guard size >= 4, next == 0 || next > block + size + 3, take(block, size) else { return nil }
                block = next
            }
            return left == Int(bytes[start + 7]) ? cells : nil
        }

        /// - Parameter content: the page with this layout.
        /// - Returns: nil for a malformed cell.
        fileprivate func cell(_ index: Int, in content: Span<UInt8>) -> Cell? {
            let bytes = content.extracting(..<usableSize)
            var offset = bytes.halfWord(at: firstPlace - 2 * (cellCount - index))
            // A cell takes at least four bytes, wherever it is.
            guard offset >= firstPlace, offset + 4 <= usableSize else { return nil }
            let start = offset
            var cell = Cell()
            cell.start = start
            if kind.isInterior {
                cell.child = bytes.word(at: offset)
                offset += 4
            }
            if kind == .interiorOfTable {
                guard let rowID = bytes.varint(at: &offset) else { return nil }
                cell.rowID = rowID
                cell.size = offset - start
                return cell
            }
            let sizeStart = offset
            // The engine would decode a nine-byte varint to another number.
            guard let size = bytes.varint(at: &offset).flatMap(Int.init(exactly:)), size >= 0,
                size <= largestPayload, offset < sizeStart + 9
            else { return nil }
            if kind == .leafOfTable {
                guard let rowID = bytes.varint(at: &offset) else { return nil }
                cell.rowID = rowID
            }
            let localSize = localSize(ofPayload: size)
            let end = offset + localSize
            cell.size = end + (localSize < size ? 4 : 0) - start
            guard start + cell.size <= usableSize else { return nil }
            cell.payload = Payload(
                size: size, local: offset..<end,
                overflowPage: localSize < size ? bytes.word(at: end) : nil)
            return cell
        }

        /// See "Cell payload overflow pages" of the file format.
        private func localSize(ofPayload size: Int) -> Int {
            let most = kind == .leafOfTable ? usableSize - 35 : (usableSize - 12) * 64 / 255 - 23
            guard size > most else { return size }
            let least = (usableSize - 12) * 32 / 255 - 23
            let fitting = least + (size - least) % (usableSize - 4)
            return fitting <= most ? fitting : least
        }
    }
}

extension ArraySlice<UInt8> {
    /// Reads a big-endian 16-bit integer.
    func halfWord(at offset: Int) -> Int {
        Int(self[startIndex + offset]) << 8 | Int(self[startIndex + offset + 1])
    }
}

extension Span<UInt8> {
    fileprivate func halfWord(at offset: Int) -> Int { Int(self[offset]) << 8 | Int(self[offset + 1]) }

    fileprivate func word(at offset: Int) -> Int { halfWord(at: offset) << 16 | halfWord(at: offset + 2) }

    /// Reads a varint of up to nine bytes, and moves the offset past it:
    /// <https://www.sqlite.org/fileformat2.html#varint>.
    ///
    /// - Returns: nil if the bytes end within it.
    func varint(at offset: inout Int) -> Int64? {
        // Most varints have one byte.
        if offset < count, self[offset] < 0x80 {
            offset += 1
            return Int64(self[offset - 1])
        }
        var value: UInt64 = 0
        for index in 0..<9 {
            guard offset < count else { return nil }
            let byte = self[offset]
            offset += 1
            if index == 8 { return Int64(bitPattern: value << 8 | UInt64(byte)) }
            value = value << 7 | UInt64(byte & 0x7f)
            if byte < 0x80 { return Int64(bitPattern: value) }
        }
        return nil
    }
}

/// A set of byte offsets in a page.
struct ByteMap {
    private var words: [UInt64]

    init(size: Int) { words = [UInt64](repeating: 0, count: (size + 63) / 64) }

    mutating func removeAll() {
        for index in words.indices { words[index] = 0 }
    }

    /// - Returns: false if one of the bytes is already in the set.
    mutating func insert(_ range: Range<Int>) -> Bool {
        var offset = range.lowerBound
        while offset < range.upperBound {
            let (word, first) = (offset / 64, offset % 64)
            let count = min(64 - first, range.upperBound - offset)
            let bits = (UInt64.max >> UInt64(64 - count)) << UInt64(first)
            guard words[word] & bits == 0 else { return false }
            words[word] |= bits
            offset += count
        }
        return true
    }
}
