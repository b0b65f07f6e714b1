internal import CSQLCipher

extension Double {
    /// The finite number as SQLite's `QUOTE` function writes it, except for the sign of zero.
    ///
    /// SQLite 3.53 writes up to 17 digits. Older versions write 15 digits, or 20 if 15 digits
    /// denote another number.
    package var engineLiteral: String {
        if Engine.sqliteVersionNumber >= 3_053_000, self != 0 {
            return Self.format("%!0.17g", self) ?? description
        }
        return exactShortLiteral ?? Self.format("%!0.20e", self) ?? description
    }

    /// The finite number with 15 digits in SQLite's format; nil if they denote another number. For some
    /// numbers, SQLite reads a longer text, such as the 20 digits of `QUOTE`, as a neighboring number.
    package var exactShortLiteral: String? {
        // SQLite writes zero without a sign, but reads the sign.
        if self == 0, sign == .minus { return "-0.0" }
        return Self.format("%!0.15g", self).flatMap { Double($0) == self ? $0 : nil }
    }

    /// Returns the number in one of the formats of SQLite's own `printf`, or nil if memory runs out.
    private static func format(_ format: String, _ value: Double) -> String? {
        unsafe withVaList([value]) { arguments in
            guard let text = unsafe sqlite3_vmprintf(format, arguments) else { return nil }
            defer { unsafe sqlite3_free(text) }
            return unsafe String(cString: text)
        }
    }
}
