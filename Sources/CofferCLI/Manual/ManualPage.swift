/// The man page of a command, in man(7) format.
struct ManualPage {
    let command: CommandDescription
    let version: String

    var fileName: String { "\(command.fullName.split(separator: " ").joined(separator: "-")).1" }

    var text: String {
        var page = Page()
        let title = command.fullName.split(separator: " ").joined(separator: "-")
        page.line(
            ".TH \(Page.quoted(title.uppercased())) 1 \"\" \(Page.quoted("coffer \(version)")) \"Coffer\"")
        page.section("NAME")
        page.text("\(title) - \(lowered(command.abstract ?? ""))")
        page.section("SYNOPSIS")
        page.line(".B " + Page.escaped(command.fullName))
        page.text(synopsis)
        for (heading, lines) in sections { write(heading, lines, to: &page) }
        writeArguments(to: &page)
        if let subcommands = command.subcommands?.filter({ $0.shouldDisplay && $0.commandName != "help" }),
            !subcommands.isEmpty
        {
            page.section("COMMANDS")
            for subcommand in subcommands { page.item(subcommand.commandName, subcommand.abstract ?? "") }
        }
        if command.superCommands?.isEmpty ?? true {
            page.section("SOURCES OF SECRETS")
            page.text("The options for secrets take one of these sources:")
            for (name, words) in KeyTopic.sources { page.item(name, words) }
            page.paragraph("A type before the source tells what the secret is, as in raw:file:app.key:")
            for (name, words) in KeyTopic.types { page.item(name, words) }
            page.line(".PP")
            for line in KeyTopic.forms.split(separator: "\n") { page.text(String(line)) }
            page.section("DEFAULTS")
            for line in KeyTopic.defaults.split(separator: "\n") { page.text(String(line)) }
            page.section("ENVIRONMENT")
            for (name, words) in KeyTopic.environment + ManualPage.environment { page.item(name, words) }
            page.section("FILES")
            page.text(
                "Next to a database DB during work: DB.rotate.json describes the work (never a key), and a "
                    + "file whose name begins with .coffer- is a copy that is not yet proved. Both go "
                    + "at the end or with the next run."
            )
        } else {
            page.section("EXIT STATUS")
            page.text("See coffer(1).")
            page.section("SEE ALSO")
            page.text("coffer(1)")
        }
        return page.text
    }

    private static let environment = [
        ("COFFER_PAGER, PAGER", "The program for long results of coffer shell; if empty, there is none."),
        (
            "CREDENTIALS_DIRECTORY",
            "The folder of the credentials of a systemd unit, for sources such as credential:app.key."
        ),
        ("HOME", "The folder of the history of coffer shell, .coffer_history."),
        ("NO_COLOR", "If it is not empty, messages have no colors."),
        ("TMPDIR", "The folder for short-lived files: by default /var/tmp."),
    ]

    private func lowered(_ text: String) -> String {
        let text = text.hasSuffix(".") ? String(text.dropLast()) : text
        return text.prefix(1).lowercased() + text.dropFirst()
    }

    private var synopsis: String {
        guard command.subcommands?.isEmpty ?? true else { return "<command> [options]" }
        let files = (command.arguments ?? []).filter { $0.kind == "positional" && $0.shouldDisplay }
        return (files.map { "<\($0.valueName ?? "value")>\($0.isRepeating ? "..." : "")" } + ["[options]"])
            .joined(separator: " ")
    }

    /// The discussion, split at its headings, which are lines in capitals.
    private var sections: [(String, [String])] {
        var result: [(String, [String])] = [("DESCRIPTION", [])]
        for line in (command.discussion ?? "").split(separator: "\n", omittingEmptySubsequences: false).map(
            String.init)
        {
            if line.count > 3, line.allSatisfy({ $0.isUppercase || $0 == " " }), line.first != " " {
                result.append((line, []))
            } else {
                result[result.count - 1].1.append(line)
            }
        }
        return result.filter { $0.1.contains { !$0.isEmpty } }
    }

    private func write(_ heading: String, _ lines: [String], to page: inout Page) {
        if heading == "EXIT CODES" {
            page.section("EXIT STATUS")
            for status in ExitStatus.allCases { page.item(String(status.rawValue), status.meaning) }
            return
        }
        page.section(heading)
        let isIndented = lines.contains { $0.hasPrefix("  ") }
        if isIndented { page.line(".nf") }
        for line in lines where isIndented || !line.isEmpty {
            if isIndented { page.text(line) } else { page.paragraph(line) }
        }
        if isIndented { page.line(".fi") }
    }

    private func writeArguments(to page: inout Page) {
        var titles: [String] = []
        var groups: [String: [CommandDescription.Argument]] = [:]
        for argument in command.arguments ?? [] where argument.shouldDisplay {
            let title = argument.sectionTitle ?? "Arguments and options"
            if groups[title] == nil { titles.append(title) }
            groups[title, default: []].append(argument)
        }
        for title in titles {
            page.section(title.uppercased())
            for argument in groups[title] ?? [] {
                var words = argument.abstract ?? ""
                if let values = argument.allValues, !values.isEmpty {
                    words += " Values: \(values.joined(separator: ", "))."
                }
                if let value = argument.defaultValue { words += " Default: \(value)." }
                page.item(argument.label, words)
            }
        }
    }
}

/// The source of a page, with text escaped so that none of it is a request.
private struct Page {
    private(set) var text = ""

    mutating func line(_ line: String) { text += line + "\n" }
    mutating func section(_ title: String) { line(".SH " + Page.escaped(title)) }
    mutating func text(_ words: String) { line(Page.escaped(words)) }

    mutating func paragraph(_ words: String) {
        line(".PP")
        text(words)
    }

    mutating func item(_ label: String, _ words: String) {
        line(".TP")
        line(".B " + Page.escaped(label))
        text(words)
    }

    static func quoted(_ text: String) -> String {
        "\"" + escaped(text).split(separator: "\"").joined(separator: "\\(dq") + "\""
    }

    static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "'": result += "\\(aq"
            case "`": result += "\\(ga"
            case "^": result += "\\(ha"
            case "~": result += "\\(ti"
            default: result.append(character)
            }
        }
        return result.hasPrefix(".") ? "\\&" + result : result
    }
}
