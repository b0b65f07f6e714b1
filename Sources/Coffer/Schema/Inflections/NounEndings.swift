/// The singular and plural endings of nouns.
///
/// Whole words take precedence over endings, and the longest matching ending wins, so the order of the
/// declarations does not matter. Endings are added in lower case; the letters before them are unchanged.
struct NounEndings: Sendable {
    /// The replacement of an ending: the number of letters to drop, and the letters to add.
    private struct Change: Sendable {
        var dropped: Int
        var added: String
    }

    /// The changes in one direction.
    private struct Table: Sendable {
        var words: [String: Change] = [:]
        var endings: [String: Change] = [:]
        var longest = 0

        mutating func insert(_ change: Change, for ending: String, isWord: Bool) {
            guard !isWord else { return words[ending] = change }
            endings[ending] = change
            longest = max(longest, ending.count)
        }

        func apply(to word: String) -> String? {
            let folded = word.lowercased()
            var change = words[folded]
            var length = min(longest, folded.count)
            while change == nil, length >= 0 {
                change = endings[String(folded.suffix(length))]
                length -= 1
            }
            return change.map { word.dropLast($0.dropped) + $0.added }
        }
    }

    private var plurals = Table()
    private var singulars = Table()

    /// Returns the plural of a noun that is in either form.
    func plural(of word: String) -> String? { plurals.apply(to: word) }

    /// Returns the singular of a noun that is in either form.
    func singular(of word: String) -> String? { singulars.apply(to: word) }

    /// Adds nouns with an irregular plural: each stem takes the first ending in the singular, and the second
    /// one in the plural.
    mutating func add(_ singular: String, _ plural: String, stems: [String] = [""], areWords: Bool = false) {
        let common = zip(singular, plural).prefix { $0 == $1 }.count
        let toPlural = Change(dropped: singular.count - common, added: String(plural.dropFirst(common)))
        let toSingular = Change(dropped: plural.count - common, added: String(singular.dropFirst(common)))
        for stem in stems {
            plurals.insert(toPlural, for: stem + singular, isWord: areWords)
            // Plurals in -s and singulars without -s are recognized without an extra rule.
            let added = String(plural.dropFirst(common))
            if !plural.hasSuffix("s") {
                plurals.insert(
                    Change(dropped: added.count, added: added), for: stem + plural, isWord: areWords)
            }
            singulars.insert(toSingular, for: stem + plural, isWord: areWords)
            if (stem + singular).hasSuffix("s") {
                singulars.insert(Change(dropped: 0, added: ""), for: stem + singular, isWord: areWords)
            }
        }
    }

    /// Adds a plural ending, without a rule for the opposite direction.
    mutating func addPlural(_ ending: String, becomes singular: String) {
        let common = zip(ending, singular).prefix { $0 == $1 }.count
        singulars.insert(
            Change(dropped: ending.count - common, added: String(singular.dropFirst(common))), for: ending,
            isWord: false)
    }

    /// Adds a singular ending, without a rule for the opposite direction.
    mutating func addSingular(_ ending: String, becomes plural: String) {
        plurals.insert(Change(dropped: ending.count, added: plural), for: ending, isWord: false)
    }
}
