internal import SQLCipherBridge

/// The text that the argument of SQLite's function `unistr` stands for: a backslash and digits are a
/// character (<https://www.sqlite.org/lang_corefunc.html#unistr>).
struct UnicodeEscapes {
    private let text: [UInt8]

    /// - Parameter text: UTF-8, which may be invalid.
    init(_ text: [UInt8]) { self.text = text }

    /// The text, with `\\`, `\XXXX`, `\uXXXX`, `\+XXXXXX` and `\UXXXXXXXX` replaced; nil for any other
    /// backslash.
    var decoded: [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        // As SQLite does: what follows a byte of zero has no escapes.
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

    /// What follows a backslash.
    private struct Escape {
        /// What it stands for.
        let bytes: [UInt8]
        /// The number of its bytes.
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

    /// The bytes that SQLite writes for a number, also for one that is not a character of its own.
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

    /// Runs `body` on a connection that knows the function of newer SQLite versions with which their shells
    /// write texts that have control characters.
    ///
    /// Only statements can call it: no schema keeps it.
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
