internal import SQLCipherBridge

/// The rotation of the key of a pool whose connections go on reading and writing.
///
/// A committed state is pinned and copied, and so is what changed until the next one is pinned, again and
/// again, until little is left. The rest is done as for a database that waits (``FileReplacement``): the same
/// note, the same stages, with a copy that has almost everything already.
struct LiveRotation: Sendable {
    private let pool: DatabasePool
    private let key: DatabaseKey
    private let options: DatabaseFile.RotationOptions
    private let bounds: DatabaseFile.WhileInUse

    /// - Returns: nil for a rotation for which all accesses wait.
    /// - Throws: `unsupported` for what cannot go on.
    init?(_ writer: any DatabaseWriter, to key: DatabaseKey, _ options: DatabaseFile.RotationOptions) throws {
        guard let bounds = options.whileInUse else { return nil }
        guard options.method == .copy,
            let pool = ((writer as? AnyDatabaseWriter)?.base ?? writer) as? DatabasePool
        else {
            let words =
                "Only a pool goes on while its key is rotated, and only by a copy. Rotate without "
                + "`whileInUse`, or use a pool."
            throw DatabaseFileError(.unsupported(words), path: writer.path)
        }
        self.pool = pool
        self.key = key
        self.options = options
        self.bounds = bounds
    }

    func perform(_ progress: ProgressReport) throws -> DatabaseFile.RotationResult {
        let start = ContinuousClock.now
        let keys = try pool.writer.sync { db in try db.planLiveKeyChange(to: key) }
        return try DatabaseFileError.translated(keys.file) {
            let course = LiveCourse()
            let run = try LiveRun(keys, options, bounds, course, progress, since: start)
            defer { run.end() }
            return try run.describingFailures {
                let result = try run.perform(in: pool)
                return FileRotation.result(
                    result.proof, isResumed: result.isResumed, options, since: start,
                    pausedSince: course.pausedSince)
            }
        }
    }
}

/// How far a rotation is.
private final class LiveCourse {
    /// How often the copy was brought up to date.
    var round = 0
    /// Since when accesses wait.
    var pausedSince: ContinuousClock.Instant?
}

/// A rotation under way, with what it has begun.
private final class LiveRun {
    private let keys: Database.KeyChange
    private let options: DatabaseFile.RotationOptions
    private let bounds: DatabaseFile.WhileInUse
    private let course: LiveCourse
    private let progress: ProgressReport
    private let change: FileChange
    private let examined: ExaminedFile
    private let history: LogHistory

    /// Does nothing but to have the file open.
    private var watcher: EngineConnection?
    private var note: RunNote?
    private var copy: CopyFile?
    private var pin: PinnedState?

    init(
        _ keys: Database.KeyChange, _ options: DatabaseFile.RotationOptions,
        _ bounds: DatabaseFile.WhileInUse, _ course: LiveCourse,
        _ progress: ProgressReport, since start: ContinuousClock.Instant
    ) throws {
        self.keys = keys
        self.options = options
        self.bounds = bounds
        self.course = course
        let change = FileChange(path: keys.file, before: keys.before, after: keys.after)
        let history = try LogHistory(path: change.path)
        let maximumLogSize = try max(bounds.maximumLogSize, history.size)
        self.progress = progress.noting { step in
            step.round = course.round
            step.logSize = try history.size
            guard course.pausedSince != nil || step.logSize <= maximumLogSize else {
                throw DatabaseFileError(.outpaced(logSize: step.logSize), path: change.path)
            }
        }
        let watcher = try change.before.open(change.path, flags: .readOnly, timeout: options.lockTimeout)
        var job = FileRotation.job(change, options)
        job.lentConnection = watcher.handle
        job.followsLog = true
        job.audit = { proof in
            try FileRotation.audit(
                proof, options, path: change.path, since: start, pausedSince: course.pausedSince)
        }
        examined = try ExaminedFile(job, progress: self.progress)
        self.change = change
        self.history = history
        self.watcher = consume watcher
    }

    /// Takes back what was begun and has not come to its end, in this order.
    func end() {
        pin = nil
        copy = nil
        note = nil
        watcher = nil
    }

