public import Foundation
internal import Synchronization

/// The rules by which names of tables are brought into the singular and the plural.
///
///     Inflections.default.pluralize("entry")        // "entries"
///     Inflections.default.singularize("indices")    // "index"
///
/// The last word of a name counts: `lineItem` becomes `lineItems`. Digits at the end stay where they are:
/// `item1` becomes `items1`.
public struct Inflections: Sendable {
    /// A replacement for words that match a regular expression.
    private struct Rule: Sendable {
        let expression: NSRegularExpression
        let template: String

        init(_ pattern: String, _ options: NSRegularExpression.Options, _ template: String) {
            guard let expression = try? NSRegularExpression(pattern: pattern, options: options) else {
                preconditionFailure("Not a regular expression: \(pattern)")
            }
            self.expression = expression
            self.template = template
        }

        /// The word with its match replaced, or nil if it does not match.
        func apply(to word: String) -> String? {
            let range = NSRange(word.startIndex..., in: word)
            guard let match = expression.firstMatch(in: word, range: range),
                let matched = Range(match.range, in: word)
            else { return nil }
            return word.replacingCharacters(
                in: matched,
                with: expression.replacementString(for: match, in: word, offset: 0, template: template))
        }
    }

    private struct Irregular: Sendable {
        let singular: String
        let plural: String
    }

    private var plurals: [Rule] = []
    private var singulars: [Rule] = []
    private var irregulars: [Irregular] = []
    private var uncountables: Set<String> = []
    private var nouns: NounEndings?

    /// No rules at all: each word is its own plural and singular.
    public init() {}

    /// Endings of nouns, which come behind all rules.
    init(nouns: NounEndings) {
        self.nouns = nouns
    }

    /// The rules that the library uses: those of English, unless they are replaced. Replace them before the
    /// first use of a database.
    public static var `default`: Inflections {
        get { current.withLock { $0.inflections } }
        set { current.withLock { $0 = Current(inflections: newValue) } }
    }

    /// The default rules, and what they made of the names that were asked for: rules may be slow, and
    /// requests ask for few names.
    private struct Current {
        let inflections: Inflections
        var singulars: [String: String] = [:]
        var plurals: [String: String] = [:]
    }

    private static let current = Mutex(Current(inflections: .english))

    /// The singular of a name by the default rules.
    static func singular(_ name: String) -> String {
        current.withLock { current in
            if let known = current.singulars[name] { return known }
            let singular = current.inflections.singularize(name)
            current.singulars.keep(singular, for: name)
            return singular
        }
    }

    /// The plural of a name by the default rules.
    static func plural(_ name: String) -> String {
        current.withLock { current in
            if let known = current.plurals[name] { return known }
            let plural = current.inflections.pluralize(name)
            current.plurals.keep(plural, for: name)
            return plural
        }
    }
}

extension [String: String] {
    /// Adds a word, after the others were forgotten if there are very many.
    fileprivate mutating func keep(_ word: String, for name: String) {
        if count >= 1000 { removeAll() }
        self[name] = word
    }
}

// MARK: - Rules

extension Inflections {
    /// Adds a rule for the plural, which is tried before those that were added earlier.
    ///
    /// - Precondition: the pattern is a regular expression.
    /// - Parameters:
    ///   - pattern: matches what is replaced.
    ///   - options: the options of the regular expression.
    ///   - template: replaces it; `$1` stands for the first group.
    public mutating func plural(
        _ pattern: String, options: NSRegularExpression.Options = [.caseInsensitive], _ template: String
    ) {
        plurals.append(Rule(pattern, options, template))
    }

    /// Adds a rule for the singular: see ``plural(_:options:_:)``.
    public mutating func singular(
        _ pattern: String, options: NSRegularExpression.Options = [.caseInsensitive], _ template: String
    ) {
        singulars.append(Rule(pattern, options, template))
    }

    /// Adds words that have no plural, also as the last word of a name such as `newInformation`.
    public mutating func uncountableWords(_ words: [String]) {
        uncountables.formUnion(words.map { $0.lowercased() })
    }

    /// Adds an ending with an irregular plural: with `person` and `people`, `salesperson` becomes
    /// `salespeople`.
    public mutating func irregularSuffix(_ singular: String, _ plural: String) {
        irregulars.append(Irregular(singular: singular, plural: plural))
    }
}

// MARK: - Words

extension Inflections {
    /// The plural of a name, which may be in the plural already.
    public func pluralize(_ string: String) -> String {
        inflect(string, rules: plurals, ending: { nouns?.plural(of: $0) }) { irregular in
            (irregular.plural, [irregular.plural, irregular.singular])
        }
    }

    /// The singular of a name, which may be in the singular already.
    public func singularize(_ string: String) -> String {
        inflect(string, rules: singulars, ending: { nouns?.singular(of: $0) }) { irregular in
            (irregular.singular, [irregular.singular, irregular.plural])
        }
    }

    private func inflect(
        _ string: String, rules: [Rule], ending: (String) -> String?,
        forms: (Irregular) -> (target: String, all: [String])
    ) -> String {
        let digits = string.reversed().prefix { $0.isASCII && $0.isNumber }.count
        let word = String(string.dropLast(digits))
        let number = string.suffix(digits)
        // Names that do not end with a letter, such as `player_`, have no plural.
        guard let last = word.last, last.isLetter, !isUncountable(word) else { return string }
        for irregular in irregulars.reversed() {
            let (target, all) = forms(irregular)
            for form in all where word.lowercased().hasSuffix(form.lowercased()) {
                return word.dropLast(form.count) + target.withCaseOfFirstLetter(of: word.suffix(form.count))
                    + number
            }
        }
        // Rules are about words, and the last word of a name is the one that has a plural.
        let start = word.startOfLastWord
        let lastWord = String(word[start...])
        for rule in rules.reversed() {
            if let result = rule.apply(to: lastWord) { return word[..<start] + result + number }
        }
        return ending(lastWord).map { word[..<start] + $0 + number } ?? string
    }

    /// Whether the word, or its last part in the sense of camelCase, has no plural.
    private func isUncountable(_ word: String) -> Bool {
        if uncountables.contains(word.lowercased()) { return true }
        return word.indices.dropFirst().contains { index in
            let before = word[word.index(before: index)]
            let startsWord = (word[index].isUppercase && !before.isUppercase) || !before.isLetter
            return startsWord && uncountables.contains(word[index...].lowercased())
        }
    }
}

extension String {
    /// Where the last word of a name begins, in the sense of camelCase or behind what is no letter.
    fileprivate var startOfLastWord: Index {
        indices.dropFirst().last { index in
            let before = self[self.index(before: index)]
            return self[index].isLetter
                && ((self[index].isUppercase && !before.isUppercase) || !before.isLetter)
        } ?? startIndex
    }

    fileprivate func withCaseOfFirstLetter(of other: Substring) -> String {
        guard let letter = other.first else { return self }
        return (letter.isUppercase ? prefix(1).uppercased() : prefix(1).lowercased()) + dropFirst()
    }
}
