internal import Coffer

/// The key rotation of one file, together with its report.
struct KeyRotation {
    let path: String
    /// The file, as the user named it.
    let name: String
    let old: Key
    let new: Key
    let options: DatabaseFile.RotationOptions

    private var file: DatabaseFile { DatabaseFile(path: path) }

    /// True if the new key opens the file.
    var hasNewKey: Bool {
        (try? file.inspect(key: new.database, cipher: options.cipher, lockTimeout: options.lockTimeout))
            != nil
    }

    func plan(in session: Session) throws {
        let plan = try file.rotationPlan(from: old.database, to: new.database, options: options)
        let facts: JSONObject = [
            "path": name, "dry_run": true, "changed": false, "already_rotated": plan.isAlreadyRotated,
            "method": plan.method.rawValue, "size": plan.size, "pages": plan.pageCount,
        ]
        let pages = TextLayout.counted(plan.pageCount, "page")
        session.reporter.result(
            facts, plan.outlineFacts,
            text: plan.isAlreadyRotated
                ? ["\(name): already has the new key; nothing would be done"]
                : ["\(name): would be rotated (\(pages), \(plan.room)); nothing was changed"] + plan.lines,
            isAnswer: true)
    }

    /// Tries the keys without changing anything. Wrong keys are recorded in the same way as by the rotation
    /// itself.
    func prepare(_ trail: AuditTrail) throws -> PreparedRotation {
        do {
            return try file.prepareRotation(from: old.database, to: new.database, options: options)
        } catch {
            try trail.record(path) { _ in throw error }
            throw error
        }
    }

    /// - Parameter prepared: the result of ``prepare(_:)``, if it was called.
    @discardableResult
    func run(_ prepared: PreparedRotation? = nil, in session: Session, _ trail: AuditTrail) throws
        -> DatabaseFile.RotationResult
    {
        let result = try session.work(name) { progress in
            try trail.recordProof(path, .changed(from: old, to: new)) { audit in
                if let prepared { return try prepared.run(audit: audit, progress: progress) }
                var options = options
                options.audit = audit
                return try file.rotate(
                    from: old.database, to: new.database, options: options, progress: progress)
            }
        }
        tell(result, session.reporter)
        return result
    }

    private func tell(_ result: DatabaseFile.RotationResult, _ reporter: Reporter) {
        let facts = JSONObject(
            [
                "path": name, "changed": result.isChanged, "resumed": result.isResumed,
                "seconds": (result.duration * 1000).rounded() / 1000,
            ], result.keptFacts, result.evidence, result.proof?.verdict ?? [:], ["code": 0])
        guard result.isChanged, let proof = result.proof else {
            let words = "\(name): already has the new key\(result.resumption); nothing was done"
            return reporter.result(facts, text: [words])
        }
        let size = TextLayout.size(Int64(proof.pageCount) * Int64(proof.pageSize))
        reporter.result(
            facts,
            text: [
                "\(name): rotated\(result.resumption) (\(counted: proof.pageCount, "page"), \(size), "
                    + "\(result.time))",
                "  proved: the new key opens it, the old one does not, all pages are authentic, the content "
                    + "is the same",
            ] + (result.keptOldPath.map { ["  the file with the old key: \($0)"] } ?? []))
    }
}

extension DatabaseFile.RotationResult: FileResult {
    var madePath: String? { nil }

    var evidence: JSONObject {
        guard let proof else { return [:] }
        return [
            "pages": proof.pageCount, "salt_before": proof.saltBefore, "salt_after": proof.saltAfter,
            "old_key_id": proof.oldKeyID, "new_key_id": proof.newKeyID, "content_digest": proof.contentDigest,
        ]
    }
}

extension DatabaseFile.RotationProof {
    fileprivate var verdict: JSONObject {
        [
            "old_key_rejected": isOldKeyRejected, "new_key_accepted": isNewKeyAccepted,
            "integrity_clean": isIntegrityClean, "content_equal": isContentEqual,
        ]
    }
}
