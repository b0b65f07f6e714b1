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
        /// How many bytes of the page it takes.
        fileprivate(set) var size = 0
    }

    /// A record, the first bytes of which are on the page.
    struct Payload {
        let size: Int
        let local: ArraySlice<UInt8>
        /// Where the rest begins; nil when all of it is on the page.
        let overflowPage: Int?
    }

    let kind: Kind
    /// The page for everything behind the last cell of an interior page.
    let lastChild: Int?
    let cellCount: Int

    private let bytes: ArraySlice<UInt8>
    /// Where cells may be: behind the list of them.
    private let firstPlace: Int
    private let largestPayload: Int

    /// - Parameters:
    ///   - content: the decrypted page.
    ///   - usableSize: its bytes without those that are reserved at its end.
    ///   - pageCount: of the database, which holds all payloads.
    /// - Returns: nil when this is no such page.
    init?(_ content: [UInt8], number: Int, usableSize: Int, pageCount: Int) {
        let start = number == 1 ? DatabaseHeader.size : 0
        guard content.count >= usableSize, usableSize >= start + 12, let kind = Kind(rawValue: content[start])
        else { return nil }
        let bytes = content[..<usableSize]
        let headerSize = kind.isInterior ? 12 : 8
        let count = bytes.halfWord(at: start + 3)
        let firstPlace = start + headerSize + 2 * count
        guard firstPlace <= usableSize else { return nil }
        self.kind = kind
        self.bytes = bytes
        self.firstPlace = firstPlace
        cellCount = count
        lastChild = kind.isInterior ? Int(bytes.word(at: start + 8)) : nil
        // The engine takes no longer row either.
        largestPayload = min(pageCount * usableSize, 999_000_000)
    }

    /// Calls `body` with each cell, and with nil for one that says what cannot be: together they take no more
    /// than the page, so that what is read of a page cannot be a multiple of it.
    func forEachCell(_ body: (Cell?) throws -> Void) rethrows {
        var room = bytes.endIndex - firstPlace
        for index in 0..<cellCount {
            guard let cell = cell(index), cell.size <= room else {
                try body(nil)
                continue
            }
            room -= cell.size
            try body(cell)
        }
    }

    /// - Returns: nil for a cell that says what cannot be.
    private func cell(_ index: Int) -> Cell? {
        var offset = bytes.halfWord(at: firstPlace - 2 * (cellCount - index))
        // A cell has four bytes at least, wherever it is.
        guard offset >= firstPlace, offset + 4 <= bytes.endIndex else { return nil }
        let start = offset
        var cell = Cell()
        if kind.isInterior {
            cell.child = Int(bytes.word(at: offset))
            offset += 4
        }
        if kind == .interiorOfTable {
            guard let rowID = bytes.varint(at: &offset) else { return nil }
            cell.rowID = rowID
            cell.size = offset - start
            return cell
        }
        guard let size = bytes.varint(at: &offset).flatMap(Int.init(exactly:)), size >= 0,
            size <= largestPayload
        else { return nil }
        if kind == .leafOfTable {
            guard let rowID = bytes.varint(at: &offset) else { return nil }
            cell.rowID = rowID
        }
        let localSize = localSize(ofPayload: size)
        let end = offset + localSize
        cell.size = end + (localSize < size ? 4 : 0) - start
        guard start + cell.size <= bytes.endIndex else { return nil }
        cell.payload = Payload(
            size: size, local: bytes[offset..<end],
            overflowPage: localSize < size ? Int(bytes.word(at: end)) : nil)
        return cell
    }

    /// See "Cell payload overflow pages" of the file format.
    private func localSize(ofPayload size: Int) -> Int {
        let usable = bytes.endIndex
        let most = kind == .leafOfTable ? usable - 35 : (usable - 12) * 64 / 255 - 23
        guard size > most else { return size }
        let least = (usable - 12) * 32 / 255 - 23
        let fitting = least + (size - least) % (usable - 4)
        return fitting <= most ? fitting : least
    }
}

extension ArraySlice<UInt8> {
    /// Two bytes, the higher one first.
    func halfWord(at offset: Int) -> Int {
        Int(self[startIndex + offset]) << 8 | Int(self[startIndex + offset + 1])
    }

    /// Reads an integer of up to nine bytes, and moves behind it:
    /// <https://www.sqlite.org/fileformat2.html#varint>.
    ///
    /// - Returns: nil when the bytes end within it.
    func varint(at offset: inout Int) -> Int64? {
        var value: UInt64 = 0
        for index in 0..<9 {
            guard offset < endIndex else { return nil }
            let byte = self[offset]
            offset += 1
            if index == 8 { return Int64(bitPattern: value << 8 | UInt64(byte)) }
            value = value << 7 | UInt64(byte & 0x7f)
            if byte < 0x80 { return Int64(bitPattern: value) }
        }
        return nil
    }
}
