internal import ArgumentParser
internal import Coffer

struct RotateCommand: ChangingOperation, MeasuredOperation {
    static let configuration = CommandConfiguration.coffer(
        "rotate <file>... [options]", abstract: "Encrypt files with a new key.",
        discussion: """
            Creates a copy with the new key and a fresh salt next to the file, proves it, and replaces the \
            file with it atomically. Needs space for the copy, and no other process may use the file. \
            Interrupted? Run the same command again: it completes, or reports that it is already done. Other \
            names of the file, backups and snapshots keep the old key. For a file with a keyring: coffer key \
            rotate.

            EXAMPLES
              coffer rotate app.db                 ask for both keys
              coffer rotate app.db --key file:old.key --new-key file:new.key
              coffer rotate app.db --dry-run       try the keys, change nothing
            """)

    @Argument(help: "The files.", completion: .file())
    var files: [String]

    @Flag(help: "Try the keys and show the plan; change nothing.")
    var dryRun = false

    @Flag(help: "Rewrite the file itself, if there is no space for a copy. Keeps the salt.")
    var inPlace = false

    @Option(help: .value("path", "Keep the file with the old key under this name."), completion: .file())
    var keepOld: String?

    @Option(help: .value("number", "The number of threads that copy pages, from 1 to 64."))
    var threads = ThreadCount.usual

    @OptionGroup(title: "The current key")
    var key: FileKeyOptions

    @OptionGroup(title: "The new key")
    var newKey: NewKeyOptions

    @OptionGroup(title: "The format of the files")
    var cipher: CipherOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Metrics")
    var metrics: MetricsOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func validate() throws {
        if let keepOld { try FileNames.checkIsNoDash(keepOld, "the old file") }
        if keepOld != nil && inPlace { throw ValidationError("--in-place leaves no old file to keep.") }
    }

    var measuredWork: RunMetrics.Work { .rotate }
    var names: [String] { files }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        try FileNames.checkIsOne(files, for: keepOld)
        for path in files { try FileNames.checkReadable(path) }
        let subject = Session.subject(files)
        let newRequest = try newKey.requestForRotation(besides: key, of: files)
        let keys = try FileKeys(key, KeyCache(session.keys, subject: subject))
        let new = try session.keys.key(newRequest, subject: subject)
        guard let old = keys.except(new) else {
            throw Failure(.usage, "same_key", "The new key is the current one. Give another one.")
        }
        var options = DatabaseFile.RotationOptions()
        options.method = inPlace ? .inPlace : .copy
        options.cipher = cipher.settings
        options.keepOldPath = keepOld
        options.threadCount = threads.number
        options.lockTimeout = session.lockTimeout
        return try session.forEach(files) { path in
            try FileNames.checkHasBytes(path)
            do {
                try old.open(path, cipher: options.cipher) { opening in
                    guard opening.key.slotSecret == nil else { throw Failure.rotationOfKeyring }
                    let rotation = KeyRotation(
                        path: path, name: path, old: opening.key, new: new, options: options)
                    if dryRun { try rotation.plan(in: session) } else { try rotation.run(in: session, trail) }
                }
            } catch  where Failure(error).reason == "wrong_key" && KeyringFacts(of: path) != nil {
                throw Failure(error).adding("'coffer key rotate' rotates a file with a keyring.")
            }
        }
    }
}
