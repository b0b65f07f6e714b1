/// Hexadecimal digits of secret bytes, from memory to memory: a `String` would leave copies that nobody wipes.
///
/// Digits are computed, not looked up in a table, so that no cache line tells which table entry was read.
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
        // 0 ... 9 give "0" ... "9"; from 10 on the difference is negative and its sign bits add the distance to "a".
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

    /// Reads pairs of digits into `target`; answers false, with `target` in an unknown state, when the text is not hexadecimal.
    ///
    /// - Precondition: `target` holds at least `digits.count / 2` bytes.
    package static func read(_ digits: UnsafeRawBufferPointer, to target: UnsafeMutableRawBufferPointer) -> Bool {
        guard digits.count.isMultiple(of: 2) else { return false }
        for index in 0..<digits.count / 2 {
            guard let high = unsafe value(ofDigit: digits[2 * index]), let low = unsafe value(ofDigit: digits[2 * index + 1])
            else { return false }
            unsafe target[index] = high << 4 | low
        }
        return true
    }
}
