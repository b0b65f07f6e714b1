/// Replaces arguments that users know from other tools by those of this tool, if they have only one meaning.
enum ArgumentGuess {
    static func resolving(_ arguments: [String]) -> [String] {
        let start = CofferCommand.commandIndex(in: arguments)
        let (before, rest) = (Array(arguments[..<start]), Array(arguments[start...]))
        return before + (command(rest) ?? rows(rest) ?? rest)
    }

    private static func command(_ arguments: [String]) -> [String]? {
        guard let word = arguments.first else { return nil }
        let rest = arguments.dropFirst()
        switch (word, rest.first) {
        case ("tables", _): return ["schema", "--tables"] + rest
        case ("completion", let shell?), ("completions", let shell?):
            return ["bash", "zsh", "fish"].contains(shell)
                ? ["--generate-completion-script=\(shell)"] + rest.dropFirst() : nil
        case ("man", nil), ("manual", nil): return ["help", "man"]
        case ("man", _): return ["help"] + rest
        // A database of this name can be backed up.
        case ("backup", "list"?) where rest.count > 1 && !NewFile.exists("list"):
            return ["backup", "--list"] + rest.dropFirst()
        default: return nil
        }
    }

    /// Replaces the options of other shells for the format of rows.
    private static func rows(_ arguments: [String]) -> [String]? {
        guard ["query", "shell"].contains(arguments.first) || arguments.starts(with: ["batch", "query"])
        else { return nil }
        let end = arguments.firstIndex(of: "--") ?? arguments.count
        let options = arguments[..<end].map { argument in
            switch argument {
            case "--csv", "-csv", "--tsv", "--jsonl", "--markdown":
                "--format=" + argument.drop { $0 == "-" }
            case "--mode": "--format"
            case _ where argument.hasPrefix("--mode="): "--format=" + argument.dropFirst(7)
            default: argument
            }
        }
        return options + arguments[end...]
    }
}
