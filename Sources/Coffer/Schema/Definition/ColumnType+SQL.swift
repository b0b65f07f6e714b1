extension Database.ColumnType {
    /// The type as SQL: unchanged if it has SQLite's syntax for types (words, and one or two numbers in
    /// parentheses), and otherwise quoted as one name.
    var sql: String { isPlain ? rawValue : rawValue.quotedDatabaseIdentifier }

    private var isPlain: Bool {
        var words = rawValue[...]
        if words.hasSuffix(")"), let open = words.firstIndex(of: "(") {
            let numbers = words[words.index(after: open)...].dropLast().split(
                separator: ",", omittingEmptySubsequences: false)
            guard (1...2).contains(numbers.count), numbers.allSatisfy(\.isSQLNumber) else { return false }
            words = words[..<open]
        }
        let parts = words.split(separator: " ")
        return !parts.isEmpty
            && parts.allSatisfy { $0.utf8.allSatisfy(\.isASCIIWord) && $0.utf8.first?.isASCIIDigit == false }
    }
}

extension Substring {
    fileprivate var isSQLNumber: Bool {
        var digits = self.drop { $0 == " " }
        while digits.last == " " { digits.removeLast() }
        if let sign = digits.first, sign == "-" || sign == "+" { digits.removeFirst() }
        return !digits.isEmpty && digits.utf8.allSatisfy(\.isASCIIDigit)
    }
}
