/// Reads a file in blocks, for callers that need small pieces of it, usually in order.
final class BlockReader {
    /// Fills the target with the bytes at an offset, and returns their number. It is smaller than the
    /// target's size only at the end of the file.
    typealias Read = (_ offset: Int64, _ target: inout [UInt8]) throws -> Int

    private let read: Read
    /// The block's storage, which is reused unless a caller still holds a slice of it.
    private var block: [UInt8] = []
    /// The range of the file that the block contains.
    private var range: Range<Int64> = 0..<0

    /// The number of bytes read at once. It starts small because most logs are short and most callers read
    /// only the beginning.
    private var blockSize = 1 << 14
    private static let largestBlockSize = 1 << 18

    init(_ read: @escaping Read) {
        self.read = read
    }

    /// Returns up to `count` bytes; fewer only at the end of the file.
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
    /// Returns the big-endian 32-bit number at an offset.
    func word(at offset: Int) -> UInt32 {
        let first = startIndex + offset
        return UInt32(self[first]) << 24 | UInt32(self[first + 1]) << 16 | UInt32(self[first + 2]) << 8
            | UInt32(self[first + 3])
    }
}
