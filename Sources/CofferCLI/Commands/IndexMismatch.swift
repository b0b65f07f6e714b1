internal import Coffer

/// Indexes that do not match their tables, as the only findings in a file whose pages are whole.
///
/// Another engine can leave this: the text of a real number has 17 digits since SQLite 3.53, and had 15
/// before, so that an index on an expression or a generated column of such text has other keys. A function or
/// a collation that has changed leaves it too. `REINDEX` makes the keys anew from the rows.
struct IndexMismatch {
    /// The names, in the order of the findings, each once.
    private(set) var indexes: [String] = []

    /// - Returns: nil if there is any other finding.
    init?(_ findings: [DatabaseFile.Verification.Finding]) {
        for finding in findings {
            guard case .structure(let words) = finding, let name = IndexMismatch.index(in: words) else {
                return nil
            }
            if !indexes.contains(name) { indexes.append(name) }
        }
        if indexes.isEmpty { return nil }
    }

    /// The words of SQLite's `pragma.c`.
    private static func index(in words: String) -> String? {
        let middle = " missing from index "
        guard words.hasPrefix("row "), let range = words.firstRange(of: middle) else {
            let beginning = "wrong # of entries in index "
            return words.hasPrefix(beginning) ? String(words.dropFirst(beginning.count)) : nil
        }
        return String(words[range.upperBound...])
    }

    /// What is wrong, and what to do.
    var advice: String {
        let verb = indexes.count == 1 ? "does not match its table" : "do not match their tables"
        return
            "The pages and rows are whole, but \(indexes.joined(separator: ", ")) \(verb). For an "
            + "index on an expression or a generated column, this is what another engine leaves that gives "
            + "real numbers another text (SQLite 3.53 does), and \(statements) mends it. For any other "
            + "index, restore the file from a backup."
    }

    private var statements: String {
        indexes.map { "`REINDEX \($0.quotedDatabaseIdentifier)`" }.joined(separator: ", ")
    }
}
