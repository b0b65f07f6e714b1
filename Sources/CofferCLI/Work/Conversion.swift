internal import Coffer

/// A change to the content of a file, together with its report.
struct Conversion {
    let source: String
    /// The file as the user named it, if that differs from its path.
    let label: String?
    let work: DatabaseFile.Work
    var options: DatabaseFile.ConversionOptions
    /// Details about the file before the change: a line of text, and members for JSON.
    var remark: String?
    var facts: JSONObject = [:]
    /// The destination to report, if a plan examines another one.
    var place: String?
    /// Called after the work and before the report.
    var whenDone: @Sendable (DatabaseFile.ConversionResult) -> Void = { _ in }
    /// The keys that open the result, and the file that it replaces.
    let keys: KeyPassage

    init(
        _ source: String, label: String? = nil, _ work: DatabaseFile.Work, cipher: CipherSettings? = nil,
        keys: KeyPassage = .unknown, companion: KeyringOfCopy? = nil, keepOldPath: String? = nil,
        in session: Session
    ) {
        (self.source, self.label, self.work, self.keys) = (source, label, work, keys)
        options = DatabaseFile.ConversionOptions()
        if let cipher { options.cipher = cipher }
        options.companion = companion
        options.keepOldPath = keepOldPath
        options.lockTimeout = session.lockTimeout
    }

    private var file: DatabaseFile { DatabaseFile(path: source) }
    private var target: String { work.destination ?? source }
    private var destination: String? { place ?? work.destination }
    private var name: String { destination ?? label ?? source }

    /// Returns true if anything was changed.
    @discardableResult
    func perform(isDryRun: Bool, in session: Session, _ trail: AuditTrail) throws -> Bool {
        do {
            guard isDryRun else { return try run(in: session, trail) }
            try tell(plan(), session.reporter)
            return false
        } catch let error where Failure(error).reason == "no_key" {
            // The source of an encryption has no key until then.
            throw Failure(
                .keyRejected, "wrong_key",
                "The file is encrypted already, and the key does not open it. Another key: 'coffer rotate'."
            ).about(source)
        }
    }

    /// Tries the keys and checks whether the work is possible, without changing anything.
    func plan() throws -> DatabaseFile.ConversionPlan { try file.plan(work, options: options) }

    func tell(_ plan: DatabaseFile.ConversionPlan, _ reporter: Reporter) {
        let details: JSONObject = [
            "dry_run": true, "changed": false, "already_done": plan.isAlreadyDone,
            "format": plan.format, "size": plan.size,
        ]
        reporter.result(
            names, facts, details, plan.outlineFacts,
            text: plan.isAlreadyDone
                ? ["\(name): \(work.alreadyWord); nothing would be done"]
                : ["\(name): would be \(work.word) (\(plan.room)); nothing was changed"] + remarkLines
                    + plan.lines, isAnswer: true)
    }

    private func run(in session: Session, _ trail: AuditTrail) throws -> Bool {
        let result = try session.work(name) { progress in
            try trail.recordProof(target, keys) { audit in
                var options = options
                options.audit = audit
                return try examined { [options] in
                    try file.perform(work, options: options, progress: progress)
                }
            }
        }
        whenDone(result)
        tell(result, session.reporter)
        return result.isChanged
    }

    /// Runs `body`, and examines the source if it fails: the engine does not report a damaged page that it
    /// meets while copying pages.
    private func examined<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error where Failure(error).status == .internalError || Failure(error).reason == "damaged"
        {
            guard let findings = try? examine(), !findings.isIntact else { throw error }
            throw DatabaseFileError(.damaged(pages: findings.damagedPages), path: source)
        }
    }

    /// Looks for damage in the source. Returns nil for an upgrade, which has only detected the format of the
    /// older file.
    private func examine() throws -> DatabaseFile.Verification? {
        var verification = DatabaseFile.VerificationOptions()
        verification.cipher = options.cipher
        switch work {
        case .upgrade: return nil
        case .encrypt: return try file.verify(key: nil)
        case .decrypt(_, let key): return try file.verify(key: key, options: verification)
        case .vacuum(let key), .backup(_, let key, _), .datedBackup(_, let key, _),
            .streamedBackup(_, let key, _, _), .restore(_, let key, _), .copy(_, let key, _):
            return try file.verify(key: key, options: verification)
        }
    }

    private var remarkLines: [String] { remark.map { ["  " + $0] } ?? [] }

    private var names: JSONObject {
        var names: JSONObject = ["path": label ?? source]
        if let destination { names += ["destination": destination] }
        return names
    }

    private func tell(_ result: DatabaseFile.ConversionResult, _ reporter: Reporter) {
        // Standard output carries the backup itself.
        if case .streamedBackup = work {
            return reporter.note("\(source): proved, and copied to the standard output")
        }
        var (name, names) = (name, names)
        if case .datedBackup = work {
            name = result.path
            names = ["path": label ?? source, "destination": name]
        }
        let facts = JSONObject(
            names, self.facts, ["changed": result.isChanged, "resumed": result.isResumed], result.keptFacts,
            result.evidence, ["code": 0])
        guard result.isChanged, let proof = result.proof else {
            let words = "\(name): \(work.alreadyWord)\(result.resumption); nothing was done"
            return reporter.result(facts, text: [words])
        }
        let size = TextLayout.size(Int64(proof.pageCount) * Int64(proof.pageSize))
        reporter.result(
            facts,
            text: [
                "\(name): \(work.word)\(result.resumption) (\(counted: proof.tableCount, "table"), "
                    + "\(counted: proof.rowCount, "row"), \(size), \(result.time))"
            ] + remarkLines + [
                "  proved: it opens again, its pages and b-trees are intact, its content is the same"
            ] + (result.keptOldPath.map { ["  the old file: \($0)"] } ?? []))
    }
}

extension DatabaseFile.ConversionResult: FileResult {
    var madePath: String? { path }

    var evidence: JSONObject {
        guard let proof else { return [:] }
        return [
            "pages": proof.pageCount, "tables": proof.tableCount, "rows": proof.rowCount,
            "salt_before": proof.saltBefore, "salt_after": proof.saltAfter, "old_key_id": proof.oldKeyID,
            "new_key_id": proof.newKeyID, "content_digest": proof.contentDigest,
        ]
    }
}

extension DatabaseFile.Work {
    /// The participle for reports, as in "encrypted" and "would be encrypted".
    fileprivate var word: String {
        switch self {
        case .encrypt: "encrypted"
        case .decrypt: "decrypted"
        case .upgrade: "upgraded to format 4"
        case .vacuum: "compacted"
        case .backup, .datedBackup, .streamedBackup: "copied"
        case .restore: "restored"
        case .copy: "copied without free pages"
        }
    }

    /// The phrase to report if there is nothing to do.
    fileprivate var alreadyWord: String {
        switch self {
        case .encrypt: "is already encrypted"
        case .decrypt: "is already plaintext"
        case .upgrade: "already has format 4"
        case .vacuum, .backup, .datedBackup, .streamedBackup, .restore, .copy: "already exists"
        }
    }
}

extension Conversion {
    /// Collects the facts about the file before the vacuum, for the report.
    mutating func lookBefore(_ key: DatabaseKey) throws {
        let before = try DatabaseFile(path: source).inspect(
            key: key, cipher: options.cipher, lockTimeout: options.lockTimeout)
        let free = TextLayout.counted(before.freePageCount, "free page")
        remark = "before: \(free) of \(grouped: before.pageCount)"
        facts = ["pages_before": before.pageCount, "free_pages_before": before.freePageCount]
    }
}