    func describingFailures<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as FailureAfterPublishing {
            throw FileReplacement.describe(
                error.reason, of: examined.status, isPublished: true, path: change.path)
        } catch {
            throw FileReplacement.describe(error, of: examined.status, isPublished: false, path: change.path)
        }
    }

    func perform(in pool: DatabasePool) throws -> ReplacementResult {
        // At the end they would be in the way.
        try FileUsers.waitForNoneElse(
            of: examined.status, change.path, timeout: options.lockTimeout, countsOwn: false)
        try examined.checkKeptPath()
        let file = try makeCopy()
        var content = try FollowedContent(change, in: file)
        try copyAll(&content)
        try checkpoint(pool)
        // So that the proof finds few pages that have changed in between.
        _ = try follow(&content)
        try checkpoint(pool)
        try pin?.proveAll(&content, history, progress)
        while try follow(&content) > bounds.maximumRemainder {
            guard course.round < bounds.maximumRoundCount else {
                throw DatabaseFileError(.outpaced(logSize: try history.size), path: change.path)
            }
            try checkpoint(pool)
        }
        try checkpoint(pool)
        try file.synchronize()
        return try pool.withoutOtherAccesses(didBegin: { course.pausedSince = .now }) { db in
            try db.completeLiveRotation(keys) { handle, resume in try complete(content, handle, resume) }
        }
    }

    private func makeCopy() throws -> HeldFile {
        guard let handle = watcher?.handle else { throw DatabaseError.connectionIsClosed() }
        var note = try RunNote.take(examined, writer: handle)
        let copy = try CopyFile(examined, id: note.id)
        let file = copy.file
        try note.write(copy: file.status().identity)
        self.note = consume note
        self.copy = consume copy
        try FailPoint.copyCreated.pass(change.path)
        return file
    }

    private func copyAll(_ content: inout FollowedContent) throws {
        let first = try PinnedState(change.path, change.before, timeout: options.lockTimeout)
        _ = try history.advance(to: first.state)
        try content.copyAll(of: first, first.contents(history), threadCount: options.threadCount, progress)
        pin = consume first
    }

    /// Goes on to the last committed state.
    ///
    /// - Returns: how many pages have changed.
    private func follow(_ content: inout FollowedContent) throws -> Int {
        course.round += 1
        let next = try PinnedState(change.path, change.before, timeout: options.lockTimeout)
        // The state before is still pinned, as the history asks for.
        let changes = try history.advance(to: next.state)
        try content.follow(next, next.contents(history), changes, progress)
        pin = consume next
        return changes.pages.count
    }

    /// Brings into the file what the pinned state has of the log, so that little is left for the end. The
    /// connection that writes does it, as it does at other times.
    private func checkpoint(_ pool: DatabasePool) throws {
        try pool.writer.sync { db in
            guard !db.isClosed else { throw DatabaseError.connectionIsClosed() }
            _ = db.handle.checkpoint(schema: "main", mode: Database.CheckpointMode.passive.rawValue)
        }
    }

    /// Copies what is left, and publishes the copy, while no other connection of the pool is in use.
    private func complete(
        _ content: consuming FollowedContent, _ handle: ConnectionHandle,
        _ resume: @escaping (JournalMode) throws -> Void
    ) throws -> ReplacementResult {
        var content = content
        // In this order: a log that is begun anew in between by another process is found so.
        let beginning = try history.start()
        guard let last = try pin?.handle.logState().state else { throw CancellationError() }
        let changes = try history.advance(to: last)
        // From here on they end in this access.
        guard var note = note.take(), let copy = copy.take() else { throw CancellationError() }
        note.use(handle)
        // Connections of our own must not be in the way of what comes next.
        pin = nil
        watcher = nil
        try FailPoint.released.pass(change.path)
        let opened = OpenedFile(
            examined: examined.lending(handle, resume: resume), connection: SourceConnection(lent: handle))
        let quiesced = try NotedFile(note: note, opened: opened).quiesced()
        guard quiesced.source.isAsInLog else { throw DatabaseFileError(.busy([]), path: change.path) }
        try history.checkIsComplete(since: beginning)
        let staged = try quiesced.staged(copy) { source in
            try content.completed(from: source, changes, progress)
        }
        return try staged.proved().published().completed()
    }
}

extension PinnedState {
    /// Where its pages are in the log.
    ///
    /// - Precondition: the history has advanced to this state.
    fileprivate func contents(_ history: LogHistory) -> LogContents {
        isInFile ? history.contents.inFileOnly : history.contents
    }

    fileprivate func proveAll(
        _ content: inout FollowedContent, _ history: LogHistory, _ progress: ProgressReport
    ) throws {
        try content.proveAll(of: self, contents(history), progress)
    }
}
