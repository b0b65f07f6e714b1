internal import ArgumentParser

/// `coffer`: the root of all commands.
struct CofferCommand: Operation {
    static let configuration = CommandConfiguration(
        commandName: "coffer",
        abstract: "Create, verify and re-key encrypted SQLite databases.",
        usage: "coffer <command> [options]",
        discussion: """
            'coffer help <command>' explains a command, 'coffer help <topic>' the options that commands \
            share (\(HelpTopic.ofOptions.map(\.rawValue).joined(separator: ", "))), and 'coffer help man' \
            where 'man coffer' and the completion of commands come from.

            Commands that replace a file, such as rotate, need it unused. They make a copy, which is proved \
            and swapped in atomically: at any time the file is intact, and the old or the new key opens it. \
            Run an interrupted command again to complete it.

            Keys are never arguments. Options take their sources, such as file:app.key: 'coffer help keys' \
            lists them. Without a source, coffer prompts for the key.

            EXAMPLES
              coffer keygen --out app.key                    create a key
              coffer create app.db --key file:app.key
              coffer query app.db "SELECT 1" --key file:app.key
              coffer query app.db "CREATE TABLE note (text)" --write --key file:app.key
              coffer rotate app.db --key file:app.key --new-key file:next.key
              coffer erase old.db --yes-erase old.db
              coffer verify app.db                           prompt for the key
              coffer help rotate

            EXIT CODES
            \(ExitStatus.table)
            """,
        subcommands: [
            CreateCommand.self, InfoCommand.self, VerifyCommand.self, RotateCommand.self, KeyCommands.self,
            KeygenCommand.self, QueryCommand.self,
            SchemaCommand.self, DumpCommand.self, LoadCommand.self, ImportCommand.self, ShellOperation.self,
            EncryptCommand.self,
            DecryptCommand.self, UpgradeCommand.self,
            BackupCommand.self, RestoreCommand.self, DiffCommand.self, RecoverCommand.self,
            VacuumCommand.self, EraseCommand.self,
            BatchCommand.self, AuditCommand.self, DoctorCommand.self, HealthCommand.self,
            ManualCommand.self,
        ])

    @Flag(help: "Print the versions of coffer and its engine.")
    var version = false

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    var readsDefaults: Bool { false }

    func run(in session: Session) throws -> ExitStatus {
        guard version else { throw Failure.usage("Give a command; 'coffer --help' lists them.") }
        let versions = try EngineVersions()
        session.reporter.result(versions.json, text: versions.lines, isAnswer: true)
        return .done
    }
}

extension CofferCommand {
    /// Returns the error message for `coffer help` with an unknown command, or nil if the command exists.
    /// ArgumentParser would print the help of another command.
    static func unknownHelp(in arguments: [String]) -> String? {
        guard arguments.first == "help" else { return nil }
        let words = arguments.dropFirst().filter { !$0.hasPrefix("-") }
        return words == ["help"] ? nil : unknownName(words, isRestUnknown: true)
    }

    /// Returns the error message for a word in the place of a command that does not name one.
    static func unknownName(in arguments: [String]) -> String? {
        let words = words(of: arguments)
        return words.first == "help" ? nil : unknownName(words, isRestUnknown: false)
    }

    /// Returns the first words among arguments, which may follow options.
    static func words(of arguments: [String]) -> [String] {
        Array(arguments[commandIndex(in: arguments)...].prefix { !$0.hasPrefix("-") })
    }

    /// Returns the index of the first argument that is not an option, or the number of arguments.
    static func commandIndex(in arguments: [String]) -> Int {
        var rest = arguments[...]
        while let first = rest.first, first.hasPrefix("-") {
            // These options may precede the command and take a value.
            rest = rest.dropFirst(["--progress", "--lock-timeout", "--key-timeout"].contains(first) ? 2 : 1)
        }
        return rest.startIndex
    }

    /// - Parameter isRestUnknown: true if a command without subcommands accepts no words either.
    private static func unknownName(_ words: [String], isRestUnknown: Bool) -> String? {
        var command: any ParsableCommand.Type = CofferCommand.self
        for (index, word) in words.enumerated() {
            let commands = command.configuration.subcommands
            if commands.isEmpty, !isRestUnknown { return nil }
            if let next = commands.first(where: { $0.configuration.commandName == word }) {
                command = next
                continue
            }
            let before = words[..<index].map { $0 + " " }.joined()
            if let command = Spelling.synonyms[word], command.hasPrefix(before) {
                return "There is no command '\(before)\(word)'. Use 'coffer \(command)'."
            }
            if index == 0, FileNames.size(word) != nil {
                let name = CommandWords.quoted(word)
                return "'\(word)' is a file, not a command. To open it: coffer shell \(name)"
            }
            let near = Spelling.nearest(
                to: word, among: commands.compactMap { $0.configuration.commandName })
            let advice = near.map { ". Did you mean '\(before)\($0)'?" } ?? ";"
            return "There is no command '\(before)\(word)'\(advice) 'coffer \(before)--help' lists them."
        }
        return nil
    }
}

extension ExitStatus {
    /// The list of exit codes, one line each.
    static var table: String {
        allCases.map { status in
            let number = String(status.rawValue)
            return "  " + number + String(repeating: " ", count: 5 - number.count) + status.meaning
        }.joined(separator: "\n")
    }
}
