/// A text of the engine, such as a name, compared by bytes. Strings compare by canonical equivalence, but
/// SQLite distinguishes a precomposed accented letter from a letter followed by a combining accent.
package struct ExactText: Hashable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    /// The name of SQLite's table of the highest row IDs.
    static let sequences = ExactText("sqlite_sequence")

    package static func == (lhs: ExactText, rhs: ExactText) -> Bool { lhs.text.hasSameBytes(as: rhs.text) }

    package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension ExactText: Comparable {
    package static func < (lhs: ExactText, rhs: ExactText) -> Bool {
        lhs.text.utf8.lexicographicallyPrecedes(rhs.text.utf8)
    }
}
