/// Shell commands that people type in place of a statement.
enum ShellWord {
    /// Returns the error message for a text that begins with a shell command, or nil for a statement.
    static func advice(on text: String) -> String? {
        let words = text.drop(while: \.isWhitespace)
        guard words.first == "." else { return nil }
        // Letters only: arbitrary text may follow.
        let name = "." + words.dropFirst().prefix { $0.isASCII && $0.isLetter }
        return "'\(name)' is a shell command, not SQL. \(place(of: name))"
    }

    private static func place(of name: String) -> String {
        switch name {
        case ".tables": "Use 'coffer schema --tables' or 'coffer shell'."
        case ".schema", ".fullschema", ".indexes", ".indices":
            "Use 'coffer schema' or 'coffer shell'."
        case ".dump": "Use 'coffer dump' or 'coffer shell'."
        case ".import": "Use 'coffer import' or 'coffer shell'."
        case ".backup", ".save", ".clone": "Use 'coffer backup'."
        case ".restore", ".recover": "Use 'coffer \(name.dropFirst())'."
        case ".read": "Use --from or 'coffer shell'."
        case ".mode", ".headers": "Use --format or 'coffer shell'."
        default: "'coffer shell' has commands; its .help lists them."
        }
    }
}
