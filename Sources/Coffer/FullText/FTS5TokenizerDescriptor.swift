/// A tokenizer of ``FTS5`` tables: how texts are cut into words.
///
/// Those of SQLite are made by the static functions. A tokenizer that is written in Swift has
/// ``FTS5CustomTokenizer/tokenizerDescriptor(arguments:)``.
public struct FTS5TokenizerDescriptor: Sendable {
    /// The name of the tokenizer, and its arguments.
    public let components: [String]

    /// Creates a descriptor.
    ///
    ///     FTS5TokenizerDescriptor(components: ["porter", "unicode61", "remove_diacritics", "0"])
    ///
    /// - Parameter components: the name of the tokenizer, and its arguments.
    /// - Precondition: there is a name.
    public init(components: [String]) {
        precondition(!components.isEmpty, "A tokenizer has a name.")
        self.components = components
    }

    /// Words of ASCII letters, digits and of whatever is not ASCII. Only ASCII letters are found in either
    /// case.
    ///
    /// - Parameters:
    ///   - separators: ASCII characters that end a word, besides those that do so anyway.
    ///   - tokenCharacters: ASCII characters that belong to words, besides those that do so anyway.
    public static func ascii(separators: Set<Character> = [], tokenCharacters: Set<Character> = [])
        -> FTS5TokenizerDescriptor
    {
        FTS5TokenizerDescriptor(
            components: ["ascii"] + components(separators: separators, tokenCharacters: tokenCharacters))
    }

    /// The words of another tokenizer, reduced to their English stem: "gardening" is found by "gardens".
    ///
    /// - Parameter base: the tokenizer that finds the words; nil for `unicode61`.
    public static func porter(wrapping base: FTS5TokenizerDescriptor? = nil) -> FTS5TokenizerDescriptor {
        FTS5TokenizerDescriptor(components: ["porter"] + (base?.components ?? []))
    }

    /// Words as Unicode 6.1 knows letters and digits, found in either case.
    ///
    /// - Parameters:
    ///   - diacritics: what becomes of the diacritics of letters.
    ///   - categories: the Unicode categories of characters that belong to words, such as `L* N* Co`; empty
    ///     for SQLite's default.
    ///   - separators: characters that end a word, besides those that do so anyway.
    ///   - tokenCharacters: characters that belong to words, besides those that do so anyway.
    public static func unicode61(
        diacritics: FTS5.Diacritics = .removeLegacy, categories: String = "", separators: Set<Character> = [],
        tokenCharacters: Set<Character> = []
    ) -> FTS5TokenizerDescriptor {
        var components = ["unicode61"]
        switch diacritics {
        case .removeLegacy: break
        case .keep: components += ["remove_diacritics", "0"]
        case .remove: components += ["remove_diacritics", "2"]
        }
        if !categories.isEmpty { components += ["categories", categories] }
        return FTS5TokenizerDescriptor(
            components: components + self.components(separators: separators, tokenCharacters: tokenCharacters)
        )
    }

    private static func components(separators: Set<Character>, tokenCharacters: Set<Character>) -> [String] {
        var components: [String] = []
        if !separators.isEmpty { components += ["separators", String(separators.sorted())] }
        if !tokenCharacters.isEmpty { components += ["tokenchars", String(tokenCharacters.sorted())] }
        return components
    }

    /// The tokenizer among the arguments of a module: a text of quoted texts.
    var moduleArgument: String {
        "tokenize=" + components.map(\.sqlLiteral).joined(separator: " ").sqlLiteral
    }
}
