internal import SQLCipherBridge
internal import SystemCalls

/// The rotation of the key of a closed file.
///
/// Keys that its plan derives are reused when it runs.
struct FileRotation {
    let path: String
    let newKey: DatabaseKey
    var options: DatabaseFile.RotationOptions
    private let change: FileChange

    /// Asks providers for their keys, and checks the keys and the settings. Opens no file.
    init(path: String, oldKey: DatabaseKey, newKey: DatabaseKey, options: DatabaseFile.RotationOptions) throws
    {
        self.path = path
        self.newKey = newKey
        self.options = options
        change = try DatabaseFileError.translated(path) {
            let change = FileChange(
                path: path, before: try .encrypted(oldKey, cipher: options.cipher),
                after: try .encrypted(newKey, cipher: options.cipher))
            guard !change.before.hasSameSecret(as: change.after) else {
                throw DatabaseFileError(.sameKey, path: path)
            }
            guard change.before.ring?.keys.first?.isLocated != true else {
                throw DatabaseFileError(
                    .unsupported(
                        "No slot of the keyring would open the database. Rotate its data key with "
                            + "rotateDataKey, or rotate from its exported key to stop using the keyring."),
                    path: path)
            }
            return change
        }
    }

    func perform(progress: ProgressReport) throws -> DatabaseFile.RotationResult {
        let start = ContinuousClock.now
        switch options.method {
        case .copy:
            var job = FileRotation.job(change, options)
            job.audit = { proof in try FileRotation.audit(proof, options, path: path, since: start) }
            let result = try FileReplacement(job, progress: progress).run()
            var rotation = FileRotation.result(
                result.proof, isResumed: result.isResumed, options, since: start)
            rotation.isChanged = result.isChanged
            return rotation
        case .inPlace:
            return try DatabaseFileError.translated(path) { try rotateInPlace(progress, since: start) }
        }
    }

    /// Rotates in place through a connection of its own, as a queue does.
    private func rotateInPlace(_ progress: ProgressReport, since start: ContinuousClock.Instant) throws
        -> DatabaseFile.RotationResult
    {
        guard options.keepOldPath == nil else {
            throw DatabaseFileError(.unsupported("A rotation in place has no old file to keep."), path: path)
        }
        try checkInPlace()
        try SystemFile.checkIsWritable(path)
        do {
            try change.before.open(path, timeout: options.lockTimeout).closeWithCheckpoint()
        } catch KeyError.encryption(let failure, let code) {
            guard var new = try? change.after.open(path, timeout: options.lockTimeout) else {
                throw KeyError.encryption(failure, code: code)
            }
            new.checkpointsAtEnd = true
            let isResumed = try InPlaceNote.completeInterruptedRun(path, new.handle, change.after)
            return FileRotation.result(nil, isResumed: isResumed, options, since: start)
        }
        // Rolling back the journal of a first transaction may have left an empty file, in which the queue
        // would create a new database.
        try ExaminedFile.checkIsNotEmpty(path, SystemFile.regularFile(path))
        var configuration = Configuration()
        configuration.key = change.before.ring?.keys[0]
        configuration.cipher = options.cipher
        configuration.busyMode = .timeout(options.lockTimeout)
        configuration.pageCacheSize = 0
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? queue.close() }
        return try queue.inDatabase { db in
            try db.rotateKey(to: newKey, options: options, progress: progress)
        }
    }

    /// Checks the file before a rotation in place.
    @discardableResult
    private func checkInPlace() throws(DatabaseFileError) -> FileStatus {
        let status = try SystemFile.regularFile(path)
        try ExaminedFile.checkIsNotEmpty(path, status)
        guard path.utf8.count + "-journal".utf8.count < 512 else {
            throw DatabaseFileError(.pathTooLong, path: path)
        }
        try FileUsers.waitForNone(of: status, path, timeout: options.lockTimeout)
        return status
    }

    func plan() throws -> DatabaseFile.RotationPlan {
        try DatabaseFileError.translated(path) {
            let size: Int64
            let room: (required: Int64, available: Int64)
            var examined: ExaminedFile?
            switch options.method {
            case .copy:
                let file = try ExaminedFile(FileRotation.job(change, options), progress: ProgressReport(nil))
                examined = file
                (size, room) = (file.room.size, (file.room.required, file.room.available))
            case .inPlace:
                size = try checkInPlace().size
                // The journal contains each page at most once.
                room = (size, try SystemFile.availableSpace(SystemFile.directory(of: path)))
            }
            let (opened, isAlreadyRotated) = try SteadyLook.look(into: path) { try open() }
            if !isAlreadyRotated { try examined?.checkKeptPath() }
            guard let handle = opened.handle else {
                throw DatabaseFileError(.damaged(pages: [1]), path: path)
            }
            let header = try PageFile(opened.view, opened.protection).header()
            return try DatabaseFile.RotationPlan(
                isAlreadyRotated: isAlreadyRotated, method: options.method, size: size,
                pageCount: Int(handle.integer(pragma: "page_count")), requiredSpace: room.required,
                availableSpace: room.available, journalMode: (header?.journalMode ?? .delete).rawValue,
                leftovers: ReplacementNames.leftovers(of: path),
                steps: steps(isAlreadyRotated: isAlreadyRotated))
        }
    }

    /// Opens the file with the old key, or with the new one if an earlier run has completed.
    private func open() throws -> (OpenedView, isAlreadyRotated: Bool) {
        do {
            return (try OpenedView(path, change.before, timeout: options.lockTimeout), false)
        } catch KeyError.encryption(let failure, let code) {
            guard let new = try? OpenedView(path, change.after, timeout: options.lockTimeout) else {
                throw KeyError.encryption(failure, code: code)
            }
            return (new, true)
        }
    }

    private func steps(isAlreadyRotated: Bool) -> [String] {
        if isAlreadyRotated {
            return ["Nothing: the file already has the new key. Leftovers of an interrupted run are removed."]
        }
        var steps = [
            "Open the file with the old key, which rolls back or replays the work of an interrupted process.",
            "Leave WAL mode, verify that no other process has the file open, and keep others from writing.",
        ]
        switch options.method {
        case .copy:
            steps += [
                "Copy all pages into a new file next to it, with the new key and a fresh salt, and the "
                    + "owner, mode and attributes of the file.",
                "Verify on a new connection that the copy has the same content, is intact, and does not open "
                    + "with the old key.",
                "Sync the copy to disk, and replace the file with it in one step.",
            ]
            if let kept = options.keepOldPath { steps.insert("Keep the old file as \(kept).", at: 4) }
        case .inPlace:
            steps += [
                "Encrypt the pages of the file with the new key, protected by a journal, and close the "
                    + "connection.",
                "Verify on a new connection that the file has the same content and is intact.",
            ]
        }
        return steps + ["Open the file with the new key, and restore its journal mode."]
    }

    /// Returns the job for a rotation by copy of a closed file.
    static func job(_ change: FileChange, _ options: DatabaseFile.RotationOptions) -> ReplacementJob {
        ReplacementJob(
            operation: .rotate, change: change, method: PageCopy(threadCount: options.threadCount),
            lockTimeout: options.lockTimeout, keepOldPath: options.keepOldPath)
    }

    /// Calls the audit function with a result, and turns its failure into the error `auditFailed`.
    static func audit(
        _ proof: ReplacementProof, _ options: DatabaseFile.RotationOptions, path: String,
        since start: ContinuousClock.Instant, pause: Duration? = nil
    ) throws {
        do {
            try options.audit?(result(proof, isResumed: false, options, since: start, pause: pause))
        } catch {
            throw DatabaseFileError.published(
                DatabaseFileError(.auditFailed("\(error)"), path: path), path: path)
        }
    }

    static func result(
        _ proof: ReplacementProof?, isResumed: Bool, _ options: DatabaseFile.RotationOptions,
        since start: ContinuousClock.Instant, pause: Duration? = nil
    ) -> DatabaseFile.RotationResult {
        DatabaseFile.RotationResult(
            isChanged: proof != nil, isResumed: isResumed, proof: proof.map(DatabaseFile.RotationProof.init),
            keptOldPath: proof == nil ? nil : options.keepOldPath,
            duration: (ContinuousClock.now - start) / .seconds(1),
            pause: pause.map { $0 / .seconds(1) })
    }
}

