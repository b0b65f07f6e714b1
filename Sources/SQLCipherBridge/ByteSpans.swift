internal import Glibc

extension Span<UInt8> {
    /// Whether all bytes are zero, of which there has to be one.
    package var isZero: Bool {
        // Compares each byte with its neighbour: true for zeros when the first one is.
        guard count > 1, self[0] == 0 else { return false }
        return unsafe withUnsafeBytes {
            unsafe memcmp($0.baseAddress!, $0.baseAddress! + 1, $0.count - 1) == 0
        }
    }

    /// Whether both have the same bytes.
    package func isEqual(to other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        guard count > 0 else { return true }
        return unsafe withUnsafeBytes { mine in
            unsafe other.withUnsafeBytes {
                unsafe memcmp(mine.baseAddress!, $0.baseAddress!, mine.count) == 0
            }
        }
    }
}

extension MutableSpan<UInt8> {
    /// Lends some of the bytes.
    package mutating func withPart<Result, Failure: Error>(
        _ range: Range<Int>, _ body: (inout MutableSpan<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var part = _mutatingExtracting(range)
        return try body(&part)
    }

    /// Writes bytes over those from an offset on.
    package mutating func copy(_ bytes: Span<UInt8>, at offset: Int = 0) {
        precondition(offset >= 0 && offset + bytes.count <= count)
        unsafe withUnsafeMutableBytes { target in
            unsafe bytes.withUnsafeBytes { bytes in
                unsafe UnsafeMutableRawBufferPointer(rebasing: target[offset...]).copyMemory(from: bytes)
            }
        }
    }

    /// Writes zeros over some of the bytes.
    package mutating func clear(_ range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        unsafe withUnsafeMutableBytes { target in
            _ = unsafe UnsafeMutableRawBufferPointer(rebasing: target[range]).initializeMemory(
                as: UInt8.self, repeating: 0)
        }
    }
}

extension Array<UInt8> {
    /// Lends some of the bytes.
    package mutating func withPart<Result, Failure: Error>(
        _ range: Range<Int>, _ body: (inout MutableSpan<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var bytes = mutableSpan
        return try bytes.withPart(range, body)
    }

    /// Writes bytes over those from an offset on.
    package mutating func copy(_ bytes: Span<UInt8>, at offset: Int = 0) {
        var target = mutableSpan
        target.copy(bytes, at: offset)
    }

    /// Writes zeros over some of the bytes.
    package mutating func clear(_ range: Range<Int>) {
        var target = mutableSpan
        target.clear(range)
    }
}
