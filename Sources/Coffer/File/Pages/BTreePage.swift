/// One page of a b-tree, read without trust: <https://www.sqlite.org/fileformat2.html#b_tree_pages>.
///
/// Nothing that it answers leads outside of the page or of the file.
struct BTreePage {
    enum Kind: UInt8 {
        case interiorOfIndex = 2
        case interiorOfTable = 5
        case leafOfIndex = 10
        case leafOfTable = 13

        var isInterior: Bool { self == .interiorOfIndex || self == .interiorOfTable }
        var isOfTable: Bool { self == .interiorOfTable || self == .leafOfTable }
    }

    /// What a cell says.
    struct Cell {
        /// The page that has what is not greater, in interior pages.
        var child: Int?
        /// In tables.
        var rowID: Int64 = 0
        /// Nil in interior pages of tables.
        var payload: Payload?
        /// Where it begins, and how many bytes of the page it has.
        fileprivate var start = 0
        fileprivate(set) var size = 0
    }

    /// A record, the first bytes of which are on the page.
    struct Payload {
        let size: Int
        /// The place of these bytes.
        let local: Range<Int>
        /// Where the rest begins; nil when all of it is on the page.
        let overflowPage: Int?
    }

    let layout: Layout
    private let content: [UInt8]

    var kind: Kind { layout.kind }
    var lastChild: Int? { layout.lastChild }
    var cellCount: Int { layout.cellCount }

    /// - Parameters:
    ///   - content: the decrypted page.
    ///   - usableSize: its bytes without those that are reserved at its end.
    ///   - pageCount: of the database, which holds all payloads.
    /// - Returns: nil when this is no such page.
    init?(_ content: [UInt8], number: Int, usableSize: Int, pageCount: Int) {
        guard
            let layout = Layout(
                content.span, number: number, usableSize: usableSize, pageCount: pageCount)
        else { return nil }
        self.layout = layout
        self.content = content
    }

    /// The bytes of a record that are on the page.
    func local(_ payload: Payload) -> ArraySlice<UInt8> { content[payload.local] }

    /// The cells of a page in their order: together they take no more than the page, so that what is read of
    /// a page cannot be a multiple of it.
    struct Cells {
        private let page: BTreePage
        private var index = 0
        private var room: Int

        init(of page: BTreePage) {
            self.page = page
            room = page.layout.roomForCells
        }

        var isAtEnd: Bool { index == page.cellCount }

        /// The next cell; nil for one that says what cannot be, and at the end.
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

    /// Calls `body` with each cell, and with nil for one that says what cannot be.
    func forEachCell(_ body: (Cell?) throws -> Void) rethrows {
        var cells = Cells(of: self)
        while !cells.isAtEnd { try body(cells.next()) }
    }
}

extension BTreePage {
    /// Where things are on a page, by what its beginning says. The bytes of the page are with the caller, so
    /// that nobody counts references to them for each cell.
    struct Layout {
        let kind: Kind
        /// The page for everything behind the last cell of an interior page.
        let lastChild: Int?
        let cellCount: Int

        /// Where its header begins.
        private let start: Int
        private let usableSize: Int
        /// Where cells may be: behind the list of them.
        private let firstPlace: Int
        private let largestPayload: Int

        /// - Parameters:
        ///   - content: the decrypted page.
        ///   - usableSize: its bytes without those that are reserved at its end.
        ///   - pageCount: of the database, which holds all payloads.
        /// - Returns: nil when this is no page of a b-tree.
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
            // The engine takes no longer row either.
            largestPayload = min(pageCount * usableSize, 999_000_000)
        }

        fileprivate var roomForCells: Int { usableSize - firstPlace }

        /// All cells, if each byte behind the beginning of the page belongs to one of them or to one free
        /// block, but for as many as the page says that are lost between them.
        ///
        /// - Parameters:
        ///   - content: of the page that this is the layout of.
        ///   - map: at least as large as the page.
        /// - Returns: nil where it is otherwise.
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
                // Those that are next to each other, or almost, are one block.
                guard size >= 4, next == 0 || next > block + size + 3, take(block, size) else { return nil }
                block = next
            }
            return left == Int(bytes[start + 7]) ? cells : nil
        }

        /// - Parameter content: of the page that this is the layout of.
        /// - Returns: nil for a cell that says what cannot be.
        fileprivate func cell(_ index: Int, in content: Span<UInt8>) -> Cell? {
            let bytes = content.extracting(..<usableSize)
            var offset = bytes.halfWord(at: firstPlace - 2 * (cellCount - index))
            // A cell has four bytes at least, wherever it is.
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
            // Of nine bytes the engine would read another number.
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
    /// Two bytes, the higher one first.
    func halfWord(at offset: Int) -> Int {
        Int(self[startIndex + offset]) << 8 | Int(self[startIndex + offset + 1])
    }
}

extension Span<UInt8> {
    fileprivate func halfWord(at offset: Int) -> Int { Int(self[offset]) << 8 | Int(self[offset + 1]) }

    fileprivate func word(at offset: Int) -> Int { halfWord(at: offset) << 16 | halfWord(at: offset + 2) }

    /// Reads an integer of up to nine bytes, and moves behind it:
    /// <https://www.sqlite.org/fileformat2.html#varint>.
    ///
    /// - Returns: nil when the bytes end within it.
    func varint(at offset: inout Int) -> Int64? {
        // Most have one byte.
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

/// A set of bytes of a page.
struct ByteMap {
    private var words: [UInt64]

    init(size: Int) { words = [UInt64](repeating: 0, count: (size + 63) / 64) }

    mutating func removeAll() {
        for index in words.indices { words[index] = 0 }
    }

    /// - Returns: false when one of the bytes is there already.
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
