/// The running checksum of a write-ahead log: each frame has that of the log's header and of all frames up
/// to it. See <https://www.sqlite.org/fileformat2.html#walformat>.
package struct LogChecksum: Equatable, Sendable {
    package var first: UInt32
    package var second: UInt32

    package init(_ first: UInt32 = 0, _ second: UInt32 = 0) {
        (self.first, self.second) = (first, second)
    }

    /// Adds bytes, of which there has to be a multiple of eight.
    ///
    /// - Parameter isBigEndian: how the header of the log says that its words are read.
    package mutating func add(_ bytes: ArraySlice<UInt8>, isBigEndian: Bool) {
        var (first, second) = (first, second)
        unsafe bytes.withUnsafeBytes { bytes in
            guard let address = bytes.baseAddress else { return }
            precondition(
                UInt(bitPattern: address) % 4 == 0,
                "Everything in a log is at a multiple of 8 bytes, and so is each block of it.")
            let words = unsafe address.assumingMemoryBound(to: UInt32.self)
            let count = bytes.count / 8 * 2
            var index = 0
            // A log has a thousand words a page, each of which comes by here: no iterators, and one question
            // less for each.
            if isBigEndian {
                while index < count {
                    first = unsafe first &+ UInt32(bigEndian: words[index]) &+ second
                    second = unsafe second &+ UInt32(bigEndian: words[index + 1]) &+ first
                    index += 2
                }
            } else {
                while index < count {
                    first = unsafe first &+ UInt32(littleEndian: words[index]) &+ second
                    second = unsafe second &+ UInt32(littleEndian: words[index + 1]) &+ first
                    index += 2
                }
            }
        }
        (self.first, self.second) = (first, second)
    }
}
