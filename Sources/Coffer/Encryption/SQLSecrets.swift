/// Detects and removes secrets in SQL text, for the other products of this package.
package enum SQLSecrets {
    /// Returns true if a statement sets or changes a key in its text, as `PRAGMA rekey` and `ATTACH ... KEY`
    /// do.
    package static func containsKey(_ sql: String) -> Bool { KeyRedaction.containsKey(sql) }

    /// Returns the SQL on one line, with a question mark for each literal, and without comments.
    package static func withoutLiterals(_ sql: String) -> String {
        let bytes = Array(sql.utf8)
        var scanner = SQLScanner(bytes)
        var result: [UInt8] = []
        var end = 0
        while let token = scanner.next() {
            let start = token.range.lowerBound
            let isApart = start > end
            if isApart, !result.isEmpty { result.append(UInt8(ascii: " ")) }
            // The number of a parameter such as ?1 follows directly.
            let isParameter = !isApart && start > 0 && "?:@".utf8.contains(bytes[start - 1])
            let isNumber = bytes[start].isASCIIDigit && !isParameter
            let isLiteral = isNumber || bytes[start] == UInt8(ascii: "'")
            result += isLiteral ? [UInt8(ascii: "?")] : Array(bytes[token.range])
            end = token.range.upperBound
        }
        return String(decoding: result, as: UTF8.self)
    }
}
