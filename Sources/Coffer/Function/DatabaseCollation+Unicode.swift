internal import Foundation

extension DatabaseCollation {
    /// The order of Swift's `<` and `==`, in SQL `swiftCompare`. It is the same in every locale, but does not
    /// follow the rules of any language.
    public static let unicodeCompare = DatabaseCollation("swiftCompare") { left, right in
        left < right ? .orderedAscending : left == right ? .orderedSame : .orderedDescending
    }

    /// Foundation's `caseInsensitiveCompare(_:)`, in SQL `swiftCaseInsensitiveCompare`.
    public static let caseInsensitiveCompare = DatabaseCollation("swiftCaseInsensitiveCompare") {
        left, right in
        left.caseInsensitiveCompare(right)
    }

    /// Foundation's `localizedCaseInsensitiveCompare(_:)`, in SQL `swiftLocalizedCaseInsensitiveCompare`. It
    /// depends on the current locale.
    public static let localizedCaseInsensitiveCompare = DatabaseCollation(
        "swiftLocalizedCaseInsensitiveCompare"
    ) { left, right in
        left.localizedCaseInsensitiveCompare(right)
    }

    /// Foundation's `localizedCompare(_:)`, in SQL `swiftLocalizedCompare`. It depends on the current locale.
    public static let localizedCompare = DatabaseCollation("swiftLocalizedCompare") { left, right in
        left.localizedCompare(right)
    }

    /// Foundation's `localizedStandardCompare(_:)`, in SQL `swiftLocalizedStandardCompare`. It depends on the
    /// current locale, and sorts numbers within text by value.
    public static let localizedStandardCompare = DatabaseCollation("swiftLocalizedStandardCompare") {
        left, right in
        left.localizedStandardCompare(right)
    }

    /// The collations that are available on every connection.
    static let standardCollations = [
        unicodeCompare, caseInsensitiveCompare, localizedCaseInsensitiveCompare, localizedCompare,
        localizedStandardCompare,
    ]
}
