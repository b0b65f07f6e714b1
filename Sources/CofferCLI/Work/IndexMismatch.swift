internal import Coffer

/// Indexes that do not match their tables, in a file that has no other findings and whose pages are intact.
///
/// Another engine can cause this: SQLite 3.53 and later print real numbers with 17 digits, earlier versions
/// with 15, so an index on an expression or a generated column with such text has different keys. A changed
/// function or collation has the same effect. `REINDEX` rebuilds the keys from the rows.
struct IndexMismatch {
    /// The names, each once, in the order of the findings.
    private(set) var indexes: [String] = []

    /// Returns nil if there is any other finding.
    init?(_ findings: [DatabaseFile.Verification.Finding]) {
        for finding in findings {
            guard case .structure(let words) = finding, let name = IndexMismatch.index(in: words) else {
                return nil
            }
            if !indexes.contains(name) { indexes.append(name) }
        }
        if indexes.isEmpty { return nil }
    }

    /// Parses the messages of SQLite's `pragma.c`.
    private static func index(in words: String) -> String? {
        let middle = " missing from index "
        guard words.hasPrefix("row "), let range = words.firstRange(of: middle) else {
            let beginning = "wrong # of entries in index "
            return words.hasPrefix(beginning) ? String(words.dropFirst(beginning.count)) : nil
        }
        return String(words[range.upperBound...])
    }

    /// The problem, and what to do about it.
    var advice: String {
        let verb = indexes.count == 1 ? "does not match its table" : "do not match their tables"
        return
            "The pages and rows are intact, but \(indexes.joined(separator: ", ")) \(verb). For an "
            + "index on an expression or a generated column, the cause is an engine that writes real "
            + "numbers as another text (such as SQLite 3.53), and \(statements) fixes it. For any other "
            + "index, restore the file from a backup."
    }

    private var statements: String {
        indexes.map { "`REINDEX \($0.quotedDatabaseIdentifier)`" }.joined(separator: ", ")
    }
}