extension DatabaseFile.RotationProof {
    /// Creates a proof with all properties set: a copy without one of them has not replaced the file.
    fileprivate init(_ proof: ReplacementProof) {
        self.init(
            pageCount: proof.pageCount, pageSize: proof.pageSize,
            saltBefore: proof.keyBefore?.salt.hexadecimal ?? "",
            saltAfter: proof.keyAfter?.salt.hexadecimal ?? "", isOldKeyRejected: true, isNewKeyAccepted: true,
            isIntegrityClean: true,
            isContentEqual: true, contentDigest: proof.contentDigest, oldKeyID: proof.keyBefore?.id ?? "",
            newKeyID: proof.keyAfter?.id ?? "")
    }
}

/// A rotation whose keys were tried on the file, and that has not changed anything yet.
///
/// Used for work on many files, none of which may be changed before the keys of all are verified. Derived
/// keys are kept until the end of this value's life, so none is derived twice.
package struct PreparedRotation: Sendable {
    private let rotation: FileRotation

    /// The plan of the rotation, with the properties of the file.
    package let plan: DatabaseFile.RotationPlan

    fileprivate init(_ rotation: FileRotation) throws {
        self.rotation = rotation
        plan = try rotation.plan()
    }

    /// Runs the rotation: see ``DatabaseFile/rotate(from:to:options:progress:)``.
    ///
    /// Changes to the file since the preparation are detected as they would be without one.
    package func run(
        audit: (@Sendable (DatabaseFile.RotationResult) throws -> Void)? = nil,
        progress: DatabaseFile.ProgressFunction? = nil
    ) throws -> DatabaseFile.RotationResult {
        var rotation = rotation
        rotation.options.audit = audit
        return try rotation.perform(progress: ProgressReport(progress))
    }
}

extension DatabaseFile {
    /// Tries the keys of a rotation, and creates its plan. Nothing is changed.
    package func prepareRotation(
        from oldKey: DatabaseKey, to newKey: DatabaseKey, options: RotationOptions = RotationOptions()
    ) throws -> PreparedRotation {
        try PreparedRotation(FileRotation(path: path, oldKey: oldKey, newKey: newKey, options: options))
    }
}
