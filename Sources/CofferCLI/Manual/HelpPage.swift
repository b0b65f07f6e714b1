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
            lines += HelpPage.section("ARGUMENTS", own.filter { $0.kind == "positional" })
            lines += HelpPage.section("OPTIONS", own.filter { $0.kind != "positional" })
            lines += [""] + HelpPage.layout.lines(configuration.discussion)
            return (lines + HelpPage.shared(arguments)).joined(separator: "\n")
        }
    }

    private static func section(_ title: String, _ arguments: [CommandDescription.Argument]) -> [String] {
        arguments.isEmpty ? [] : ["", "\(title):"] + arguments.flatMap(layout.lines)
    }

    /// Returns one line for each group of shared options.
    private static func shared(_ arguments: [CommandDescription.Argument]) -> [String] {
        var lines: [String] = []
        for topic in HelpTopic.allCases {
            let members = arguments.filter { HelpTopic(of: $0) == topic }
            var titles: [String] = []
            for title in members.map({ $0.sectionTitle ?? "" }) where !titles.contains(title) && title != "" {
                titles.append(title)
            }
            for title in titles.isEmpty && !members.isEmpty ? [""] : titles {
                let names = members.filter { title == "" || ($0.sectionTitle ?? title) == title }
                    .compactMap { $0.names?.first { $0.kind == "long" }?.text }
                let start = title == "" ? topic.title : title
                let words = "\(start) (coffer help \(topic.rawValue)): \(names.joined(separator: ", "))"
                lines += layout.wrapped(words, first: 2, rest: 6)
            }
        }
        return lines.isEmpty ? [] : ["", "SHARED OPTIONS:"] + lines
    }
}
