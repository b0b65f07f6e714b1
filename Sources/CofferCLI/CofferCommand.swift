internal import ArgumentParser
internal import Coffer

/// `coffer`: the root of all commands.
struct CofferCommand: Operation {
    static let configuration = CommandConfiguration(
        commandName: "coffer",
        abstract: "Make, verify and re-key encrypted SQLite databases.",
        usage: "coffer <command> [options]",
        discussion: """
            Works on SQLCipher files while nobody else writes to them. Every change is made to a copy, \
            proved, and put in place in one step: whatever happens, the file is whole and one of the two \
            keys opens it. Run an interrupted command again to complete it.

            Keys are never arguments. Without a key option coffer asks at the terminal.

            EXAMPLES
              coffer keygen --out app.key                    make a key
              coffer create app.db --key-file app.key --key-type raw
              coffer query app.db "SELECT 1" --key-file app.key --key-type raw
              coffer rotate app.db --key-file app.key --key-type raw \\
                                   --new-key-file next.key --new-key-type raw
              coffer verify app.db                           ask for the key
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

    @Flag(help: "Print the versions of coffer and of the engine in it.")
    var version = false

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func run(in session: Session) throws -> ExitStatus {
        guard version else { throw Failure.usage("Give a command; 'coffer --help' lists them.") }
        let versions = try EngineVersions()
        session.reporter.result(versions.json, text: versions.lines, isAnswer: true)
        return .done
    }
}

extension CofferCommand {
    /// What to say of a command whose help is asked for, if there is none of that name: ArgumentParser would
    /// print the help of another one.
    static func unknownHelp(in arguments: [String]) -> String? {
        guard arguments.first == "help" else { return nil }
        let words = arguments.dropFirst().filter { !$0.hasPrefix("-") }
        return words == ["help"] ? nil : unknownName(words, isRestUnknown: true)
    }

    /// What to say of something that stands where the name of a command should, and is none.
    static func unknownName(in arguments: [String]) -> String? {
        var rest = arguments[...]
        while let first = rest.first, first.hasPrefix("-") {
            // The options that are good before the command, and have a value.
            rest = rest.dropFirst(["--progress", "--lock-timeout", "--key-timeout"].contains(first) ? 2 : 1)
        }
        let words = rest.prefix { !$0.hasPrefix("-") }
        return words.first == "help" ? nil : unknownName(Array(words), isRestUnknown: false)
    }

    /// - Parameter isRestUnknown: whether a command without commands of its own takes no words either.
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
            let near = Spelling.nearest(to: word, among: commands.compactMap { $0.configuration.commandName })
            let advice = near.map { ". Did you mean '\(before)\($0)'?" } ?? ";"
            return "There is no command '\(before)\(word)'\(advice) 'coffer \(before)--help' lists them."
        }
        return nil
    }
}

extension ExitStatus {
    /// One line for each code.
    static var table: String {
        allCases.map { status in
            let number = String(status.rawValue)
            return "  " + number + String(repeating: " ", count: 5 - number.count) + status.meaning
        }.joined(separator: "\n")
    }
}
