/// A tokenizer of ``FTS5`` tables, which splits texts into words.
///
/// The static functions return SQLite's tokenizers. A tokenizer written in Swift has
/// ``FTS5CustomTokenizer/tokenizerDescriptor(arguments:)``.
public struct FTS5TokenizerDescriptor: Sendable {
    /// The name of the tokenizer, and its arguments.
    public let components: [String]

    /// Creates a descriptor.
    ///
    ///     FTS5TokenizerDescriptor(components: ["porter", "unicode61", "remove_diacritics", "0"])
    ///
    /// - Precondition: the first component is the name of a tokenizer.
    public init(components: [String]) {
        precondition(!components.isEmpty, "A tokenizer needs a name.")
        self.components = components
    }

    /// Words of ASCII letters, digits, and all non-ASCII characters. Only ASCII letters match in either case.
    ///
    /// - Parameters:
    ///   - separators: additional ASCII characters that separate words.
    ///   - tokenCharacters: additional ASCII characters that are part of words.
    public static func ascii(separators: Set<Character> = [], tokenCharacters: Set<Character> = [])
        -> FTS5TokenizerDescriptor
    {
        FTS5TokenizerDescriptor(
            components: ["ascii"] + components(separators: separators, tokenCharacters: tokenCharacters))
    }

    /// The words of another tokenizer, reduced to their English stem: a search for "gardens" finds
    /// "gardening".
    ///
    /// - Parameter base: the tokenizer that finds the words; nil for `unicode61`.
    public static func porter(wrapping base: FTS5TokenizerDescriptor? = nil) -> FTS5TokenizerDescriptor {
        FTS5TokenizerDescriptor(components: ["porter"] + (base?.components ?? []))
    }

    /// Words of letters and digits as defined by Unicode 6.1. Letters match in either case.
    ///
    /// - Parameters:
    ///   - diacritics: the treatment of diacritics.
    ///   - categories: the Unicode categories of characters that are part of words, such as `L* N* Co`; empty
    ///     for SQLite's default.
    ///   - separators: additional characters that separate words.
    ///   - tokenCharacters: additional characters that are part of words.
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

    /// The tokenizer in the form of a module argument: an SQL string of quoted components.
    var moduleArgument: String {
        "tokenize=" + components.map(\.sqlLiteral).joined(separator: " ").sqlLiteral
    }
}
