internal import ArgumentParser
internal import Coffer

/// `coffer`: the root of all commands.
struct CofferCommand: Operation {
    static let configuration = CommandConfiguration(
        commandName: "coffer",
        abstract: "Make, verify and re-key encrypted SQLite databases.",
        usage: "coffer <command> [options]",
        discussion: """
            Works on SQLCipher files while nobody else writes to them. Every change is made to a copy, proved, and put in place in one \
            step: whatever happens, the file is whole and one of the two keys opens it. Run an interrupted command again to complete it.

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
            SchemaCommand.self, DumpCommand.self, LoadCommand.self, ImportCommand.self, ShellOperation.self, EncryptCommand.self,
            DecryptCommand.self, UpgradeCommand.self,
            BackupCommand.self, RestoreCommand.self, DiffCommand.self, RecoverCommand.self, VacuumCommand.self, EraseCommand.self,
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
    /// The command whose help is asked for, if there is none of that name: ArgumentParser would print the help of another one.
    static func unknownHelp(in arguments: [String]) -> String? {
        guard arguments.first == "help" else { return nil }
        var command: any ParsableCommand.Type = CofferCommand.self
        var words: [String] = []
        for word in arguments.dropFirst() where !word.hasPrefix("-") && arguments.dropFirst() != ["help"] {
            words.append(word)
            guard let next = command.configuration.subcommands.first(where: { $0.configuration.commandName == word }) else {
                return words.joined(separator: " ")
            }
            command = next
        }
        return nil
    }

    /// What stands where the name of a command should, and is none.
    static func unknownName(in arguments: [String]) -> String? {
        var rest = arguments[...]
        while let first = rest.first, first.hasPrefix("-") {
            // The options that are good before the command, and have a value.
            rest = rest.dropFirst(["--progress", "--lock-timeout", "--key-timeout"].contains(first) ? 2 : 1)
        }
        let names = configuration.subcommands.compactMap { $0.configuration.commandName } + ["help"]
        return rest.first.flatMap { names.contains($0) ? nil : $0 }
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
