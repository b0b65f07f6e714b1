/// Reads a file in blocks, for those who want small pieces of it, mostly in order.
final class BlockReader {
    /// Fills the target with the bytes from an offset on, and returns how many there were: fewer than the
    /// target has at the end of the file only.
    typealias Read = (_ offset: Int64, _ target: inout [UInt8]) throws -> Int

    private let read: Read
    /// Used again for each block, unless a caller still has a piece of the last one.
    private var block: [UInt8] = []
    /// Which part of the file is in the block.
    private var range: Range<Int64> = 0..<0

    /// How much is read at once: little at first, as most logs are short, and most readers look at the
    /// beginning only.
    private var blockSize = 1 << 14
    private static let largestBlockSize = 1 << 18

    init(_ read: @escaping Read) {
        self.read = read
    }

    /// Up to `count` bytes; fewer at the end of the file.
    func bytes(at offset: Int64, count: Int) throws -> ArraySlice<UInt8> {
        if offset < range.lowerBound || offset + Int64(count) > range.upperBound {
            if block.count < max(count, blockSize) {
                block = [UInt8](repeating: 0, count: max(count, blockSize))
            }
            blockSize = min(4 * blockSize, BlockReader.largestBlockSize)
            range = 0..<0
            let done = try read(offset, &block)
            range = offset..<offset + Int64(done)
        }
        let first = Int(min(offset - range.lowerBound, Int64(range.count)))
        return block[first..<min(first + count, range.count)]
    }
}

extension ArraySlice<UInt8> {
    /// Four bytes, the highest one first.
    func word(at offset: Int) -> UInt32 {
        let first = startIndex + offset
        return UInt32(self[first]) << 24 | UInt32(self[first + 1]) << 16 | UInt32(self[first + 2]) << 8
            | UInt32(self[first + 3])
    }
}
