internal import Foundation

/// Conversion between bytes and hexadecimal digits.
enum Hex {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Returns the digits of bytes that are not secret.
    static func digits(_ bytes: some Sequence<UInt8>) -> String {
        // A single buffer, because values of a database may be large.
        var text: [UInt8] = []
        text.reserveCapacity(2 * bytes.underestimatedCount)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the bytes that an even number of digits stands for, or nil for any other text.
    static func bytes(_ text: some StringProtocol) -> Data? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes = Data(capacity: digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(digits[index]), let low = value(digits[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"):
            (digit | 0x20) - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
