public import Foundation

extension Decimal: DatabaseValueConvertible, StatementColumnConvertible {
    /// The decimal digits as text, which is exact. NaN is stored as NULL.
    ///
    /// A column of numeric affinity converts the text to a floating-point number: declare the column `TEXT`
    /// to keep the digits.
    public var databaseValue: DatabaseValue {
        isNaN ? .null : description.databaseValue
    }

    /// Creates a decimal number from a number or from text that is a number.
    ///
    /// A floating-point number is converted through its shortest decimal representation: 1.23 becomes 1.23.
    /// Digits beyond the 38th are rounded. Returns nil for numbers that are too large.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Decimal? {
        switch dbValue.storage {
        case .int64(let value): Decimal(value)
        case .double(let value): value.isFinite ? Decimal(text: value.description) : nil
        case .string(let value): Decimal(text: value)
        case .blob, .null: nil
        }
    }

    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        let value = unsafe DatabaseValue(sqliteStatement: sqliteStatement, index: index)
        guard let decimal = Self.fromDatabaseValue(value) else { return nil }
        self = decimal
    }
}

extension Decimal {
    /// Parses a number with an optional sign, fraction, and exponent, independently of the locale.
    ///
    /// Foundation's initializer would also accept a text that merely starts with a number.
    init?(text: String) {
        guard text.isDecimalNumber,
            let value = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")), !value.isNaN
        else { return nil }
        self = value
    }
}

extension String {
    fileprivate var isDecimalNumber: Bool {
        var rest = utf8[...]
        rest.skipSign()
        var count = rest.skipDigits()
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            count += rest.skipDigits()
        }
        guard count > 0 else { return false }
        if let first = rest.first, first == UInt8(ascii: "e") || first == UInt8(ascii: "E") {
            rest.removeFirst()
            rest.skipSign()
            guard rest.skipDigits() > 0 else { return false }
        }
        return rest.isEmpty
    }
}

extension Substring.UTF8View {
    fileprivate mutating func skipSign() {
        if first == UInt8(ascii: "-") || first == UInt8(ascii: "+") { removeFirst() }
    }

    fileprivate mutating func skipDigits() -> Int {
        let digits = prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }.count
        removeFirst(digits)
        return digits
    }
}
