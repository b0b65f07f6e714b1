/// How nouns end in the singular and in the plural.
///
/// The longest ending that a word has decides, and whole words come before endings, so that no order of the
/// declarations has a meaning. Endings are added in lower case; what a word has before them stays as it is.
struct NounEndings: Sendable {
    /// What an ending becomes: so many of its letters go, and these come.
    private struct Change: Sendable {
        var dropped: Int
        var added: String
    }

    /// The changes of one direction.
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

    /// The plural of a noun in either form.
    func plural(of word: String) -> String? { plurals.apply(to: word) }

    /// The singular of a noun in either form.
    func singular(of word: String) -> String? { singulars.apply(to: word) }

    /// Adds nouns with a plural of their own: each stem has the one ending in the singular, and the other one
    /// in the plural.
    mutating func add(_ singular: String, _ plural: String, stems: [String] = [""], areWords: Bool = false) {
        let common = zip(singular, plural).prefix { $0 == $1 }.count
        let toPlural = Change(dropped: singular.count - common, added: String(plural.dropFirst(common)))
        let toSingular = Change(dropped: plural.count - common, added: String(singular.dropFirst(common)))
        for stem in stems {
            plurals.insert(toPlural, for: stem + singular, isWord: areWords)
            // A plural in -s is known as one anyway, and so is a singular in anything else.
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

    /// Adds an ending of plurals, whatever their singular is called elsewhere.
    mutating func addPlural(_ ending: String, becomes singular: String) {
        let common = zip(ending, singular).prefix { $0 == $1 }.count
        singulars.insert(
            Change(dropped: ending.count - common, added: String(singular.dropFirst(common))), for: ending,
            isWord: false)
    }

    /// Adds an ending of singulars, whatever their plural is called elsewhere.
    mutating func addSingular(_ ending: String, becomes plural: String) {
        plurals.insert(Change(dropped: ending.count, added: plural), for: ending, isWord: false)
    }
}
