internal import ArgumentParser
internal import Coffer

struct UpgradeCommand: ChangingOperation {
    static let configuration = CommandConfiguration.coffer(
        "upgrade <file>... [options]",
        abstract: "Upgrade files of SQLCipher 1 to 3, or with other cipher settings, to format 4.",
        discussion: """
            Detects the format, creates a copy in format 4, proves it, and replaces the file with it \
            atomically. The key stays. Interrupted? Run the same command again. A file in format 4 is not \
            changed. Common settings are detected too: other page sizes and hash functions, one PBKDF2 \
            iteration, no MACs, a plaintext header. Give others with the format options.

            EXAMPLES
              coffer upgrade old.db --dry-run
              coffer upgrade old.db --key file:app.key --keep-old old-3.db
              coffer upgrade old.db --key file:app.key --cipher-format 3 --kdf-iterations 10000
            """)

    @Argument(help: "The files.", completion: .file())
    var files: [String]

    @Flag(help: "Try the key and show the plan; change nothing.")
    var dryRun = false

    @Option(help: .value("path", "Keep the old file under this name."), completion: .file())
    var keepOld: String?

    @OptionGroup(title: "The key")
    var key: FileKeyOptions

    @OptionGroup(title: "The format of the files, if it is not detected")
    var cipher: CipherOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func validate() throws {
        if let keepOld { try FileNames.checkIsNoDash(keepOld, "the old file") }
    }

    var names: [String] { files }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        try FileNames.checkIsOne(files, for: keepOld)
        let keys = try session.keys(key, ofAll: files)
        return try session.forEach(files) { path in
            try FileNames.checkHasBytes(path)
            try keys.open(path, cipher: cipher.given) { opening in
                try Conversion(
                    path, .upgrade(opening.database, newKey: nil), cipher: cipher.given,
                    keys: .changed(from: opening.key, to: opening.key), keepOldPath: keepOld, in: session
                ).perform(isDryRun: dryRun, in: session, trail)
            }
        }
    }
}
