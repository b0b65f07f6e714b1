/// Detects mistakes for which the parser's message would not help, or would show a secret.
enum ArgumentMistake {
    // MARK: Keys

    private static let keyOptions = [
        "--key", "--new-key", "--previous-key", "--unlock", "--audit-key", "--site-secret",
    ]
    private static let passphraseOptions = [
        "--passphrase", "--password", "--new-passphrase", "--new-password",
    ]

    /// Returns an error message and the other arguments if the arguments contain a key, or nil if they do
    /// not.
    ///
    /// - Parameter command: the words of the command, and perhaps its first arguments.
    static func key(in arguments: [String], of command: [String]) -> (message: String, rest: [String])? {
        var (rest, found) = ([String](), (option: String, value: String)?.none)
        var isKey = false
        func after(_ index: Int) -> Substring {
            arguments.indices.contains(index + 1) ? arguments[index + 1][...] : ""
        }
        for (index, argument) in arguments.enumerated() {
            if argument == "--" {
                rest += arguments[index...]
                break
            }
            let name = argument.prefix { $0 != "=" }
            if let option = (keyOptions + passphraseOptions).first(where: { $0 == name }) {
                if option == "--unlock", name.count == argument.count, isPrompt(at: index, arguments) {
                    rest.append(argument)
                    continue
                }
                let value = name.count == argument.count ? after(index) : argument.dropFirst(name.count + 1)
                if keyOptions.contains(option), TypedSource.isSource(String(value)) {
                    rest.append(argument)
                    continue
                }
                found = found ?? (option, String(value))
                isKey = name.count == argument.count
            } else if !isKey || argument.hasPrefix("--") {
                rest.append(argument)
                isKey = false
            } else {
                isKey = false
            }
        }
        return found.map { (words(for: $0.option, value: $0.value, in: arguments, of: command), rest) }
    }

    /// Returns true if `--unlock` stands for a prompt: no argument follows, or an option, a file or a
    /// statement. Any other word that is not a source may be a passphrase, and must not become a file's name.
    static func isPrompt(at index: Int, _ arguments: [String]) -> Bool {
        guard arguments.indices.contains(index + 1) else { return true }
        let next = arguments[index + 1]
        if TypedSource.isSource(next) { return false }
        let isInQuery = queryStart(arguments).map { $0 <= index } ?? false
        return next.hasPrefix("-") || NewFile.exists(next)
            || isInQuery && statementWords.contains(next.prefix(while: \.isLetter).uppercased())
    }

    /// The words that statements begin with.
    private static let statementWords: Set<String> = [
        "ALTER", "ANALYZE", "ATTACH", "BEGIN", "COMMIT", "CREATE", "DELETE", "DETACH", "DROP", "END",
        "EXPLAIN",
        "INSERT", "PRAGMA", "REINDEX", "RELEASE", "REPLACE", "ROLLBACK", "SAVEPOINT", "SELECT", "UPDATE",
        "VACUUM", "VALUES", "WITH",
    ]

    /// Returns the error message if the parser's message shows the argument after `--unlock`, which may be a
    /// secret.
    static func unlockSecret(in arguments: [String], _ message: String) -> String? {
        let options = arguments.prefix { $0 != "--" }
        let isShown = zip(options, options.dropFirst()).contains { option, value in
            option == "--unlock" && !value.hasPrefix("-") && message.contains("'\(value)'")
        }
        return isShown ? words(for: "--unlock") : nil
    }

    /// Returns the error message if the parser's message shows an argument that a command about keys does not
    /// expect, such as a recovery key after `--recovery`.
    static func unexpected(_ message: String, of command: [String]) -> String? {
        guard command.first == "key", command.count > 1, message.contains("nexpected argument") else {
            return nil
        }
        return
            "An argument is not expected here. It is not shown, because it may be a secret: secrets come "
            + "from a source, such as --unlock file:PATH. See 'coffer help keys'."
    }

    /// Returns the error message for an option with a value that is not a source.
    static func words(
        for option: String, value: String = "", in arguments: [String] = [], of command: [String] = []
    ) -> String {
        let isSourceOption = keyOptions.contains(option)
        let name = isSourceOption ? option : sourceOption(for: option, in: arguments, of: command)
        let problem = isSourceOption ? "The value of \(option) is not a source" : "There is no \(option)"
        // The name of a file that exists is not a secret. A file of 512 bytes or more may be a database, and
        // is not proposed as a key.
        let path = value.hasPrefix("file:") ? String(value.dropFirst(5)) : value
        if let size = FileNames.size(path), size < 512 {
            let source = CommandWords.quoted("file:" + path)
            return "\(problem). Did you mean \(name) \(source)? See 'coffer help keys'."
        }
        return """
            \(problem): keys are never arguments, because all users of the machine can read those and shells \
            store them. Give \(name) file:PATH, fd:N, stdin, command:LINE, credential:NAME, env:NAME or ask; \
            see 'coffer help keys'. If that was a key in use, it is now in the history of your shell.
            """
    }

