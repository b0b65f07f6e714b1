internal import ArgumentParser

/// The help of a command: its purpose, its own arguments, details and examples. The options that it shares
/// with others are named, with the topic that explains them.
struct HelpPage {
    let command: any ParsableCommand.Type

    private static let layout = HelpLayout()

    var text: String {
        get throws {
            let configuration = command.configuration
            let arguments = try (CommandDescription(of: command).arguments ?? []).filter(\.shouldDisplay)
            let own = arguments.filter { HelpTopic(of: $0) == nil }
            var lines =
                HelpPage.layout.wrapped("OVERVIEW: \(configuration.abstract)", first: 0, rest: 10) + [""]
            lines += HelpPage.layout.wrapped("USAGE: \(configuration.usage ?? "")", first: 0, rest: 7)
            lines += HelpPage.commands(configuration.subcommands)
            lines += HelpPage.section("ARGUMENTS", own.filter { $0.kind == "positional" })
            lines += HelpPage.section("OPTIONS", own.filter { $0.kind != "positional" })
            if !configuration.discussion.isEmpty {
                lines += [""] + HelpPage.layout.lines(configuration.discussion)
            }
            return (lines + HelpPage.shared(arguments)).joined(separator: "\n")
        }
    }

    private static func section(_ title: String, _ arguments: [CommandDescription.Argument]) -> [String] {
        arguments.isEmpty ? [] : ["", "\(title):"] + arguments.flatMap(layout.lines)
    }

    /// Returns one line for each visible command of a group.
    private static func commands(_ commands: [any ParsableCommand.Type]) -> [String] {
        let configurations = commands.map { $0.configuration }.filter(\.shouldDisplay)
        let width = configurations.compactMap { $0.commandName?.count }.max() ?? 0
        let lines = configurations.flatMap { configuration in
            let name = "  \(configuration.commandName ?? "")"
            let words = layout.wrapped(configuration.abstract, first: width + 4, rest: width + 4)
            return [name + words[0].dropFirst(name.count)] + words.dropFirst()
        }
        return lines.isEmpty ? [] : ["", "COMMANDS:"] + lines
    }

    /// Returns the names of shared options, with their topics. Options for keys have the titles of their
    /// groups, because a command may take several keys.
    private static func shared(_ arguments: [CommandDescription.Argument]) -> [String] {
        var lines: [String] = []
        for topic in HelpTopic.allCases {
            let members = arguments.filter { topic.includes($0) }
            var titles: [String] = []
            for title in members.map({ topic == .keys ? $0.sectionTitle ?? "" : "" })
            where !titles.contains(title) { titles.append(title) }
            for title in titles {
                let names = members.filter { topic != .keys || ($0.sectionTitle ?? "") == title }
                    .compactMap { $0.names?.first { $0.kind == "long" }?.text }
                let words = (title.isEmpty ? "" : "\(title): ") + names.joined(separator: ", ")
                let name = "  \(topic.rawValue)"
                let column = layout.wrapped(words, first: 13, rest: 13)
                lines += [name + column[0].dropFirst(name.count)] + column.dropFirst()
            }
        }
        guard let first = lines.first?.split(separator: " ").first else { return [] }
        return ["", "SHARED OPTIONS, by topic, such as 'coffer help \(first)':"] + lines
    }
}
