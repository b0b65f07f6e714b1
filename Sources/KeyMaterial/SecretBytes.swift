internal import Glibc

/// Bytes with a single owner, which cannot be printed, encoded or copied by accident, and are wiped at the
/// end of their lifetime (invariant "Keys stay hidden").
///
/// The count is fixed, because growing would leave a copy behind.
// @unchecked: the pointer never leaves the type except during a closure, and writing needs exclusive access
// to the only owner.
@safe
package struct SecretBytes: ~Copyable, @unchecked Sendable {
    package let count: Int
    private let memory: UnsafeMutableRawPointer
    private let allocator: SecretAllocator

    /// Creates `count` zero bytes.
    package init(count: Int) {
        let allocator = SecretAllocator.current
        self.count = count
        self.allocator = allocator
        unsafe memory = allocator.allocate(max(count, 1))
        unsafe explicit_bzero(memory, max(count, 1))
    }

    package init(copying bytes: UnsafeRawBufferPointer) {
        self.init(count: bytes.count)
        withUnsafeMutableBytes { unsafe $0.copyMemory(from: bytes) }
    }

    deinit {
        // Not memset, which the optimizer may remove because the memory is not read afterwards.
        unsafe explicit_bzero(memory, max(count, 1))
        unsafe allocator.release(memory, max(count, 1))
    }

    package var isEmpty: Bool { count == 0 }

    @safe
    package borrowing func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(UnsafeRawBufferPointer(start: memory, count: count))
    }

    @safe
    package mutating func withUnsafeMutableBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(UnsafeMutableRawBufferPointer(start: memory, count: count))
    }

    package borrowing func copy() -> SecretBytes {
        withUnsafeBytes { bytes in unsafe SecretBytes(copying: bytes) }
    }
}

// MARK: - From other bytes

extension SecretBytes {
    /// Copies a sequence of bytes, and leaves no other copy than the caller's.
    package init(_ bytes: some Sequence<UInt8>) {
        var copy: SecretBytes?
        bytes.withContiguousStorageIfAvailable {
            copy = unsafe SecretBytes(copying: UnsafeRawBufferPointer($0))
        }
        if let copy = copy.take() {
            self = copy
            return
        }
        // The count is unknown: grow by replacement. Each outgrown buffer wipes itself.
        var buffer = SecretBytes(count: max(bytes.underestimatedCount, 64))
        var count = 0
        for byte in bytes {
            if count == buffer.count { buffer = buffer.resized(to: 2 * count) }
            buffer.withUnsafeMutableBytes { unsafe $0[count] = byte }
            count += 1
        }
        self = buffer.resized(to: count)
    }

    /// Copies the UTF-8 bytes of a text, without Unicode normalization.
    package init(utf8 text: String) {
        self = unsafe text.utf8Span.span.withUnsafeBytes { unsafe SecretBytes(copying: $0) }
    }

    private borrowing func resized(to newCount: Int) -> SecretBytes {
        var result = SecretBytes(count: newCount)
        let common = min(count, newCount)
        withUnsafeBytes { source in
            result.withUnsafeMutableBytes {
                unsafe $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[..<common]))
            }
        }
        return result
    }
}

// MARK: - Comparing

extension SecretBytes {
    /// Returns true if two secrets are equal. The time depends only on their counts.
    package static func == (lhs: borrowing SecretBytes, rhs: borrowing SecretBytes) -> Bool {
        guard lhs.count == rhs.count else { return false }
        return lhs.withUnsafeBytes { left in
            rhs.withUnsafeBytes { right in
                var difference: UInt8 = 0
                for unsafe(a, b) in unsafe zip(left, right) { difference |= a ^ b }
                return difference == 0
            }
        }
    }
}

/// A secret with several owners. The bytes are wiped when the last reference is released.
package final class SharedSecret: Sendable {
    package let bytes: SecretBytes

    package init(_ bytes: consuming SecretBytes) {
        self.bytes = bytes
    }
}

extension SharedSecret: CustomStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The allocator for the memory of secrets.
///
/// Tests set their own allocator in ``current`` for the duration of a task, to examine the memory after the
/// end of a secret's lifetime.
@safe
package struct SecretAllocator: Sendable {
    /// Returns writable memory of at least one byte.
    package var allocate: @Sendable (_ count: Int) -> UnsafeMutableRawPointer

    /// Frees memory that was wiped.
    package var release: @Sendable (_ memory: UnsafeMutableRawPointer, _ count: Int) -> Void

    package init(
        allocate: @escaping @Sendable (_ count: Int) -> UnsafeMutableRawPointer,
        release: @escaping @Sendable (_ memory: UnsafeMutableRawPointer, _ count: Int) -> Void
    ) {
        unsafe self.allocate = allocate
        unsafe self.release = release
    }

    @TaskLocal package static var current = SecretAllocator.pages

    /// Allocates from ``SecretArena``.
    package static let pages = unsafe SecretAllocator(
        allocate: { count in unsafe SecretArena.shared.allocate(count) },
        release: { memory, count in unsafe SecretArena.shared.release(memory, count) })
}

/// Converts secret bytes to and from hexadecimal digits in memory. A `String` would leave copies that are
/// never wiped.
///
/// Digits are computed instead of looked up in a table, so that cache lines do not reveal which table entry
/// was read.
package enum SecretHex {
    /// Writes two lower-case digits for each byte of `bytes` to the start of `target`.
    ///
    /// - Precondition: `target` holds at least `2 * bytes.count` bytes.
    package static func write(_ bytes: UnsafeRawBufferPointer, to target: UnsafeMutableRawBufferPointer) {
        precondition(target.count >= 2 * bytes.count)
        for unsafe(index, byte) in unsafe bytes.enumerated() {
            unsafe target[2 * index] = digit(byte >> 4)
            unsafe target[2 * index + 1] = digit(byte & 0xf)
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        // 0 ... 9 map to "0" ... "9". From 10 on, the difference is negative, and its sign bits add the
        // distance to "a".
        let isLetter = (Int16(9) - Int16(value)) >> 8
        return UInt8(truncatingIfNeeded: Int16(value) + 48 + (isLetter & 39))
    }

    fileprivate static func value(ofDigit digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    package static func isDigit(_ byte: UInt8) -> Bool { value(ofDigit: byte) != nil }

    /// Reads pairs of digits into `target`. Returns false, and leaves `target` in an unspecified state, if
    /// the text is not hexadecimal.
    ///
    /// - Precondition: `target` holds at least `digits.count / 2` bytes.
    package static func read(_ digits: UnsafeRawBufferPointer, to target: UnsafeMutableRawBufferPointer)
        -> Bool
    {
        guard digits.count.isMultiple(of: 2) else { return false }
        for index in 0..<digits.count / 2 {
            guard let high = unsafe value(ofDigit: digits[2 * index]),
                let low = unsafe value(ofDigit: digits[2 * index + 1])
            else { return false }
            unsafe target[index] = high << 4 | low
        }
        return true
    }
}
