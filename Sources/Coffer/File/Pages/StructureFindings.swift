/// What the engine's check of the structure finds, in its words.
struct StructureFindings: Sendable {
    /// B-trees and indexes that are broken.
    var damage: [String] = []

    /// Rows and full-text indexes that break a rule of their schema, in b-trees that are whole. A program
    /// wrote them so: before the schema was edited by hand, or without the calls that keep an external
    /// content table and its index alike.
    var content: [String] = []

    /// - Parameter answer: the rows of the pragma.
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

    /// Whether the module of a full-text table had nothing to compare its index with: a contentless FTS4
    /// table has no content, and an external one may be gone.
    private static func isNoComparison(_ words: String) -> Bool {
        words.hasPrefix("unable to validate the inverted index for FTS")
            && words.hasSuffix(": SQL logic error")
    }

    /// The words of SQLite's `pragma.c` and of its full-text modules.
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
