internal import Foundation
internal import SQLCipherBridge

/// The rotation of the key of a closed file.
struct FileRotation {
    let path: String
    let oldKey: DatabaseKey
    let newKey: DatabaseKey
    let options: DatabaseFile.RotationOptions

    func run(progress: ProgressReport) throws -> DatabaseFile.RotationResult {
        let start = ContinuousClock.now
        let protections = try protections()
        switch options.method {
        case .copy:
            var job = FileRotation.job(path: path, protections.before, protections.after, options)
            if let audit = options.audit {
                job.audit = { proof in try audit(FileRotation.result(proof, isResumed: false, options, since: start)) }
            }
            let result = try FileReplacement(job, progress: progress).run()
            var rotation = FileRotation.result(result.proof, isResumed: result.isResumed, options, since: start)
            rotation.isChanged = result.isChanged
            return rotation
        case .inPlace:
            throw DatabaseFileError(.unsupported("Not there yet."), path: path)
        }
    }

    func plan() throws -> DatabaseFile.RotationPlan { throw DatabaseFileError(.unsupported("Not there yet."), path: path) }

    private func protections() throws -> (before: FileProtection, after: FileProtection) {
        do {
            let before = try FileProtection.encrypted(oldKey, cipher: options.cipher)
            let after = try FileProtection.encrypted(newKey, cipher: options.cipher)
            guard !before.hasSameSecret(as: after) else { throw DatabaseFileError(.sameKey, path: path) }
            return (before, after)
        } catch {
            throw DatabaseFileError.publicError(error, path: path)
        }
    }

    /// The job of a rotation by copy, of a closed file.
    static func job(
        path: String, _ before: FileProtection, _ after: FileProtection, _ options: DatabaseFile.RotationOptions
    ) -> ReplacementJob {
        ReplacementJob(
            operation: .rotate, path: path, before: before, after: after, lockTimeout: options.lockTimeout,
            keepOldPath: options.keepOldPath, makeCopy: PageCopy.run,
            compare: { work in
                try PageComparison(
                    source: .init(handle: work.source, protection: work.before),
                    copy: .init(handle: work.copy, protection: work.after), path: work.path
                ).run(progress: work.progress).digest
            })
    }

    static func result(
        _ proof: ReplacementProof?, isResumed: Bool, _ options: DatabaseFile.RotationOptions, since start: ContinuousClock.Instant
    ) -> DatabaseFile.RotationResult {
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        return DatabaseFile.RotationResult(
            isChanged: proof != nil, isResumed: isResumed, proof: proof.map(DatabaseFile.RotationProof.init),
            keptOldPath: proof == nil ? nil : options.keepOldPath, duration: TimeInterval(seconds) + TimeInterval(attoseconds) / 1e18)
    }
}

extension DatabaseFile.RotationProof {
    /// A copy that did not prove all of this has not taken the place of the file.
    fileprivate init(_ proof: ReplacementProof) {
        self.init(
            pageCount: proof.pageCount, pageSize: proof.pageSize, saltBefore: proof.saltBefore?.hexadecimal ?? "",
            saltAfter: proof.saltAfter?.hexadecimal ?? "", isOldKeyRejected: true, isNewKeyAccepted: true, isIntegrityClean: true,
            isContentEqual: true, contentDigest: proof.contentDigest, oldKeyID: proof.oldKeyID ?? "", newKeyID: proof.newKeyID ?? "")
    }
}
