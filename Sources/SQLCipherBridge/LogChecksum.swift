/// The running checksum of a WAL file. Each frame stores the checksum of the WAL header and of all frames up
/// to and including itself. See <https://www.sqlite.org/fileformat2.html#walformat>.
package struct LogChecksum: Equatable, Sendable {
    package var first: UInt32
    package var second: UInt32

    package init(_ first: UInt32 = 0, _ second: UInt32 = 0) {
        (self.first, self.second) = (first, second)
    }

    /// Adds bytes, whose number must be a multiple of eight.
    ///
    /// - Parameter isBigEndian: the byte order of words, from the WAL header.
    package mutating func add(_ bytes: ArraySlice<UInt8>, isBigEndian: Bool) {
        var (first, second) = (first, second)
        unsafe bytes.withUnsafeBytes { bytes in
            guard let address = bytes.baseAddress else { return }
            precondition(
                UInt(bitPattern: address) % 4 == 0,
                "Each block of a log must begin at a multiple of 4 bytes.")
            let words = unsafe address.assumingMemoryBound(to: UInt32.self)
            let count = bytes.count / 8 * 2
            var index = 0
            // A WAL file has a thousand words per page, all of which are processed here. Avoid iterators and
            // a check of the byte order in each round.
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
