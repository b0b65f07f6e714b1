internal import Glibc

extension Span<UInt8> {
    /// True if all bytes are zero, and there are at least two.
    package var isZero: Bool {
        // Compares each byte with the next one, after checking the first.
        guard count > 1, self[0] == 0 else { return false }
        return unsafe withUnsafeBytes {
            guard let start = $0.baseAddress else { return false }
            return unsafe memcmp(start, start + 1, $0.count - 1) == 0
        }
    }

    /// Returns true if both spans contain the same bytes.
    package func isEqual(to other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        return unsafe withUnsafeBytes { mine in
            unsafe other.withUnsafeBytes { other in
                // Empty spans may have no address.
                guard let mine = mine.baseAddress, let other = other.baseAddress else { return true }
                return unsafe memcmp(mine, other, count) == 0
            }
        }
    }
}

extension MutableSpan<UInt8> {
    /// Calls `body` with a part of the bytes.
    package mutating func withPart<Result, Failure: Error>(
        _ range: Range<Int>, _ body: (inout MutableSpan<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var part = _mutatingExtracting(range)
        return try body(&part)
    }

    /// Overwrites the bytes from an offset.
    package mutating func copy(_ bytes: Span<UInt8>, at offset: Int = 0) {
        precondition(offset >= 0 && offset + bytes.count <= count)
        unsafe withUnsafeMutableBytes { target in
            unsafe bytes.withUnsafeBytes { bytes in
                unsafe UnsafeMutableRawBufferPointer(rebasing: target[offset...]).copyMemory(from: bytes)
            }
        }
    }

    /// Overwrites a part of the bytes with zeros.
    package mutating func clear(_ range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        unsafe withUnsafeMutableBytes { target in
            _ = unsafe UnsafeMutableRawBufferPointer(rebasing: target[range]).initializeMemory(
                as: UInt8.self, repeating: 0)
        }
    }
}

extension Array<UInt8> {
    /// Calls `body` with a part of the bytes.
    package mutating func withPart<Result, Failure: Error>(
        _ range: Range<Int>, _ body: (inout MutableSpan<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var bytes = mutableSpan
        return try bytes.withPart(range, body)
    }

    /// Overwrites the bytes from an offset.
    package mutating func copy(_ bytes: Span<UInt8>, at offset: Int = 0) {
        var target = mutableSpan
        target.copy(bytes, at: offset)
    }

    /// Overwrites a part of the bytes with zeros.
    package mutating func clear(_ range: Range<Int>) {
        var target = mutableSpan
        target.clear(range)
    }
}

// For calls of C that take an address in a buffer.
extension UnsafeRawBufferPointer {
    /// Returns the address of the byte at an offset, which may be the end; nil if the buffer has no memory.
    func address(at offset: Int = 0) -> UnsafePointer<UInt8>? {
        precondition(offset >= 0 && offset <= count)
        return unsafe baseAddress?.advanced(by: offset).assumingMemoryBound(to: UInt8.self)
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Returns the address of the byte at an offset, which may be the end; nil if the buffer has no memory.
    func address(at offset: Int = 0) -> UnsafeMutablePointer<UInt8>? {
        precondition(offset >= 0 && offset <= count)
        return unsafe baseAddress?.advanced(by: offset).assumingMemoryBound(to: UInt8.self)
    }
}
