internal import ArgumentParser
internal import Glibc

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
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check the chain of an audit log.",
        usage: "coffer audit verify <file> [--last <hash>] [options]",
        discussion: """
            Each record carries the hash of the one before. A record that was changed, added or taken out \
            breaks the chain, and a file without a record is no log (exit code 65). That records are missing \
            at the end shows only by the hash of the last one: keep it elsewhere, and give it with --last \
            (exit code 1 unless it is in the log).

            A chain without a secret needs nothing to be computed anew: it shows accidents and careless \
            changes, and says nothing against somebody who can write to the log and means to forge it. A log \
            that was written with --audit-key-file, or another of these options, can be continued and \
            checked only with its secret; with another one, or with none, the answer is 77.

            EXAMPLES
              coffer audit verify /var/log/coffer.log
              coffer audit verify /var/log/coffer.log --audit-key-file audit.key
            """)

    static let title = "audit verify"

    @Argument(help: "The log.", completion: .file())
    var file: String

    @Option(help: ArgumentHelp("The hash of a record that must be there.", valueName: "hash"))
    var last: String?

    @OptionGroup(title: "The secret of the log")
    var secret: AuditKeyOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func run(in session: Session) throws -> ExitStatus {
        session.reporter.start([.init("files", .strings([file]))])
        let descriptor = try Descriptor.reading(file, name: "The audit log '\(file)'")
        var chain = AuditChain(seal: try secret.seal(session))
        var isThere = last == nil
        do {
            // Not while a record is half written.
            _ = Retry.onInterrupt { flock(descriptor.number, LOCK_SH) }
            try chain.add(linesOf: descriptor) { hash, _ in if hash == last { isThere = true } }
        } catch let error as SystemError {
            throw Failure(error, "The audit log '\(file)' cannot be read")
        }
        if let problem = chain.finding { throw Failure(problem, log: file) }
        session.reporter.result(
            try [
                .init("path", .string(file)), .init("records", .count(chain.recordCount)),
                .init("torn_lines", .count(chain.tornLineCount)), .init("keyed", .bool(secret.isGiven)),
                .init("last_hash", .string(chain.lastHash)), .init("code", .count(isThere ? 0 : 1)),
            ],
            text: try lines(chain, isThere), isAnswer: true)
        return isThere ? .done : .answerIsNo
    }

    private func lines(_ chain: AuditChain, _ isThere: Bool) throws -> [String] {
        let records = TextLayout.counted(chain.recordCount, "record", "records")
        var lines = [
            "\(file): \(isThere ? "whole" : "the record is not there: the end of the log was removed") "
                + "(\(records))"
        ]
        lines.append("  last hash: \(chain.lastHash)")
        if chain.tornLineCount > 0 {
            lines.append(
                "  \(TextLayout.counted(chain.tornLineCount, "torn line", "torn lines")), as a crash "
                    + "leaves: a record may be lost there"
            )
        }
        if try !secret.isGiven {
            lines.append(
                "  chained without a secret: whoever can write to the log can compute the chain anew")
        }
        return lines
    }
}
