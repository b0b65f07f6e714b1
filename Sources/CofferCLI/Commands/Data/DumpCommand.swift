internal import ArgumentParser
internal import Coffer

struct DumpCommand: FileOperation {
    static let configuration = CommandConfiguration.coffer(
        "dump <file> [<table>...] [options]", abstract: "Write a database as an SQL script.",
        discussion: """
            The script creates the same content in any SQLite, byte for byte, with all row IDs, versions, \
            sequences, and the tables of virtual tables. It is one snapshot, even while other processes \
            write. Its last line has a digest of the content, with which coffer load proves its result; a \
            script that could not be completed ends with a ROLLBACK.
            With tables, the script has only these, with their rows, indexes and triggers, and the content \
            of virtual ones. It can also run in a database that has other tables, so it has no \
            digest and no versions.
            The script is readable without a key. It goes to the standard output, like the rows of a query; \
            a file needs --yes-plaintext, and is readable by you only.

            EXAMPLES
              coffer dump app.db --key file:app.key | coffer load copy.db --key file:next.key
              coffer dump app.db --key file:app.key --out app.sql --yes-plaintext
              coffer dump app.db note tag --key file:app.key
            """)

    @Argument(help: "The database.", completion: .file())
    var file: String

    @Argument(help: .value("table", "Tables; all content if none is given."))
    var tables: [String] = []

    @Option(help: .value("script", "Write into a new file."), completion: .file())
    var out: String?

    @Option(name: .customLong("table"), help: .hidden)
    var tableOptions: [String] = []

    @Flag(help: "Confirm that the file is readable without a key.")
    var yesPlaintext = false

    @OptionGroup(title: "The key")
    var key: FileKeyOptions

    @OptionGroup(title: "The format of the file")
    var cipher: CipherOptions

    @OptionGroup(title: "The audit log")
    var audit: AuditOptions

    @OptionGroup(title: "Output and waiting")
    var output: OutputOptions

    func validate() throws {
        if out == nil, let script = tables.first(where: { $0.hasSuffix(".sql") }) {
            throw ValidationError(
                "'\(script)' is not the name of a table. For a file, add: --out \(script) --yes-plaintext")
        }
        if out != nil, !yesPlaintext {
            throw ValidationError(
                "The script would be readable without a key. If that is intended, add --yes-plaintext.")
        }
        if let out { try FileNames.checkIsNoDash(out, "the script") }
        if output.json, out == nil {
            throw ValidationError("--json needs --out: the script and JSON cannot share the output.")
        }
    }

    var names: [String] { [file] + (out.map { [$0] } ?? []) }

    func run(in session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        if let out { try NewFile.checkIsNew(out) }
        return try session.keys(key, of: file).open(file, cipher: cipher.settings) { opening in
            try dump(opening, session, trail)
        }
    }

    private func dump(_ opening: FileKey, _ session: Session, _ trail: AuditTrail) throws -> ExitStatus {
        let configuration = session.configuration(opening.database, cipher.settings, readonly: true)
        try trail.record(file, .kept(opening.key)) { entry in
            let queue = try ReadableQueue.open(file, configuration)
            let summary = try session.interruption.cooperatively(onSignal: { queue.interrupt() }) {
                () -> ScriptSummary? in
                do {
                    return try queue.unsafeRead { db in try write(db, session) }
                } catch is OutputClosed {
                    return nil
                }
            }
            try queue.close()
            guard let summary else { return false }
            warn(of: summary.needs, session.reporter)
            try entry.end(isChanged: false, summary.facts)
            guard let out else { return false }
            session.reporter.result(
                ["path": file, "destination": out, "changed": true], summary.facts, ["code": 0],
                text: ["\(out): written (\(summary.counts)), readable by you only, without a key"])
            return false
        }
        return .done
    }

    private func write(_ db: Database, _ session: Session) throws -> ScriptSummary {
        guard let out else { return try write(db, session) { session.reporter.raw(bytes: $0) } }
        let target = try NewFile(out, comesWhole: true)
        do {
            let summary = try write(db, session) { try target.write(bytes: $0) }
            try target.publish()
            return summary
        } catch {
            target.remove()
            throw error
        }
    }

    private func write(_ db: Database, _ session: Session, _ write: @escaping ([UInt8]) throws -> Void) throws
        -> ScriptSummary
    {
        var hasBegun = false
        let tables = tables + tableOptions
        do {
            let summary = try db.writeScript(tables: tables.isEmpty ? nil : tables) {
                if out == nil, !hasBegun { warnOfReaders(session.reporter) }
                hasBegun = true
                try write($0)
                try session.reporter.checkOutput()
                if session.reporter.isOutputClosed { throw OutputClosed() }
            } checkpoint: {
                try session.interruption.check()
                session.reporter.progress(
                    ProgressState(path: file, phase: "writing", completed: 0, total: 0, unit: "rows"))
            }
            if tables.isEmpty { try write(Array("\(ScriptProof.line(summary.digest))\n".utf8)) }
            return summary
        } catch let error as NoSuchTable {
            throw Failure.noSuchTable(error.name, in: file)
        } catch {
            // A shell that runs the partial script then rolls everything back.
            if hasBegun { try? write(Array("\nROLLBACK; -- the script is not complete\n".utf8)) }
            guard error is DatabaseError else { throw error }
            throw Failure(ofContent: error)
        }
    }

    /// Warns if the script depends on functions or modules that only the application provides.
    private func warn(of needs: [String], _ reporter: Reporter) {
        guard !needs.isEmpty else { return }
        reporter.warning(
            "The script needs definitions of the application: \(needs.joined(separator: ", ")). "
                + "'coffer load' and other shells cannot run it; a program that adds these can.")
    }

    /// Warns if standard output is a file that other users can read, because the shell created it.
    private func warnOfReaders(_ reporter: Reporter) {
        guard let mode = SecretOutput.modeForOthers else { return }
        reporter.warning(
            "The script goes to a file that others can read (mode \(mode)), without a key. --out FILE "
                + "--yes-plaintext creates one that only you can read.")
    }
}

extension Failure {
    /// - Parameter file: the database, or nil if there can be no other.
    static func noSuchTable(_ name: String, in file: String?) -> Failure {
        Failure(
            .answerIsNo, "no_such_table",
            "There is no table '\(name)'\(file.map { " in '\($0)'" } ?? "").")
    }
}
