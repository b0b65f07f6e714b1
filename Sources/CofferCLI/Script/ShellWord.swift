/// Commands of shells, which people type where a statement is asked for.
enum ShellWord {
    /// What to say of a text that begins with such a command; nil for a statement.
    static func advice(on text: String) -> String? {
        let words = text.drop(while: \.isWhitespace)
        guard words.first == "." else { return nil }
        // Letters only: what follows may be anything.
        let name = "." + words.dropFirst().prefix { $0.isASCII && $0.isLetter }
        return "'\(name)' is a command of a shell, and no SQL. \(place(of: name))"
    }

    private static func place(of name: String) -> String {
        switch name {
        case ".schema", ".fullschema", ".tables", ".indexes", ".indices":
            "Use 'coffer schema', or 'coffer shell', which has it."
        case ".dump": "Use 'coffer dump', or 'coffer shell', which has it."
        case ".import": "Use 'coffer import', or 'coffer shell', which has it."
        case ".backup", ".save", ".clone": "Use 'coffer backup'."
        case ".restore", ".recover": "Use 'coffer \(name.dropFirst())'."
        case ".read": "Use --file, or 'coffer shell', which has it."
        case ".mode", ".headers": "Use --format, or 'coffer shell', which has it."
        default: "'coffer shell' has commands; its .help lists them."
        }
    }
}
