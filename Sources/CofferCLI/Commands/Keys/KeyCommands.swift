internal import ArgumentParser

/// `coffer key`: the commands for keyrings.
struct KeyCommands: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Manage the keyring of a database: several ways to open it.",
        usage: "coffer key <command> <file> [options]",
        discussion: """
            A keyring is a small file next to the database, named after it with .keys appended: back up both \
            together. It contains the random key of the database, sealed to slots: passphrases, raw keys, \
            recovery keys and recipients. Changing a slot is quick, and writes no page of the database. All \
            commands take --unlock for files with a keyring.

            EXAMPLES
              coffer key init app.db             create a database with a passphrase
              coffer key add app.db --recovery   print a recovery key, to write down
              coffer key change app.db           change the passphrase
              coffer query app.db "SELECT 1" --unlock file:passphrase.txt
            """,
        subcommands: [
            KeyInitCommand.self, KeyListCommand.self, KeyAddCommand.self, KeyRemoveCommand.self,
            KeyChangeCommand.self,
            KeyRecoverCommand.self,
            KeyRotateCommand.self, KeyExportCommand.self, KeyRestoreCommand.self, KeyDestroyCommand.self,
        ])

    func run() throws {
        throw ValidationError(
            "Give a command, such as coffer key list <file>; 'coffer key --help' lists them.")
    }
}
