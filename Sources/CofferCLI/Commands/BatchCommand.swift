internal import ArgumentParser
internal import Coffer

struct BatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "batch",
        abstract: "Do the same to many files.",
        usage: "coffer batch <command> --manifest <file> [options]",
        discussion: Manifest.help,
        subcommands: [
            BatchInfoCommand.self, BatchVerifyCommand.self, BatchRotateCommand.self, BatchEncryptCommand.self,
            BatchDecryptCommand.self,
            BatchUpgradeCommand.self, BatchVacuumCommand.self, BatchBackupCommand.self,
            BatchQueryCommand.self, BatchStatusCommand.self,
        ])

    func run() throws {
        throw ValidationError(
            "Give a command, such as coffer batch verify; 'coffer batch --help' lists them.")
    }
}

extension Manifest {
    static let help = """
        The manifest has one path a line, or one JSON object a line with members named as the options: \
        {"path": "a.db", "key-file": "old.key", "new-key-file": "new.key", "key-type": "raw"}. Sources of \
        keys are -file, -command, -env and -credential; where a line has none, the options of the command \
        line hold. The members previous-key-file, previous-key-type and so on may also be lists of texts. \
        Relative names start at the manifest's directory. Empty lines and lines with # say nothing. A file \
        whose name begins with # or {, begins or ends with white space, or has a line break in it, is given \
        as JSON, or with --null, where the manifest has paths only and each ends with a byte of zero, as \
        'find -print0' writes them.

        What changes files tries the keys of all of them before it changes the first one. Each file has its \
        own result. A failed one does not stop the others: exit code 3 then. A rotation notes what is done \
        in MANIFEST.state (others in MANIFEST.encrypt.state and so on), which goes when all is done. After \
        an interruption, or when failures are mended, run it again with --continue: nothing is done twice. \
        Several machines share a manifest by --shard 1/3, 2/3 and 3/3. Each share has a state of its own, \
        which stays, so that with --continue a share that runs twice does nothing: 'coffer batch status' \
        tells what is missing, and removes the states when all is done. What the state says was done is \
        believed when the file agrees: for a rotation, when the new key opens it.
        """
}
