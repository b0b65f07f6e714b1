internal import ArgumentParser
internal import Coffer
internal import Glibc
internal import SystemCalls

struct LoadCommand: RecordedOperation {
    static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Create an encrypted database from an SQL script.",
        usage: "coffer load <file> [--from <script>] [options]",
        discussion: """
            Reads a script of coffer dump, of another shell's dump command, or any other, from the standard \
            input or a file. It is one transaction: all or nothing. The new file is proved before it gets \
            its name, by the digest at the end of a coffer dump script if there is one. Remove that line \
            from a script that you have changed. An incomplete script creates nothing (65).
            A script cannot reach other files: it attaches none, sets no keys, and chooses no journals. \
            Never overwrites. Asks twice for a typed key. The file is readable by you only.

            With --recipient, the file gets a random key and a keyring next to it, which only the \
            recipients' identities open.

            EXAMPLES
              coffer dump app.db --key-file app.key | coffer load copy.db --key-file next.key
              coffer load app.db --from app.sql --key-file app.key --key-type raw
            """)

    @Argument(help: "The file to create.", completion: .file())
    var file: String

    @Option(help: ArgumentHelp("Read the script from a file.", valueName: "script"), completion: .file())
    var from: String?

    @OptionGroup(title: "The key")
    var key: KeyOptions

    @OptionGroup(title: "The recipients of the file")
    var recipients: RecipientOptions

    @OptionGroup(title: "The format of the file")
    var cipher: CipherOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func validate() throws {
        try FileNames.checkIsNoDash(file, "the new file")
        if recipients.isGiven {
            guard try !key.isGiven else {
                throw ValidationError("Give the new file a key or recipients, not both.")
            }
        } else if from == nil || from == "-", try key.request().source == .standardInput {
            throw ValidationError("The script and the key cannot both come from the standard input.")
        }
    }

    var subject: String? { file }
    var names: [String] { [file] + (from.map { [$0] } ?? []) }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        guard !NewFile.exists(file) else {
            throw Failure(.outputExists, "output_exists", "'\(file)' exists, and is not overwritten.").about(
                file)
        }
        let path = from == "-" ? nil : from
        let name = path.map { "The script '\($0)'" } ?? "The standard input"
        let input =
            try path.map { path throws(Failure) in try Descriptor.reading(path, name: name) }
            ?? Descriptor(owning: dup(STDIN_FILENO))
        guard let status = try? input.status(), !status.isDirectory else {
            throw Failure(.inputMissing, "not_a_file", "\(name) is not a file.")
        }
        let reader = ScriptReader(input.number, name: name)
        let total = status.isRegular ? status.size : 0
        func load(_ key: DatabaseKey, _ keys: KeyPassage, _ keyring: KeyringOfCopy? = nil) throws {
            try trail.record(file, keys) { entry in
                let summary: ScriptSummary
                do {
                    summary = try make(key, keyring, reader, total: total, in: session)
                } catch let error as ScriptError {
                    throw reader.located(error)
                }
                let isProved = ScriptProof.digest(in: reader.rest) != nil
                tell(summary, isProved: isProved, session.reporter)
                try entry.end(
                    isChanged: true,
                    [.init("tables", .count(summary.tableCount)), .init("rows", .count(summary.rowCount))])
                return true
            }
        }
        if recipients.isGiven {
            try recipients.copying(to: file, recipients.slots(), isDryRun: false, session) {
                try load($0, .unknown, $1)
            }
        } else {
            let new = try session.keys.key(key.request(.new), subject: file)
            try load(new.database, .changed(from: nil, to: new))
        }
        return .done
    }

    private func make(
        _ key: DatabaseKey, _ keyring: KeyringOfCopy?, _ reader: ScriptReader, total: Int64,
        in session: Session
    ) throws -> ScriptSummary {
        try session.work(file) { progress in
            try DatabaseFile(path: file).make(
                key: key, cipher: cipher.settings, companion: keyring, progress: progress
            ) {
                try session.interruption.check()
                session.reporter.progress(
                    ProgressState(
                        path: file, phase: "loading", completed: reader.byteCount, total: total, unit: "bytes"
                    ))
                return try reader.next()
            } watch: {
                try session.interruption.check()
            } confirm: { made in
                guard let digest = ScriptProof.digest(in: reader.rest), digest != made.digest else { return }
                throw Failure(
                    .badData, "inconsistent",
                    "The content of the new file does not match the digest at the end of the script. If "
                        + "the script was changed on purpose, remove that line.")
            }
        }
    }

    private func tell(_ summary: ScriptSummary, isProved: Bool, _ reporter: Reporter) {
        let counts =
            "\(TextLayout.counted(summary.tableCount, "table", "tables")), "
            + "\(TextLayout.counted(summary.rowCount, "row", "rows"))"
        reporter.result(
            [
                .init("path", .string(file)), .init("changed", true),
                .init("tables", .count(summary.tableCount)),
                .init("rows", .count(summary.rowCount)), .init("same_as_dumped", isProved ? true : .null),
                .init("code", 0),
            ],
            text: [
                "\(file): created from the script, encrypted (\(counts))",
                isProved
                    ? "  proved: it opens again, it is intact, and its content is equal to the dump"
                    : "  proved: it opens again, and it is intact; the script has no digest of its "
                        + "content",
            ])
    }
}
