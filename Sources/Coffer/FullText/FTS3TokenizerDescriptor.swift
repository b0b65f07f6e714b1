/// A tokenizer of ``FTS3`` and ``FTS4`` tables, which splits texts into words.
public struct FTS3TokenizerDescriptor: Sendable {
    let name: String
    let arguments: [String]

    init(_ name: String, arguments: [String] = []) {
        self.name = name
        self.arguments = arguments
    }

    /// Words of ASCII letters, digits, and all non-ASCII characters. Only ASCII letters match in either case.
    public static let simple = FTS3TokenizerDescriptor("simple")

    /// The same words, reduced to their English stem: a search for "gardens" finds "gardening".
    public static let porter = FTS3TokenizerDescriptor("porter")

    /// Words of letters and digits as defined by Unicode 6.1. Letters match in either case.
    ///
    /// - Parameters:
    ///   - diacritics: the treatment of diacritics.
    ///   - separators: additional characters that separate words.
    ///   - tokenCharacters: additional characters that are part of words.
    public static func unicode61(
        diacritics: FTS3.Diacritics = .removeLegacy, separators: Set<Character> = [],
        tokenCharacters: Set<Character> = []
    ) -> FTS3TokenizerDescriptor {
        var arguments: [String] = []
        switch diacritics {
        case .removeLegacy: break
        case .keep: arguments.append("remove_diacritics=0")
        case .remove: arguments.append("remove_diacritics=2")
        }
        if !separators.isEmpty { arguments.append("separators=\(String(separators.sorted()))") }
        if !tokenCharacters.isEmpty { arguments.append("tokenchars=\(String(tokenCharacters.sorted()))") }
        return FTS3TokenizerDescriptor("unicode61", arguments: arguments)
    }

    /// The tokenizer in the form of a module argument.
    var moduleArgument: String {
        "tokenize=" + ([name] + arguments.map(\.quotedDatabaseIdentifier)).joined(separator: " ")
    }
}
