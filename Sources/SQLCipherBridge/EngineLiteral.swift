internal import CSQLCipher

extension Double {
    /// The finite number as SQLite's `QUOTE` function writes it, but for the sign of zero: with 15 digits, or
    /// 20 where those are another number.
    package var engineLiteral: String { exactShortLiteral ?? Self.format("%!0.20e", self) ?? description }

    /// The finite number with 15 digits in SQLite's format; nil where those are another number. SQLite reads
    /// more digits, such as the 20 of `QUOTE`, as a neighbour of some numbers.
    package var exactShortLiteral: String? {
        // SQLite writes zero without its sign, and reads it with one.
        if self == 0, sign == .minus { return "-0.0" }
        return Self.format("%!0.15g", self).flatMap { Double($0) == self ? $0 : nil }
    }

    /// The number in one of the formats of SQLite's own `printf`; nil when memory ran out.
    private static func format(_ format: String, _ value: Double) -> String? {
        unsafe withVaList([value]) { arguments in
            guard let text = unsafe sqlite3_vmprintf(format, arguments) else { return nil }
            defer { unsafe sqlite3_free(text) }
            return unsafe String(cString: text)
        }
    }
}
