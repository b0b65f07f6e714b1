internal import ArgumentParser

/// A topic of the help: options that many commands have, which the help of a command only names.
enum HelpTopic: String, CaseIterable {
    case keys, manifest, folders, format
    case auditLog = "audit-log"
    case metrics, output, man

    /// The topics about shared options.
    static var ofOptions: [HelpTopic] { allCases.filter { $0 != .man } }

    /// The topic of an option, or nil for an option of a single command.
    init?(of argument: CommandDescription.Argument) {
        guard argument.kind != "positional",
            let name = argument.names?.first(where: { $0.kind == "long" })?.name
        else { return nil }
        if name == "insecure-key-file-mode" || name.wholeMatch(of: HelpTopic.secret) != nil {
            self = .keys
            return
        }
        guard let topic = HelpTopic.allCases.first(where: { $0.optionNames.contains(name) }) else {
            return nil
        }
        self = topic
    }

    /// Returns true if the help of a command names an option with this topic.
    func includes(_ argument: CommandDescription.Argument) -> Bool {
        guard let topic = HelpTopic(of: argument) else { return false }
        return (argument.sectionTitle == "The audit log" ? .auditLog : topic) == self
    }

    private static var secret: Regex<Substring> {
        #/
        (?:(?:new-|previous-|audit-)?key|unlock|site-secret)
        (?:-(?:file|fd|stdin|command|env|credential|type))?
        /#
    }

    private var optionNames: [String] {
        switch self {
        case .keys, .folders, .man: []
        case .manifest: ["manifest", "null", "jobs", "shard", "continue", "state"]
        case .format:
            [
                "cipher-format", "page-size", "kdf-iterations", "kdf-algorithm", "hmac-algorithm",
                "plaintext-header",
            ]
        case .auditLog: ["audit", "audit-required"]
        case .metrics: ["metrics", "metrics-target"]
        case .output: ["json", "quiet", "progress", "lock-timeout", "key-timeout", "help"]
        }
    }

    /// The first line of the page.
    private var abstract: String {
        switch self {
        case .keys: "Sources of keys and other secrets."
        case .manifest: "Lists of files, for batches."
        case .folders: "Folders of files, for verify, info and batches."
        case .format: "The settings of files that SQLCipher 4 does not make by default."
        case .auditLog: "The audit log."
        case .metrics: "Metrics for monitoring."
        case .output: "Output, progress and timeouts."
        case .man: "The manual pages, and the completion of commands."
        }
    }

    private var words: String {
        switch self {
        case .keys: ""
        case .manifest: Manifest.help
        case .folders: SearchOptions.help
        case .format:
            """
            The file does not store these settings. Files that coffer makes need none of them, unless they \
            were made with them. A file of SQLCipher 1 to 3 is opened with --cipher-format alone; 'coffer \
            upgrade' makes it a file of format 4.
            """
        case .auditLog:
            """
            The log has a record before and after each change of a file, and after each access. Records are \
            chained, so that a change of the log shows: 'coffer audit verify'.
            """
        case .metrics: "'coffer health' reads the file too, and reports work that failed or is overdue."
        case .output:
            """
            Results go to the standard output; errors, notes and progress go to the standard error. With \
            --json, the last line has the exit code.
            """
        case .man:
            """
            'man coffer' shows the manual, and 'man coffer-query' the page of a command. Packages and \
            Scripts/install put the pages and the completion in place. For a tool without them:

              mkdir -p ~/.local/share/man/man1
              coffer generate-manual ~/.local/share/man/man1
              mkdir -p ~/.local/share/bash-completion/completions
              coffer completion bash > ~/.local/share/bash-completion/completions/coffer

            'coffer completion zsh' is for _coffer in a folder of fpath, and 'coffer completion fish' for \
            ~/.config/fish/completions/coffer.fish.
            """
        }
    }

    private var options: (any ParsableArguments.Type)? {
        switch self {
        case .keys, .man: nil
        case .manifest: BatchOptions.self
        case .folders: SearchOptions.self
        case .format: CipherOptions.self
        case .auditLog: AuditOptions.self
        case .metrics: MetricsOptions.self
        case .output: OutputOptions.self
        }
    }

    /// The page of the topic.
    var text: String {
        get throws {
            let layout = HelpLayout()
            let page = ["OVERVIEW: \(abstract)", ""] + layout.lines(words)
            guard let options else {
                return self == .keys ? KeyTopic.text : page.joined(separator: "\n")
            }
            let arguments = try CommandDescription(of: options).arguments ?? []
            let own = arguments.filter {
                $0.shouldDisplay && ([.folders, .auditLog].contains(self) || HelpTopic(of: $0) == self)
                    && $0.names?.contains { $0.name == "help" } == false
            }
            return (page + ["", "OPTIONS:"] + own.flatMap(layout.lines)).joined(separator: "\n")
        }
    }
}
