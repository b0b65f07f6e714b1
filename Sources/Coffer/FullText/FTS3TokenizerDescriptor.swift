/// A tokenizer of ``FTS3`` and ``FTS4`` tables: how texts are cut into words.
public struct FTS3TokenizerDescriptor: Sendable {
    let name: String
    let arguments: [String]

    init(_ name: String, arguments: [String] = []) {
        self.name = name
        self.arguments = arguments
    }

    /// Words of ASCII letters, digits and of whatever is not ASCII. Only ASCII letters are found in either
    /// case.
    public static let simple = FTS3TokenizerDescriptor("simple")

    /// The same words, reduced to their English stem: "gardening" is found by "gardens".
    public static let porter = FTS3TokenizerDescriptor("porter")

    /// Words as Unicode 6.1 knows letters and digits, found in either case.
    ///
    /// - Parameters:
    ///   - diacritics: what becomes of the diacritics of letters.
    ///   - separators: characters that end a word, besides those that do so anyway.
    ///   - tokenCharacters: characters that belong to words, besides those that do so anyway.
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

    /// The tokenizer among the arguments of a module.
    var moduleArgument: String {
        "tokenize=" + ([name] + arguments.map(\.quotedDatabaseIdentifier)).joined(separator: " ")
    }
}
