internal import Foundation
internal import SQLCipherBridge

/// The rotation of the key of a closed file.
///
/// What its plan has derived from the keys serves its run.
struct FileRotation {
    let path: String
    let newKey: DatabaseKey
    var options: DatabaseFile.RotationOptions
    private let protections: (before: FileProtection, after: FileProtection)

    /// Asks providers for their keys, and checks the keys and the settings. Nothing is opened.
    init(path: String, oldKey: DatabaseKey, newKey: DatabaseKey, options: DatabaseFile.RotationOptions) throws {
        self.path = path
        self.newKey = newKey
        self.options = options
        do {
            let before = try FileProtection.encrypted(oldKey, cipher: options.cipher)
            let after = try FileProtection.encrypted(newKey, cipher: options.cipher)
            guard !before.hasSameSecret(as: after) else { throw DatabaseFileError(.sameKey, path: path) }
            protections = (before, after)
        } catch {
            throw DatabaseFileError.publicError(error, path: path)
        }
    }

    func run(progress: ProgressReport) throws -> DatabaseFile.RotationResult {
        let start = ContinuousClock.now
        switch options.method {
        case .copy:
            var job = FileRotation.job(path: path, protections.before, protections.after, options)
            job.audit = { proof in try FileRotation.audit(proof, options, path: path, since: start) }
            let result = try FileReplacement(job, progress: progress).run()
            var rotation = FileRotation.result(result.proof, isResumed: result.isResumed, options, since: start)
            rotation.isChanged = result.isChanged
            return rotation
        case .inPlace:
            return try rotateInPlace(protections.before, protections.after, progress, since: start)
        }
    }

    /// By a connection of its own, as a queue does it.
    private func rotateInPlace(
        _ before: FileProtection, _ after: FileProtection, _ progress: ProgressReport, since start: ContinuousClock.Instant
    ) throws -> DatabaseFile.RotationResult {
        do {
            guard options.keepOldPath == nil else {
                throw DatabaseFileError(.unsupported("A rotation in place has no old file to keep."), path: path)
            }
            try checkInPlace()
            do {
                try before.open(path, timeout: options.lockTimeout).closeWithCheckpoint()
            } catch KeyError.encryption(let failure, let code) {
                guard var new = try? after.open(path, timeout: options.lockTimeout) else { throw KeyError.encryption(failure, code: code) }
                new.checkpointsAtEnd = true
                let isResumed = try InPlaceNote.completeInterruptedRun(path, new.handle, after)
                return FileRotation.result(nil, isResumed: isResumed, options, since: start)
            }
            // A journal of a first transaction may have been played back. The queue would make a new database of what is left.
            try ExaminedFile.checkIsNotEmpty(path, ExaminedFile.regularFile(path))
            var configuration = Configuration()
            configuration.key = before.ring?.keys[0]
            configuration.cipher = options.cipher
            configuration.busyMode = .timeout(options.lockTimeout)
            configuration.pageCacheSize = 0
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            defer { try? queue.close() }
            return try queue.inDatabase { db in
                try db.rotateKey(to: newKey, options: options, progress: progress)
            }
        } catch {
            throw DatabaseFileError.publicError(error, path: path)
        }
    }

    /// What a rotation in the file itself needs to know before.
    @discardableResult
    private func checkInPlace() throws(DatabaseFileError) -> FileStatus {
        let status = try ExaminedFile.regularFile(path)
        try ExaminedFile.checkIsNotEmpty(path, status)
        guard path.utf8.count + "-journal".utf8.count < 512 else { throw DatabaseFileError(.pathTooLong, path: path) }
        try FileUsers.waitForNone(of: status, path, timeout: options.lockTimeout)
        return status
    }

    func plan() throws -> DatabaseFile.RotationPlan {
        do {
            let size: Int64
            let room: (required: Int64, available: Int64)
            var examined: ExaminedFile?
            switch options.method {
            case .copy:
                let file = try ExaminedFile(
                    FileRotation.job(path: path, protections.before, protections.after, options), progress: ProgressReport(nil))
                examined = file
                (size, room) = (file.room.size, (file.room.required, file.room.available))
            case .inPlace:
                size = try checkInPlace().size
                // The journal has each page once.
                room = (size, try SystemFile.availableSpace(SystemFile.directory(of: path)))
            }
            let (opened, isAlreadyRotated) = try SteadyLook.look(into: path) { try open() }
            if !isAlreadyRotated { try examined?.checkKeptPath() }
            guard let handle = opened.handle else { throw DatabaseFileError(.damaged(pages: [1]), path: path) }
            let header = try PageFile(opened.view, opened.protection).content(1)
            return try DatabaseFile.RotationPlan(
                isAlreadyRotated: isAlreadyRotated, method: options.method, size: size,
                pageCount: Int(handle.firstText(trusted: "PRAGMA main.page_count") ?? "") ?? 0, requiredSpace: room.required,
                availableSpace: room.available, journalMode: header.count > 19 && header[19] == 2 ? "wal" : "delete",
                leftovers: ReplacementNames.leftovers(of: path), steps: steps(isAlreadyRotated: isAlreadyRotated))
        } catch {
            throw DatabaseFileError.publicError(error, path: path)
        }
    }

    /// Opens the file with the old key, or with the new one when an earlier run has done its work.
    private func open() throws -> (OpenedView, isAlreadyRotated: Bool) {
        do {
            return (try OpenedView(path, protections.before, timeout: options.lockTimeout), false)
        } catch KeyError.encryption(let failure, let code) {
            guard let new = try? OpenedView(path, protections.after, timeout: options.lockTimeout) else {
                throw KeyError.encryption(failure, code: code)
            }
            return (new, true)
        }
    }

    private func steps(isAlreadyRotated: Bool) -> [String] {
        if isAlreadyRotated { return ["Nothing: the file has the new key. Leftovers of an interrupted run are removed."] }
        var steps = [
            "Open the file with the old key, which plays back what an interrupted process has left.",
            "Leave the WAL mode, prove that nobody else has the file open, and keep others from writing.",
        ]
        switch options.method {
        case .copy:
            steps += [
                "Copy all pages into a new file beside it, with the new key and a fresh salt, and the owner, mode and attributes of the file.",
                "Prove on a new connection that the copy has the same content, is whole, and does not open with the old key.",
                "Make the copy permanent, and put it in the place of the file in one step.",
            ]
            if let kept = options.keepOldPath { steps.insert("Give the old file the name \(kept).", at: 4) }
        case .inPlace:
            steps += [
                "Encrypt the pages of the file with the new key, with a journal, and close the connection.",
                "Prove on a new connection that the file has the same content, and is whole.",
            ]
        }
        return steps + ["Open the file with the new key, and set its journal mode again."]
    }

    /// The job of a rotation by copy, of a closed file.
    static func job(
        path: String, _ before: FileProtection, _ after: FileProtection, _ options: DatabaseFile.RotationOptions
    ) -> ReplacementJob {
        ReplacementJob(
            operation: .rotate, path: path, before: before, after: after, lockTimeout: options.lockTimeout,
            keepOldPath: options.keepOldPath, makeCopy: PageCopy.run, compare: PageProof.run)
    }

    /// Has a result recorded, and turns a failure of that into the error that says so.
    static func audit(
        _ proof: ReplacementProof, _ options: DatabaseFile.RotationOptions, path: String, since start: ContinuousClock.Instant
    ) throws {
        do {
            try options.audit?(result(proof, isResumed: false, options, since: start))
        } catch {
            var failure = DatabaseFileError(.auditFailed("\(error)"), path: path)
            failure.isPublished = true
            throw failure
        }
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
