internal import Glibc

/// Bytes that have one owner, cannot be printed, encoded or copied by accident, and are wiped at the end of
/// their life (I5).
///
/// The count is fixed, because growing would leave a copy behind.
// @unchecked: the pointer never leaves the type except during a closure, and writing needs exclusive access
// to the only owner.
@safe
package struct SecretBytes: ~Copyable, @unchecked Sendable {
    package let count: Int
    private let memory: UnsafeMutableRawPointer
    private let allocator: SecretAllocator

    /// Makes `count` zero bytes.
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
        // Not memset, which the optimizer may drop because nobody reads the memory afterwards.
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
    /// Copies a sequence of bytes, leaving no other copy than the caller's.
    package init(_ bytes: some Sequence<UInt8>) {
        let copy = bytes.withContiguousStorageIfAvailable {
            unsafe SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer($0)))
        }
        if let copy {
            self = copy.bytes.copy()
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

    /// Copies the UTF-8 bytes of a text, as they are: no Unicode normalization.
    package init(utf8 text: String) {
        var text = text
        let copy = text.withUTF8 { unsafe SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer($0))) }
        self = copy.bytes.copy()
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
    /// Whether two secrets are the same, in a time that depends on their counts only.
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

/// A secret that several owners hold; the bytes are wiped when the last one lets go.
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

/// Where the memory of secrets comes from and goes to.
///
/// Tests put their own allocator in ``current`` for the duration of a task, to look at the memory after the
/// end of a secret's life.
@safe
package struct SecretAllocator: Sendable {
    /// Returns writable memory of at least one byte.
    package var allocate: @Sendable (_ count: Int) -> UnsafeMutableRawPointer

    /// Takes back memory that was wiped.
    package var release: @Sendable (_ memory: UnsafeMutableRawPointer, _ count: Int) -> Void

    package init(
        allocate: @escaping @Sendable (_ count: Int) -> UnsafeMutableRawPointer,
        release: @escaping @Sendable (_ memory: UnsafeMutableRawPointer, _ count: Int) -> Void
    ) {
        unsafe self.allocate = allocate
        unsafe self.release = release
    }

    @TaskLocal package static var current = SecretAllocator.pages

    /// The pages of ``SecretArena``.
    package static let pages = unsafe SecretAllocator(
        allocate: { count in unsafe SecretArena.shared.allocate(count) },
        release: { memory, count in unsafe SecretArena.shared.release(memory, count) })
}

/// Hexadecimal digits of secret bytes, from memory to memory: a `String` would leave copies that nobody
/// wipes.
///
/// Digits are computed, not looked up in a table, so that no cache line reveals which table entry was read.
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
        // 0 ... 9 give "0" ... "9"; from 10 on the difference is negative and its sign bits add the distance
        // to "a".
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

    /// Reads pairs of digits into `target`; answers false, with `target` in an unknown state, when the text
    /// is not hexadecimal.
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
