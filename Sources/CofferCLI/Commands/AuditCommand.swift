internal import ArgumentParser
internal import Foundation

struct AuditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Work with audit logs.",
        usage: "coffer audit verify <file> [options]",
        subcommands: [AuditVerifyCommand.self])

    func run() throws { throw ValidationError("Give a command: coffer audit verify.") }
}

struct AuditVerifyCommand: Operation {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check the chain of an audit log.",
        usage: "coffer audit verify <file> [--last <hash>] [options]",
        discussion: """
            Each record carries the hash of the one before: a record that was changed, added or taken out breaks the chain (exit code 65). \
            That records are missing at the end shows only by the hash of the last one: keep it elsewhere, and give it with --last \
            (exit code 1 unless it is in the log).

            EXAMPLES
              coffer audit verify /var/log/coffer.log
            """)

    static let title = "audit verify"

    @Argument(help: "The log.", completion: .file())
    var file: String

    @Option(help: ArgumentHelp("The hash of a record that must be there.", valueName: "hash"))
    var last: String?

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func run(in session: Session) throws -> ExitStatus {
        session.reporter.start([.init("files", .strings([file]))])
        let descriptor = try Descriptor.reading(file, name: "The audit log '\(file)'")
        let text: String
        do throws(SystemError) {
            let size = try descriptor.status().st_size
            text = String(decoding: try descriptor.read(count: Int(size)), as: UTF8.self)
        } catch {
            throw Failure(error, "The audit log '\(file)' cannot be read")
        }
        let chain = try AuditChain(text)
        if let broken = chain.brokenLine {
            throw Failure(.badData, "broken_chain", "The chain of '\(file)' is broken at line \(broken).")
        }
        let isThere = last.map { chain.hashes.contains($0) } ?? true
        session.reporter.result(
            [
                .init("path", .string(file)), .init("records", .count(chain.hashes.count)),
                .init("torn_lines", .count(chain.tornLineCount)),
                .init("last_hash", .optional(chain.hashes.last)), .init("code", .count(isThere ? 0 : 1)),
            ],
            text: [
                "\(file): \(isThere ? "whole" : "the record is not there: the end of the log was removed") "
                    + "(\(TextLayout.counted(chain.hashes.count, "record", "records")))",
                "  last hash: \(chain.hashes.last ?? "none")",
            ], isAnswer: true)
        return isThere ? .done : .answerIsNo
    }
}

/// What the lines of a log prove.
struct AuditChain {
    private(set) var hashes: [String] = []

    /// Lines that were not written to their end, as a crash leaves them. The record after one vouches for it.
    private(set) var tornLineCount = 0

    /// The first line that does not fit, from 1 on.
    private(set) var brokenLine: Int?

    init(_ text: String) throws(Failure) {
        var previous = AuditRecord.firstPrevious
        var sequence = 0
        var torn: (digest: String, line: Int)?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: true).enumerated() {
            guard let record = try AuditRecord(line: line) else {
                // Two in a row, or one that the next record does not know, is no accident.
                guard torn == nil else {
                    brokenLine = index
                    return
                }
                torn = (try AuditRecord.digest(line), index + 1)
                continue
            }
            let expected = torn?.digest ?? previous
            guard record.previous == expected, record.sequence == sequence + 1, record.followsTornLine == (torn != nil) else {
                brokenLine = torn?.line ?? index + 1
                return
            }
            if torn != nil { tornLineCount += 1 }
            torn = nil
            previous = record.hash
            sequence = record.sequence
            hashes.append(record.hash)
        }
        if torn != nil { tornLineCount += 1 }
    }
}
