public import Foundation
internal import Synchronization

/// Rules that convert table names between singular and plural.
///
///     Inflections.default.pluralize("entry")        // "entries"
///     Inflections.default.singularize("indices")    // "index"
///
/// The rules apply to the last word of a name: `lineItem` becomes `lineItems`. Digits at the end are kept:
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

        /// Returns the word with its match replaced, or nil if it does not match.
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

    /// Creates an empty set of rules: each word is its own plural and singular.
    public init() {}

    /// Creates a set of noun endings, which are tried after all rules.
    init(nouns: NounEndings) {
        self.nouns = nouns
    }

    /// The rules that the library uses: English by default. Replace them before the first use of a database.
    public static var `default`: Inflections {
        get { current.withLock { $0.inflections } }
        set { current.withLock { $0 = Current(inflections: newValue) } }
    }

    /// The default rules, with a cache of their results: rules may be slow, and the number of names is small.
    private struct Current {
        let inflections: Inflections
        var singulars: [String: String] = [:]
        var plurals: [String: String] = [:]
    }

    private static let current = Mutex(Current(inflections: .english))

    /// Returns the singular of a name by the default rules.
    static func singular(_ name: String) -> String {
        current.withLock { current in
            if let known = current.singulars[name] { return known }
            let singular = current.inflections.singularize(name)
            current.singulars.keep(singular, for: name)
            return singular
        }
    }

    /// Returns the plural of a name by the default rules.
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
    /// Adds a word, and clears the cache first if it has grown to 1,000 words.
    fileprivate mutating func keep(_ word: String, for name: String) {
        if count >= 1000 { removeAll() }
        self[name] = word
    }
}

// MARK: - Rules

extension Inflections {
    /// Adds a plural rule, which takes precedence over the rules added before it.
    ///
    /// - Precondition: the pattern is a valid regular expression.
    /// - Parameters:
    ///   - pattern: matches the text to replace.
    ///   - template: the replacement; `$1` stands for the first group.
    public mutating func plural(
        _ pattern: String, options: NSRegularExpression.Options = [.caseInsensitive], _ template: String
    ) {
        plurals.append(Rule(pattern, options, template))
    }

    /// Adds a singular rule: see ``plural(_:options:_:)``.
    public mutating func singular(
        _ pattern: String, options: NSRegularExpression.Options = [.caseInsensitive], _ template: String
    ) {
        singulars.append(Rule(pattern, options, template))
    }

    /// Adds words without a plural, which also apply as the last word of a name such as `newInformation`.
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
    /// Returns the plural of a name, which may already be in the plural.
    public func pluralize(_ string: String) -> String {
        inflect(string, rules: plurals, ending: { nouns?.plural(of: $0) }) { irregular in
            (irregular.plural, [irregular.plural, irregular.singular])
        }
    }

    /// Returns the singular of a name, which may already be in the singular.
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
        // Rules match whole words, so only the last word of the name is passed to them.
        let start = word.startOfLastWord
        let lastWord = String(word[start...])
        for rule in rules.reversed() {
            if let result = rule.apply(to: lastWord) { return word[..<start] + result + number }
        }
        return ending(lastWord).map { word[..<start] + $0 + number } ?? string
    }

    /// Returns true if the word, or its last camelCase part, has no plural.
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
    /// The index at which the last word of a name starts: at a camelCase boundary or after a non-letter.
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
