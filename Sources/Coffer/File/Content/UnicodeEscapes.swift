internal import SQLCipherBridge

/// The decoded argument of SQLite's function `unistr`, in which a backslash and digits represent a character
/// (<https://www.sqlite.org/lang_corefunc.html#unistr>).
struct UnicodeEscapes {
    private let text: [UInt8]

    /// - Parameter text: UTF-8, which may be invalid.
    init(_ text: [UInt8]) { self.text = text }

    /// The text, with `\\`, `\XXXX`, `\uXXXX`, `\+XXXXXX` and `\UXXXXXXXX` replaced; nil for any other
    /// backslash.
    var decoded: [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        // Like SQLite, this decodes no escapes after a zero byte.
        let end = text.firstIndex(of: 0) ?? text.count
        var index = 0
        while index < end {
            guard text[index] == UInt8(ascii: "\\") else {
                result.append(text[index])
                index += 1
                continue
            }
            guard let escape = escape(at: index + 1) else { return nil }
            result += escape.bytes
            index += 1 + escape.length
        }
        return result + text[end...]
    }

    /// An escape sequence, without its backslash.
    private struct Escape {
        /// The bytes of the character.
        let bytes: [UInt8]
        /// The number of bytes in the sequence.
        let length: Int
    }

    private func escape(at index: Int) -> Escape? {
        guard index < text.count else { return nil }
        func digits(_ count: Int, after prefix: Int) -> Escape? {
            guard let number = number(at: index + prefix, count: count) else { return nil }
            return Escape(bytes: UnicodeEscapes.utf8(number), length: prefix + count)
        }
        switch text[index] {
        case UInt8(ascii: "\\"): return Escape(bytes: [text[index]], length: 1)
        case UInt8(ascii: "+"): return digits(6, after: 1)
        case UInt8(ascii: "u"): return digits(4, after: 1)
        case UInt8(ascii: "U"): return digits(8, after: 1)
        default: return digits(4, after: 0)
        }
    }

    private func number(at start: Int, count: Int) -> UInt32? {
        guard start + count <= text.count else { return nil }
        var number: UInt32 = 0
        for byte in text[start..<start + count] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            number = number << 4 | UInt32(digit)
        }
        return number
    }

    /// Returns the bytes that SQLite writes for a code point, even for one that is not a valid character.
    private static func utf8(_ number: UInt32) -> [UInt8] {
        func rest(_ shift: UInt32) -> UInt8 { 0x80 | UInt8(truncatingIfNeeded: number >> shift & 0x3f) }
        return switch number {
        case ..<0x80: [UInt8(number)]
        case ..<0x800: [0xc0 | UInt8(number >> 6), rest(0)]
        case ..<0x1_0000: [0xe0 | UInt8(number >> 12), rest(6), rest(0)]
        default: [0xf0 | UInt8(number >> 18 & 0x07), rest(12), rest(6), rest(0)]
        }
    }
}

extension ConnectionHandle {
    private static let escapeFunction = "unistr"

    /// Runs `body` on a connection that has the `unistr` function. Shells of newer SQLite versions use it to
    /// write text with control characters.
    ///
    /// Only statements can call the function, so no schema can depend on it.
    func withFunctionsOfNewerShells<Result>(_ body: () throws -> Result) throws -> Result {
        let name = ConnectionHandle.escapeFunction
        let isKnown = "SELECT 1 FROM pragma_function_list WHERE name = '\(name)'"
        guard try firstText(trusted: isKnown) == nil else { return try body() }
        try createDirectFunction(name, argumentCount: 1) { context, arguments in
            guard let text = arguments[0].utf8 else { return context.setNull() }
            guard let decoded = UnicodeEscapes(text).decoded else {
                return context.set(EngineError(code: EngineCode.error, message: "invalid Unicode escape"))
            }
            context.set(text: decoded)
        }
        defer { try? removeFunction(name, argumentCount: 1) }
        return try body()
    }
}
