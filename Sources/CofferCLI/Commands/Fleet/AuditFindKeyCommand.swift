internal import ArgumentParser

struct AuditFindKeyCommand: Operation {
    static let configuration = CommandConfiguration.coffer(
        "audit find-key <log>... [options]",
        abstract: "List the files that a key still opens, according to audit logs.",
        discussion: """
            Takes logs of commands that ran with the site secret, and the key or its identifier. The last \
            record of each file counts: a file is listed if the key opened it then, or if an interrupted \
            command may have left it so. Kept old files and copies are listed too. Exit code 0 if no file is \
            found, 1 otherwise. A log knows only coffer's own work: files copied in another way are not in \
            it, and 'coffer batch info' with the key is the proof. Files that no command has opened with the \
            site secret are listed as unknown, and count as found.

            EXAMPLES
              coffer audit find-key audit.log --key file:leaked.key --site-secret file:site.secret
              coffer audit find-key one.log two.log --id 93b1c5d2e7f80a46 --json
            """)

    @Argument(help: "The logs.", completion: .file())
    var files: [String]

    @Option(help: .value("digits", "The identifier of the key, as 'coffer info --key-id' prints it."))
    var id: String?

    @OptionGroup(title: "The key")
    var key: KeyOptions<OneKey>

    @OptionGroup(title: "The site secret")
    var site: SiteSecretOptions

    @OptionGroup(title: "The audit key")
    var secret: AuditKeyOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func validate() throws {
        if let id {
            guard Hex.bytes(id)?.count == 8, id == id.lowercased() else {
                throw ValidationError("An identifier has 16 hexadecimal digits, in lower case.")
            }
            if try key.isGiven || site.isGiven {
                throw ValidationError("Give the identifier, or the key and the site secret.")
            }
        } else if try !site.isGiven {
            throw ValidationError(
                "Identifiers of keys depend on the site secret: give --site-secret, or the identifier "
                    + "with --id."
            )
        }
    }

    func run(in session: Session) throws -> ExitStatus {
        session.reporter.start(["files": files])
        let wanted: String
        if let id {
            wanted = id
        } else {
            guard let site = try site.secret(session.keys) else {
                throw Failure.usage("The site secret is missing.")
            }
            wanted = try site.id(
                of: session.keys.key(key.request(), subject: "the files to find"))
        }
        let seal = try secret.seal(session.keys)
        var events: [KeyHistory.Event] = []
        for file in files { events += try KeyHistory.events(in: file, seal) }
        // Events of several machines are merged by time. The index keeps the order within one log.
        var history = KeyHistory()
        for event in events.enumerated().sorted(by: {
            ($0.element.time, $0.offset) < ($1.element.time, $1.offset)
        }) {
            history.take(event.element)
        }
        let found = history.files(openedBy: wanted)
        for file in found {
            session.reporter.result(
                [
                    "path": file.path, "certainty": file.certainty.rawValue, "time": file.time,
                    "last_command": file.command,
                ], text: ["\(file.path): \(file.certainty.words) (\(file.command), \(file.time))"],
                isAnswer: true)
        }
        session.reporter.note(
            "key \(wanted): \(grouped: found.count) of \(counted: history.fileCount, "file") in the log")
        return found.isEmpty ? .done : .answerIsNo
    }
}
