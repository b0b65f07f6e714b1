internal import ArgumentParser
internal import Coffer

struct LoadCommand: FileOperation {
    static let configuration = CommandConfiguration.coffer(
        "load <file> [--from <script>] [options]",
        abstract: "Create an encrypted database from an SQL script.",
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
              coffer dump app.db --key file:app.key | coffer load copy.db --key file:next.key
              coffer load app.db --from app.sql --key file:app.key
            """)

    @Argument(help: "The file to create.", completion: .file())
    var file: String

    @Option(help: .value("script", "Read the script from a file."), completion: .file())
    var from: String?

    @OptionGroup(title: "The key")
    var key: KeyOptions<OneKey>

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
        }
    }

    var inputUse: String? { from == nil || from == "-" ? "The script" : nil }

    var names: [String] { [file] + (from.map { [$0] } ?? []) }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        try NewFile.checkIsNew(file)
        let input = try InputFile(from, "script") { () throws(Failure) in try session.interruption.check() }
        let reader = ScriptReader(input)
        try recipients.making(file, from: nil, orWith: key, isDryRun: false, session) { key, keys, keyring in
            try trail.record(file, keys) { entry in
                let summary: ScriptSummary
                do {
                    summary = try make(key, keyring, reader, total: input.size, in: session)
                } catch let error as ScriptError {
                    throw reader.located(error)
                }
                let isProved = ScriptProof.digest(in: reader.rest) != nil
                tell(summary, isProved: isProved, session.reporter)
                try entry.end(isChanged: true, summary.facts)
                return true
            }
        }
        return .done
    }

    private func make(
        _ key: DatabaseKey, _ keyring: KeyringOfCopy?, _ reader: ScriptReader, total: Int64,
        in session: Session
    ) throws -> ScriptSummary {
        // The number of bytes that was reported last.
        var reported: Int64 = -1
        return try session.work(file) { progress in
            try DatabaseFile(path: file).make(
                key: key, cipher: cipher.settings, companion: keyring, progress: progress
            ) {
                try session.interruption.check()
                if reader.byteCount != reported {
                    reported = reader.byteCount
                    session.reporter.progress(
                        ProgressState(
                            path: file, phase: "loading", completed: reported, total: total, unit: "bytes"))
                }
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
        reporter.result(
            ["path": file, "changed": true], summary.facts,
            ["same_as_dumped": isProved ? true : nil as Bool?, "code": 0],
            text: [
                "\(file): created from the script, encrypted (\(summary.counts))",
                isProved
                    ? "  proved: it opens again, it is intact, and its content is equal to the dump"
                    : "  proved: it opens again, and it is intact; the script has no digest of its "
                        + "content",
            ])
    }
}
