internal import SQLCipherBridge

/// Values as SQL literals that SQLite reads back to the same bytes.
final class ScriptLiteral {
    let encoding: TextEncoding

    private let connection: ConnectionHandle

    /// A query for the number that SQLite reads from digits.
    private let reading: EngineStatement

    init(_ connection: ConnectionHandle, _ encoding: TextEncoding) throws {
        guard let reading = try connection.prepare(trusted: "SELECT CAST(?1 AS REAL)") else {
            throw EngineError(code: EngineCode.error, message: "SQLite cannot read numbers")
        }
        self.encoding = encoding
        self.connection = connection
        self.reading = reading
    }

    func text(at column: CInt, of row: StatementHandle) throws -> [UInt8] {
        switch row.columnType(at: column) {
        case EngineType.integer: return Array(String(row.int64(at: column)).utf8)
        case EngineType.float: return Array(try text(of: row.double(at: column)).utf8)
        case EngineType.text:
            // Shells convert CRLF to LF, even inside quotes.
            guard let text = plainText(at: column, of: row), !text.hasLineEndOfTwoBytes else {
                return Array("CAST(".utf8) + hexadecimal(at: column, of: row) + Array(" AS TEXT)".utf8)
            }
            return quoted(text)
        case EngineType.blob: return hexadecimal(at: column, of: row)
        default: return Array("NULL".utf8)
        }
    }

    // MARK: Text

    /// Returns a text in UTF-8; nil if it would not come back unchanged from SQL text.
    func plainText(at column: CInt, of row: StatementHandle) -> [UInt8]? {
        let bytes = unsafe [UInt8](row.storedBytes(at: column, encoding: encoding))
        switch encoding {
        case .utf8:
            return bytes.contains(0) || String(validating: bytes, as: UTF8.self) == nil ? nil : bytes
        case .utf16LittleEndian, .utf16BigEndian:
            let units = stride(from: 0, to: bytes.count - 1, by: 2).map { index in
                let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
                return encoding == .utf16LittleEndian ? second << 8 | first : first << 8 | second
            }
            // SQLite interprets a leading U+FEFF as a byte order mark, and replaces U+FFFE and U+FFFF when it
            // converts text.
            let special: Set<UInt16> = [0, 0xfffe, 0xffff]
            guard units.first != 0xfeff, !units.contains(where: special.contains) else { return nil }
            return String(validating: units, as: UTF16.self).map { Array($0.utf8) }
        }
    }

    private func quoted(_ text: [UInt8]) -> [UInt8] {
        let quote = UInt8(ascii: "'")
        var result = [quote]
        result.reserveCapacity(text.count + 2)
        for byte in text {
            if byte == quote { result.append(quote) }
            result.append(byte)
        }
        result.append(quote)
        return result
    }

    private func hexadecimal(at column: CInt, of row: StatementHandle) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        let bytes = unsafe [UInt8](row.storedBytes(at: column, encoding: encoding))
        var result = Array("X'".utf8)
        result.reserveCapacity(2 * bytes.count + 3)
        for byte in bytes {
            result.append(digits[Int(byte >> 4)])
            result.append(digits[Int(byte & 15)])
        }
        result.append(UInt8(ascii: "'"))
        return result
    }

    // MARK: Numbers

    private func text(of number: Double) throws -> String {
        guard number.isFinite else { return number < 0 ? "-9.0e+999" : "9.0e+999" }
        for candidate in [number.exactShortLiteral, "\(number)", number.engineLiteral] {
            if let candidate, try read(candidate).bitPattern == number.bitPattern { return candidate }
        }
        return ScriptLiteral.product(number)
    }

    /// Returns the number that SQLite reads from digits, which is not always the nearest one.
    private func read(_ digits: String) throws -> Double {
        let handle = reading.handle
        try connection.check(handle.bind(digits, at: 1))
        guard handle.step() == EngineCode.row else {
            throw EngineError(code: EngineCode.error, message: connection.lastErrorMessage)
        }
        defer { handle.reset() }
        return handle.double(at: 0)
    }

    /// Returns an exact expression for a number whose digits SQLite reads as a neighboring number: an integer
    /// times powers of two, each of which SQLite represents exactly.
    static func product(_ number: Double) -> String {
        let significand = number.significandBitPattern | (number.isNormal ? 1 << 52 : 0)
        let shift = (number.isNormal ? Int(number.exponentBitPattern) : 1) - 1075
        var text = "\(number.sign == .minus ? "-" : "")\(significand)*1.0"
        var rest = abs(shift)
        while rest > 0 {
            let step = min(rest, 60)
            text += "\(shift < 0 ? "/" : "*")(1<<\(step))"
            rest -= step
        }
        return text
    }
}
