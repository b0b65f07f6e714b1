import Coffer
import CofferTestSupport
import Foundation

/// A random value of one of SQLite's storage classes, with a preference for extremes.
enum RandomValue: CustomStringConvertible {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
    /// Text that is not valid UTF-8, as `CAST(blob AS TEXT)` can produce.
    case brokenText([UInt8])

    static func random(_ random: inout SeededRandom) -> RandomValue {
        switch Int.random(in: 0..<12, using: &random) {
        case 0: .null
        case 1, 2: .integer(Int64(bitPattern: random.next()) >> Int64.random(in: 0...63, using: &random))
        case 3:
            .integer(extremeIntegers.randomElement(using: &random) ?? 0)
        case 4, 5: .real(Double(bitPattern: random.next()))
        case 6:
            .real(extremeReals.randomElement(using: &random) ?? 0)
        case 7, 8: .text(text(&random))
        case 9, 10: .blob(bytes(&random))
        default: .brokenText(bytes(&random) + [0xff])
        }
    }

    private static let extremeIntegers: [Int64] = [
        .min, .min + 1, .max, .max - 1, 0, 1, -1, 127, 128, -128, -129, 0x8000_0000, -0x8000_0000,
        0x1_0000_0000, 0x8000_0000_0000,
        -0x8000_0000_0000, 0x20_0000_0000_0000,
    ]

    private static let extremeReals: [Double] = [
        .nan, .infinity, -.infinity, -0.0, 0.0, .greatestFiniteMagnitude, -.greatestFiniteMagnitude,
        .leastNonzeroMagnitude,
        .leastNormalMagnitude, .ulpOfOne, 0.1, 1.0, -1.0, 0x1p53, 0x1p63, -0x1p63, 1e15, 1e16, 123456789.0,
    ]

    private static func text(_ random: inout SeededRandom) -> String {
        let alphabet = Array(
            "aZ09 '\"`;%_\\\0\n\r\t\u{1}\u{7f}é€𝄞e\u{301}\u{200d}\u{feff}\u{fffd}\u{10ffff}ß中")
        return String((0..<length(&random)).map { _ in alphabet.randomElement(using: &random) ?? "a" })
    }

    private static func bytes(_ random: inout SeededRandom) -> [UInt8] { random.bytes(length(&random)) }

    /// Returns a length that is usually short, sometimes zero, and sometimes larger than a page.
    private static func length(_ random: inout SeededRandom) -> Int {
        switch Int.random(in: 0..<40, using: &random) {
        case 0...4: 0
        case 39: Int.random(in: 3900...9000, using: &random)
        default: Int.random(in: 1...40, using: &random)
        }
    }

    // MARK: - Expected results

    /// True if the value is stored as NULL. SQLite has no NaN and stores NULL instead.
    var isNull: Bool {
        switch self {
        case .null: true
        case .real(let value): value.isNaN
        default: false
        }
    }

    var type: String {
        switch self {
        case _ where isNull: "null"
        case .null: "null"
        case .integer: "integer"
        case .real: "real"
        case .text, .brokenText: "text"
        case .blob: "blob"
        }
    }

    /// The bytes of text and blobs.
    var hex: String? {
        switch self {
        case .text(let text): RandomValue.hex(Array(text.utf8))
        case .blob(let bytes), .brokenText(let bytes): RandomValue.hex(bytes)
        default: nil
        }
    }

    /// The text that the shell prints for the value in ``RoundTripTests``.
    var shellText: String {
        switch self {
        case .integer(let value): "\(value)"
        case .real(let value) where !value.isNaN:
            RandomValue.hex((0..<8).map { UInt8(truncatingIfNeeded: value.bitPattern >> (56 - 8 * $0)) })
        default: hex ?? ""
        }
    }

    func matches(_ value: DatabaseValue) -> Bool {
        switch (self, value.storage) {
        case (_, .null): isNull
        case (.integer(let mine), .int64(let theirs)): mine == theirs
        case (.real(let mine), .double(let theirs)): mine.bitPattern == theirs.bitPattern
        case (.text(let mine), .string(let theirs)): mine.utf8.elementsEqual(theirs.utf8)
        case (.blob(let mine), .blob(let theirs)): theirs.elementsEqual(mine)
        // Text that is not valid UTF-8 is repaired when it is read.
        case (.brokenText(let mine), .string(let theirs)):
            String(decoding: mine, as: UTF8.self).utf8.elementsEqual(theirs.utf8)
        default: false
        }
    }

    // MARK: - Ways to write the value

    /// The placeholder for ``argument``.
    var placeholder: String {
        if case .brokenText = self { "CAST(? AS TEXT)" } else { "?" }
    }

    var argument: (any DatabaseValueConvertible)? {
        switch self {
        case .null: nil
        case .integer(let value): value
        case .real(let value): value
        case .text(let value): value
        case .blob(let bytes), .brokenText(let bytes): Data(bytes)
        }
    }

    /// The value as an SQL literal.
    var literal: String {
        switch self {
        case _ where isNull: "NULL"
        case .null: "NULL"
        case .integer(.min): "-9223372036854775807 - 1"
        case .integer(let value): "\(value)"
        case .real(let value) where value == .infinity: "9e999"
        case .real(let value) where value == -.infinity: "-9e999"
        // SQLite does not always parse 17 digits exactly.
        case .real: "ieee754_from_blob(x'\(shellText)')"
        case .text(let text) where !text.utf8.contains(0) && !text.contains("\n") && !text.contains("\r"):
            "'\(text.replacing("'", with: "''"))'"
        case .text, .brokenText: "CAST(x'\(hex ?? "")' AS TEXT)"
        case .blob: "x'\(hex ?? "")'"
        }
    }

    static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        return String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    var description: String {
        switch self {
        case .real(let value): "real \(value) \(shellText)"
        default: "\(type) \(literal.prefix(200))"
        }
    }
}
