internal import ArgumentParser
internal import Coffer

struct CreateCommand: RecordingOperation {
    static let configuration = CommandConfiguration.coffer(
        "create <file> [options]", abstract: "Create an empty, encrypted database.",
        discussion: """
            Never overwrites. Asks twice for a typed key. The file is readable by you only. For a database \
            with a keyring, also one for recipients, use 'coffer key init'.

            EXAMPLES
              coffer create app.db
              coffer create app.db --key file:app.key
            """)

    @Argument(help: "The file to create.", completion: .file())
    var file: String

    @Flag(help: "Show the plan; change nothing.")
    var dryRun = false

    @OptionGroup(title: "The key")
    var key: KeyOptions<OneKey>

    @OptionGroup(title: "The format of the file")
    var cipher: CipherOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func validate() throws { try FileNames.checkIsNoDash(file, "the new file") }

    var subject: String? { file }

    func run(in session: Session) throws -> ExitStatus {
        session.reporter.start(["files": [file], "dry_run": dryRun])
        try NewFile.checkIsNew(file)
        try DatabaseFile(path: file).checkIsAlone()
        let key = try session.keys.key(key.request(.new), subject: file)
        guard !dryRun else {
            session.reporter.result(
                ["path": file, "changed": false, "dry_run": true, "code": 0],
                text: ["\(file): would be created, encrypted; nothing was changed"])
            return .done
        }
        try trail(session).record(file, .changed(from: nil, to: key)) { _ in
            try make(file, session.configuration(key.database, cipher.settings))
            return true
        }
        session.reporter.result(
            ["path": file, "changed": true, "code": 0],
            text: ["\(file): created, encrypted, verified by opening it again"])
        return .done
    }

    /// Returns true for the errors of a program that has made its own database of the empty file.
    private func isOfOtherDatabase(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return false }
        return error.encryptionFailure != nil || error.resultCode.primaryResultCode == .SQLITE_BUSY
    }

    private func make(_ path: String, _ configuration: Configuration) throws {
        let file = try NewFile(path)
        do {
            try DatabaseQueue(path: path, configuration: configuration).close()
            // Verify with a separate connection, which has only the file and the key.
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            let tables = try queue.read { db in
                try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master")
            }
            try queue.close()
            guard tables == 0, try DatabaseFile(path: path).inspect().kind == .encrypted else {
                throw Failure(
                    .internalError, "not_encrypted", "The new file failed its check, and was removed."
                )
            }
            try file.publish()
        } catch {
            if file.isEmpty || !isOfOtherDatabase(error) { file.remove() }
            throw error
        }
    }
}
