internal import ArgumentParser

struct BatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "batch",
        abstract: "Run a command on many files.",
        usage: "coffer batch <command> (<folder>... | --manifest <file>) [options]",
        discussion: Manifest.help,
        subcommands: [
            BatchInfoCommand.self, BatchVerifyCommand.self, BatchRotateCommand.self,
            BatchConversion<BatchEncryption>.self, BatchConversion<BatchDecryption>.self,
            BatchConversion<BatchUpgrade>.self, BatchConversion<BatchVacuum>.self, BatchBackupCommand.self,
            BatchQueryCommand.self, BatchStatusCommand.self,
        ])

    func run() throws {
        throw ValidationError(
            "Give a command, such as coffer batch verify; 'coffer batch --help' lists them.")
    }
}
