internal import ArgumentParser

/// Arguments that a parser would refuse with words that help nobody, or that show what they must not.
enum ArgumentMistake {
    // MARK: Keys

    private static let keyOptions = ["--key", "--new-key", "--previous-key"]
    private static let passphraseOptions = [
        "--passphrase", "--password", "--new-passphrase", "--new-password",
    ]

    /// What to say where arguments have a key in them, and the arguments without it; nil where they have
    /// none.
    static func key(in arguments: [String]) -> (message: String, rest: [String])? {
        var (rest, found) = ([String](), String?.none)
        var isKey = false
        for (index, argument) in arguments.enumerated() {
            if argument == "--" {
                rest += arguments[index...]
                break
            }
            let name = argument.prefix { $0 != "=" }
            if let option = (keyOptions + passphraseOptions).first(where: { $0 == name }) {
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

    private static func words(for option: String) -> String {
        let prefix = keyOptions.contains(option) ? option : option.hasPrefix("--new-") ? "--new-key" : "--key"
        let names =
            (["file", "fd"] + (prefix == "--previous-key" ? [] : ["stdin"]) + ["command", "credential"]).map {
                "\(prefix)-\($0)"
            }
        return """
            There is no \(option): keys are never arguments, as all users of the machine can read those, and \
            shells keep them. Give \(names.joined(separator: ", ")) or \(prefix)-env, or none of them to be \
            asked. If that was a key in use, it is in the history of your shell now.
            """
    }

    // MARK: Statements

    /// The arguments of a query, with a statement that begins with a comment made one that the parser does
    /// not take for an option.
    static func shieldingStatements(_ arguments: [String]) -> [String] {
        guard let start = queryStart(arguments) else { return arguments }
        var result = arguments
        for index in start..<arguments.count {
            if arguments[index] == "--" { break }
            // After an option it may be the value of that one.
            if isStatement(arguments[index]), !arguments[index - 1].hasPrefix("-") {
                result[index] = " " + arguments[index]
            }
        }
        return result
    }

    /// What to say where a statement was taken for an option all the same.
    static func statement(in arguments: [String]) -> String? {
        guard let start = queryStart(arguments),
            arguments[start...].prefix(while: { $0 != "--" }).contains(where: isStatement)
        else {
            return nil
        }
        return
            "A statement that begins with a comment stands right after the file, or last, after '--' alone: "
            + "coffer query app.db -- '-- all'"
    }

    /// Where the arguments of a query begin.
    private static func queryStart(_ arguments: [String]) -> Int? {
        guard let index = arguments.firstIndex(of: "query"),
            [[], ["batch"]].contains(arguments[..<index].filter { !$0.hasPrefix("-") })
        else { return nil }
        return index + 1
    }

    /// Names of options have no white space in them.
    private static func isStatement(_ argument: String) -> Bool {
        argument.hasPrefix("--") && argument.prefix { $0 != "=" }.contains(where: \.isWhitespace)
    }
}
