internal import ArgumentParser

/// The help that arguments ask for.
enum HelpRequest {
    /// Returns the page, or nil if the arguments ask for none, or if a word names no command.
    static func page(_ arguments: [String]) throws -> String? {
        if arguments.first == "help" {
            let words = arguments.dropFirst().filter { !$0.hasPrefix("-") }
            if words.count == 1, let topic = HelpTopic(rawValue: words[0]) { return try topic.text }
            return try command(Array(words), isComplete: true).map { try HelpPage(command: $0).text }
        }
        let options = arguments.prefix { $0 != "--" }
        guard options.contains("--help") || options.contains("-h") else { return nil }
        return try command(CofferCommand.words(of: arguments), isComplete: false).map {
            try HelpPage(command: $0).text
        }
    }

    /// Returns the command that words name, or nil for an unknown name.
    ///
    /// - Parameter isComplete: true if all words have to be part of the name.
    private static func command(_ words: [String], isComplete: Bool) -> (any ParsableCommand.Type)? {
        var command: any ParsableCommand.Type = CofferCommand.self
        for (index, word) in words.enumerated() {
            let commands = command.configuration.subcommands
            guard let next = commands.first(where: { $0.configuration.commandName == word }) else {
                return nil
            }
            command = next
            if command.configuration.subcommands.isEmpty {
                return isComplete && index != words.count - 1 ? nil : command
            }
        }
        return command
    }
}
