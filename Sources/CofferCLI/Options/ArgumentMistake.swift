internal import ArgumentParser

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
    static func key(in arguments: [String]) -> (message: String, rest: [String])? {
        var (rest, found) = ([String](), String?.none)
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
                // Without a source after it, it stands for a prompt.
                if option == "--unlock", name.count == argument.count {
                    rest.append(argument)
                    continue
                }
                let value = name.count == argument.count ? after(index) : argument.dropFirst(name.count + 1)
                if keyOptions.contains(option), TypedSource.isSource(String(value)) {
                    rest.append(argument)
                    continue
                }
                found = found ?? option
                isKey = name.count == argument.count
            } else if !isKey || argument.hasPrefix("--") {
                rest.append(argument)
                isKey = false
            } else {
                isKey = false
            }
        }
        return found.map { (words(for: $0), rest) }
    }

    /// Returns the error message if the parser's message shows the argument after `--unlock`, which may be a
    /// secret.
    static func unlockSecret(in arguments: [String], _ message: String) -> String? {
        let options = arguments.prefix { $0 != "--" }
        let isShown = zip(options, options.dropFirst()).contains { option, value in
            option == "--unlock" && !value.hasPrefix("-") && message.contains("'\(value)'")
        }
        return isShown ? words(for: "--unlock") : nil
    }

    /// Returns the error message for an option with a value that is not a source.
    static func words(for option: String) -> String {
        let isSourceOption = keyOptions.contains(option)
        let name = isSourceOption ? option : option.hasPrefix("--new-") ? "--new-key" : "--key"
        let problem = isSourceOption ? "The value of \(option) is not a source" : "There is no \(option)"
        return """
            \(problem): keys are never arguments, because all users of the machine can read those and shells \
            store them. Give \(name) file:PATH, fd:N, stdin, command:LINE, \
            credential:NAME, env:NAME or ask; see 'coffer help keys'. If that was a key in use, it is now in \
            the history of your shell.
            """
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
