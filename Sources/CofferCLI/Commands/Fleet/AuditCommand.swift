internal import ArgumentParser

struct AuditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Work with audit logs.",
        usage: "coffer audit verify|find-key <file>... [options]",
        subcommands: [AuditVerifyCommand.self, AuditFindKeyCommand.self])

    func run() throws {
        throw ValidationError("Give a command: coffer audit verify, or coffer audit find-key.")
    }
}

struct AuditVerifyCommand: Operation {
    static let configuration = CommandConfiguration.coffer(
        "audit verify <file> [--last <hash>] [options]", abstract: "Check the chain of an audit log.",
        discussion: """
            Each record contains the hash of the previous one. A changed, added or removed record breaks the \
            chain, and a file without records is not a log (exit code 65). Records removed at the end are \
            detected only by the hash of the last one: keep it elsewhere, and give it with --last (exit code \
            1 if it is not in the log).

            A chain without a secret can be recomputed by anyone who can write to the log: it shows \
            accidents, but not forgery. A log written with --audit-key can be \
            continued and checked only with its secret; a wrong or missing secret gives exit code 77.

            EXAMPLES
              coffer audit verify /var/log/coffer.log
              coffer audit verify /var/log/coffer.log --audit-key file:audit.key
            """)

    @Argument(help: "The log.", completion: .file())
    var file: String

    @Option(help: .value("hash", "The hash of a record that must be in the log."))
    var last: String?

    @OptionGroup(title: "The audit key")
    var secret: AuditKeyOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func run(in session: Session) throws -> ExitStatus {
        session.reporter.start(["files": [file]])
        var isThere = last == nil
        let chain = try AuditChain(log: file, seal: secret.seal(session.keys)) { hash, _ in
            if hash == last { isThere = true }
        }
        session.reporter.result(
            [
                "path": file, "records": chain.recordCount, "torn_lines": chain.tornLineCount,
                "keyed": chain.isSealed, "last_hash": chain.lastHash, "code": isThere ? 0 : 1,
            ], text: lines(chain, isThere), isAnswer: true)
        return isThere ? .done : .answerIsNo
    }

    private func lines(_ chain: AuditChain, _ isThere: Bool) -> [String] {
        let state = isThere ? "intact" : "the record is missing: the end of the log was removed"
        let torn =
            "\(counted: chain.tornLineCount, "torn line"), as after a crash: a record may be lost there"
        let warning = "chained without a secret: anyone who can write to the log can recompute the chain"
        return [
            "\(file): \(state) (\(counted: chain.recordCount, "record"))", "  last hash: \(chain.lastHash)",
        ]
            + (chain.tornLineCount > 0 ? ["  " + torn] : []) + (chain.isSealed ? [] : ["  " + warning])
    }
}
