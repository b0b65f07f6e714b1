internal import ArgumentParser

extension CommandConfiguration {
    /// Returns the configuration of a command whose words are the first ones of its usage.
    ///
    /// - Parameter usage: the usage line without `coffer`, such as `key add <file> [options]`.
    static func coffer(_ usage: String, abstract: String, discussion: String) -> CommandConfiguration {
        let usage = "coffer " + usage
        return CommandConfiguration(
            commandName: words(in: usage).last, abstract: abstract, usage: usage, discussion: discussion)
    }

    /// Returns the words of a usage line that name the command.
    static func words(in usage: String) -> [String] {
        usage.split(separator: " ").dropFirst().prefix { $0.first?.isLetter ?? false }.map(String.init)
    }
}
