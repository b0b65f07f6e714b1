/// The findings of the engine's structure check, in its words.
struct StructureFindings: Sendable {
    /// Broken b-trees and indexes.
    var damage: [String] = []

    /// Rows and full-text indexes that violate their schema, in b-trees that are whole. A program wrote them
    /// this way: before the schema was edited by hand, or without the calls that keep an index consistent
    /// with its external content table.
    var content: [String] = []

    /// - Parameter answer: the result rows of the pragma.
    init(answer: [String]) {
        guard answer != ["ok"] else { return }
        guard !answer.isEmpty else {
            damage = ["no answer"]
            return
        }
        for words in answer where !StructureFindings.isNoComparison(words) {
            if StructureFindings.isOfContent(words) { content.append(words) } else { damage.append(words) }
        }
    }

    init(damage: [String] = [], content: [String] = []) {
        (self.damage, self.content) = (damage, content)
    }

    /// Returns true if the module of a full-text table had nothing to compare its index with: a contentless
    /// FTS4 table has no content, and an external content table may be gone.
    static func isNoComparison(_ words: String) -> Bool {
        words.hasPrefix("unable to validate the inverted index for FTS")
            && words.hasSuffix(": SQL logic error")
    }

    /// The prefixes come from SQLite's `pragma.c` and from its full-text modules.
    private static func isOfContent(_ words: String) -> Bool {
        let beginnings = [
            "NULL value in ", "CHECK constraint failed in ", "NUMERIC value in ", "TEXT value in ",
            "non-INT value in ", "non-INTEGER value in ", "non-REAL value in ", "non-TEXT value in ",
            "non-BLOB value in ", "malformed inverted index for FTS",
            "unable to validate the inverted index for FTS",
        ]
        return beginnings.contains { words.hasPrefix($0) }
    }
}