    /// Returns the option of a command for a passphrase.
    private static func sourceOption(for option: String, in arguments: [String], of command: [String])
        -> String
    {
        if option.hasPrefix("--new-") { return "--new-key" }
        guard command.first == "key" else { return "--key" }
        let isOpened = command.dropFirst().first == "init" || arguments.contains { $0.hasPrefix("--unlock") }
        return isOpened ? "--new-key" : "--unlock"
    }

    // MARK: Unknown options

    /// Returns the parser's message about an unknown option or argument, or a missing value, with advice if
    /// there is any.
    static func advised(_ message: String, of command: [String]) -> String {
        let mistake =
            #/(?:Unknown option|Unexpected argument|Missing value for) '(?<word>[^'\n]+)'(?<end>\.?)/#
        guard let match = message.firstMatch(of: mistake),
            let advice = advice(on: String(match.word), command)
        else { return message }
        var message = message
        message.replaceSubrange(match.end.startIndex..<match.end.endIndex, with: ". " + advice)
        return message
    }

    private static func advice(on word: String, _ words: [String]) -> String? {
        switch (words.first, word) {
        case ("backup", "--list <folder>"): "Give the folder of the backups: coffer backup --list FOLDER."
        case ("erase", "--yes"), ("erase", "--force"): "Give --yes-erase and the name of the file."
        case ("import", "--table"): "The table follows the file: coffer import FILE TABLE."
        case ("import", "--header"), ("import", "--headers"):
            "The first line names the columns, unless --no-header is given."
        case ("key", "--key"): "Give the secret that opens the keyring with --unlock."
        case ("key", "--recovery"): "Give a recovery key with --unlock."
        case ("keygen", _) where !word.hasPrefix("-"): "Write the key to a file with --out \(word)."
        case ("restore", "--latest"): "The latest backup in a folder is the one that is restored."
        case ("restore", "--force"), ("restore", "--overwrite"):
            "The database is replaced without such an option."
        case ("verify", "--full"): "Use --structure full."
        default: nil
        }
    }

    /// Returns the lines of the parser's message, without line breaks and other control characters that come
    /// from the arguments it shows.
    static func lines(_ message: String, _ arguments: [String]) -> String {
        var message = message
        for argument in arguments where TextLayout.harmless(argument) != argument {
            for part in [argument[...]] + argument.split(separator: "=", maxSplits: 1) {
                message = message.replacing("'\(part)'", with: "'\(harmless: String(part))'")
            }
        }
        return TextLayout.harmless(message, keepingLines: true)
    }

    // MARK: Statements

    /// Returns the arguments of a query, with a space before each statement that begins with a comment, so
    /// the parser does not mistake it for an option.
    static func shieldingStatements(_ arguments: [String]) -> [String] {
        guard let start = queryStart(arguments) else { return arguments }
        var result = arguments
        for index in start..<arguments.count {
            if arguments[index] == "--" { break }
            // After an option, the argument may be the option's value.
            if isStatement(arguments[index]), !arguments[index - 1].hasPrefix("-") {
                result[index] = " " + arguments[index]
            }
        }
        return result
    }

    /// Returns the error message for a statement that the parser mistook for an option.
    static func statement(in arguments: [String]) -> String? {
        guard let start = queryStart(arguments),
            arguments[start...].prefix(while: { $0 != "--" }).contains(where: isStatement)
        else {
            return nil
        }
        return
            "A statement that begins with a comment goes right after the file, or last, after a lone '--': "
            + "coffer query app.db -- '-- all'"
    }

    /// Returns the index of the first argument of a query, or nil for other commands.
    private static func queryStart(_ arguments: [String]) -> Int? {
        guard let index = arguments.firstIndex(of: "query"),
            [[], ["batch"]].contains(arguments[..<index].filter { !$0.hasPrefix("-") })
        else { return nil }
        return index + 1
    }

    /// Returns true if the argument is a statement. Option names contain no white space.
    private static func isStatement(_ argument: String) -> Bool {
        argument.hasPrefix("--") && argument.prefix { $0 != "=" }.contains(where: \.isWhitespace)
    }
}
