internal import Foundation
internal import SQLCipherBridge

extension DatabaseValue {
    /// The value as an SQL literal, which SQLite reads back as the same value.
    ///
    /// Values are bound as arguments wherever SQLite accepts arguments. It accepts none in the definitions of
    /// tables, indexes and views.
    var sqlLiteral: String {
        switch storage {
        case .null: "NULL"
        case .int64(let value): "\(value)"
        case .double(let value): value.sqlLiteral
        case .string(let value): value.sqlLiteral
        case .blob(let value): value.sqlLiteral
        }
    }
}

extension Double {
    /// The number as an SQL literal. SQLite has no literal for infinity, but reads numbers out of range as
    /// infinity. It has no NaN: NaN becomes NULL, as in a binding.
    fileprivate var sqlLiteral: String {
        if isNaN { return "NULL" }
        if isInfinite { return self < 0 ? "-9.0e+999" : "9.0e+999" }
        return exactShortLiteral ?? description
    }
}

extension String {
    /// The string in single quotes. SQL text cannot contain a NUL character, so a placeholder stands for it,
    /// which SQLite replaces. A cast of the string's bytes would be another text in a UTF-16 database.
    var sqlLiteral: String {
        guard !utf8.contains(0) else {
            // Compared as bytes, like SQLite does.
            let bytes = Array(utf8)
            var placeholder = Array("\\0".utf8)
            while bytes.contains(placeholder) { placeholder.append(UInt8(ascii: "0")) }
            let text = String(decoding: bytes.replacing([0], with: placeholder), as: UTF8.self)
            return "replace(\(text.sqlLiteral),'\(String(decoding: placeholder, as: UTF8.self))',char(0))"
        }
        var result = "'"
        // Compare scalars, not characters: a combining mark after a quote forms one character with it, which
        // would hide the quote.
        for scalar in unicodeScalars {
            if scalar == "'" { result.unicodeScalars.append(scalar) }
            result.unicodeScalars.append(scalar)
        }
        return result + "'"
    }
}

extension Data {
    fileprivate var sqlLiteral: String {
        let digits = Array("0123456789ABCDEF")
        return "X'" + String(flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 0xf)]] }) + "'"
    }
}

extension SQL {
    /// Returns the SQL text with its arguments written as literals, for statements that define tables,
    /// indexes and views.
    ///
    /// - Throws: a ``DatabaseError`` with `SQLITE_MISUSE` if there are more or fewer arguments than
    ///   parameters.
    func inlined(_ db: Database) throws -> String {
        let (sql, arguments) = try build(db)
        var inlining = ArgumentInlining(sql: sql, arguments: arguments)
        let result = try inlining.run()
        // The text that follows must not become part of a comment.
        return result.contains("--") ? result + "\n" : result
    }
}

/// Replaces the parameters of SQL text by literals. Values are assigned to parameters in the same way as in a
/// statement.
private struct ArgumentInlining {
    private let sql: String
    private let bytes: [UInt8]
    private let arguments: StatementArguments
    private var remaining: ArraySlice<DatabaseValue>

    /// The values of the named and numbered parameters.
    private var known: [String: DatabaseValue] = [:]

    init(sql: String, arguments: StatementArguments) {
        self.sql = sql
        self.bytes = Array(sql.utf8)
        self.arguments = arguments
        self.remaining = arguments.values[...]
    }

    mutating func run() throws -> String {
        // Without values there is nothing to replace. SQLite itself reports parameters without a value.
        guard !arguments.isEmpty else { return sql }
        var result = ""
        var position = 0
        var scanner = SQLScanner(bytes)
        while let token = scanner.next() {
            guard token.range.lowerBound >= position, let parameter = parameter(at: token) else { continue }
            result += text(position..<token.range.lowerBound)
            result += try value(of: text(parameter)).sqlLiteral
            position = parameter.upperBound
        }
        guard remaining.isEmpty else {
            throw mismatch("too many statement arguments: \(arguments.values.count)")
        }
        return result + text(position..<bytes.count)
    }

    /// Returns the range of the parameter that begins with a token, if any. See
    /// <https://www.sqlite.org/c3ref/bind_blob.html>.
    private func parameter(at token: SQLScanner.Token) -> Range<Int>? {
        let start = token.range.lowerBound
        switch bytes[start] {
        case UInt8(ascii: "?"):
            let digits = bytes[(start + 1)...].prefix(while: \.isASCIIDigit)
            return start..<digits.endIndex
        case UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "$"):
            let name = bytes[(start + 1)...].prefix(while: SQLScanner.isWordByte)
            return name.isEmpty ? nil : start..<name.endIndex
        default:
            return nil
        }
    }

    private mutating func value(of parameter: String) throws -> DatabaseValue {
        guard parameter != "?" else { return try next() }
        if let value = known[parameter] { return value }
        let value: DatabaseValue
        if parameter.hasPrefix("?") {
            // Numbers would have to be reconciled with the order of the other parameters.
            throw mismatch("numbered parameters cannot be used here: name them instead")
        } else if let named = arguments.namedValues[String(parameter.dropFirst())] {
            value = named
        } else {
            value = try next()
        }
        known[parameter] = value
        return value
    }

    private mutating func next() throws -> DatabaseValue {
        guard let value = remaining.popFirst() else {
            throw mismatch("wrong number of statement arguments: \(arguments.values.count)")
        }
        return value
    }

    private func mismatch(_ message: String) -> DatabaseError {
        DatabaseError.misuse(message, sql: sql)
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
}
