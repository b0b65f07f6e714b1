internal import Coffer

/// A work that gives content another form, in its place or in a new file, and how it is told.
struct Conversion {
    /// The file, as the user named it.
    let source: String
    /// Nil where the result takes the place of the file.
    let destination: String?
    /// What was done, as in "encrypted", and "would be" with it.
    let word: String
    /// More about the file as it was: a line for people, and members for programs.
    var remark: String?
    var facts: [JSONValue.Member] = []
    /// What is said when there is nothing to do.
    let alreadyWord: String
    /// Looks for damage in the source, for a failure that does not tell its reason; nil where there is no way to.
    var examine: (() throws -> DatabaseFile.Verification)?
    let makePlan: () throws -> DatabaseFile.ConversionPlan
    let work:
        (_ options: DatabaseFile.ConversionOptions, _ progress: @escaping DatabaseFile.ProgressFunction) throws
            -> DatabaseFile.ConversionResult

    private var name: String { destination ?? source }

    func perform(_ options: DatabaseFile.ConversionOptions, isDryRun: Bool, in session: Session, _ trail: AuditTrail) throws {
        if isDryRun { try tellPlan(session.reporter) } else { try run(options, in: session, trail) }
    }

    private func tellPlan(_ reporter: Reporter) throws {
        let plan = try makePlan()
        let details: [JSONValue.Member] = [
            .init("dry_run", true), .init("changed", false), .init("already_done", .bool(plan.isAlreadyDone)),
            .init("format", plan.format.map { .count($0) } ?? .null), .init("size", .int(plan.size)),
            .init("required_space", .int(plan.requiredSpace)), .init("available_space", .int(plan.availableSpace)),
            .init("steps", .strings(plan.steps)), .init("leftovers", .strings(plan.leftovers)), .init("code", 0),
        ]
        let facts = names + self.facts + details
        guard !plan.isAlreadyDone else {
            reporter.result(facts, text: ["\(name): \(alreadyWord); nothing would be done"], isAnswer: true)
            return
        }
        let room = "needs \(TextLayout.size(plan.requiredSpace)) of \(TextLayout.size(plan.availableSpace)) free"
        reporter.result(
            facts,
            text: ["\(name): would be \(word) (\(room)); nothing was changed"]
                + remarkLines + plan.steps.enumerated().map { "  \($0 + 1). \($1)" }
                + plan.leftovers.map { "  removes what an interrupted run has left: \($0)" }, isAnswer: true)
    }

    private func run(_ options: DatabaseFile.ConversionOptions, in session: Session, _ trail: AuditTrail) throws {
        let result = try session.work(name) { progress in
            var answer: DatabaseFile.ConversionResult?
            try trail.record(name) { entry in
                var options = options
                // Recorded before the work counts as completed, so that a crash in between is not lost to the log.
                options.audit = { result in try entry.end(isChanged: result.isChanged, Conversion.evidence(result)) }
                let result = try examined { try work(options, progress) }
                answer = result
                try entry.end(isChanged: result.isChanged, Conversion.evidence(result))
                return result.isChanged
            }
            guard let answer else { throw Failure(.internalError, "internal", "The work gave no result.") }
            return answer
        }
        tell(result, session.reporter)
    }

    /// The engine does not say that a page is damaged when it meets one while it copies pages.
    private func examined<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error where Failure(error).status == .internalError || Failure(error).reason == "damaged" {
            guard let findings = try? examine?(), !findings.isIntact else { throw error }
            throw DatabaseFileError(.damaged(pages: findings.damagedPages), path: source)
        }
    }

    private var remarkLines: [String] { remark.map { ["  " + $0] } ?? [] }

    private var names: [JSONValue.Member] {
        var names: [JSONValue.Member] = [.init("path", .string(source))]
        if let destination { names.append(.init("destination", .string(destination))) }
        return names
    }

    private static func evidence(_ result: DatabaseFile.ConversionResult) -> [JSONValue.Member] {
        guard let proof = result.proof else { return [] }
        return [
            .init("pages", .count(proof.pageCount)), .init("tables", .count(proof.tableCount)), .init("rows", .count(proof.rowCount)),
            .init("salt_before", .optional(proof.saltBefore)), .init("salt_after", .optional(proof.saltAfter)),
            .init("old_key_id", .optional(proof.oldKeyID)), .init("new_key_id", .optional(proof.newKeyID)),
            .init("content_digest", .string(proof.contentDigest)),
        ]
    }

    private func tell(_ result: DatabaseFile.ConversionResult, _ reporter: Reporter) {
        var facts = names + self.facts
        facts.append(.init("changed", .bool(result.isChanged)))
        facts.append(.init("resumed", .bool(result.isResumed)))
        if let kept = result.keptOldPath { facts.append(.init("kept_old", .string(kept))) }
        facts += Conversion.evidence(result)
        facts.append(.init("code", 0))
        let resumed = result.isResumed ? ", after an interrupted run" : ""
        guard result.isChanged, let proof = result.proof else {
            reporter.result(facts, text: ["\(name): \(alreadyWord)\(resumed); nothing was done"])
            return
        }
        let size = TextLayout.size(Int64(proof.pageCount) * Int64(proof.pageSize))
        let time = TextLayout.seconds(.milliseconds(Int64(result.duration * 1000)))
        var lines = [
            "\(name): \(word)\(resumed) (\(TextLayout.counted(proof.tableCount, "table", "tables")), "
                + "\(TextLayout.counted(proof.rowCount, "row", "rows")), \(size), \(time))"
        ]
        lines += remarkLines
        lines.append("  proved: it opens again, it is whole, and its content is the same")
        if let kept = result.keptOldPath { lines.append("  the file as it was: \(kept)") }
        reporter.result(facts, text: lines)
    }
}
