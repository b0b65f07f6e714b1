internal import Foundation

/// Shell commands that people type in place of a statement.
enum ShellWord {
    /// Returns true if a text is one command of the shell that only shows names or statements of the schema.
    static func showsSchema(_ text: String) -> Bool {
        let words = text.trimmingCharacters(in: .whitespacesAndNewlines)
        let name = words.prefix { !$0.isWhitespace && $0 != ";" }
        return [".tables", ".schema", ".indexes"].contains(name) && !words.contains(where: \.isNewline)
    }

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
