internal import SQLCipherBridge
internal import SystemCalls

/// The rotation of the key of a pool whose connections continue to read and write.
///
/// A committed state is pinned and copied. Then the pages that have changed are copied from a newer state,
/// again and again, until few are left. The rest is done as for a database whose accesses wait
/// (``FileReplacement``): with the same note and the same stages, and a copy that is almost complete.
struct LiveRotation: Sendable {
    private let pool: DatabasePool
    private let key: DatabaseKey
    private let options: DatabaseFile.RotationOptions
    private let bounds: DatabaseFile.WhileInUse

    /// - Returns: nil for a rotation during which all accesses wait.
    /// - Throws: `unsupported` for a database or a method that does not allow accesses during the rotation.
    init?(_ writer: any DatabaseWriter, to key: DatabaseKey, _ options: DatabaseFile.RotationOptions) throws {
        guard let bounds = options.whileInUse else { return nil }
        guard options.method == .copy,
            let pool = ((writer as? AnyDatabaseWriter)?.base ?? writer) as? DatabasePool
        else {
            let words =
                "Only a pool can stay in use while its key is rotated, and only if the rotation makes a "
                + "copy. Rotate without `whileInUse`, or use a pool."
            throw DatabaseFileError(.unsupported(words), path: writer.path)
        }
        self.pool = pool
        self.key = key
        self.options = options
        self.bounds = bounds
    }

    func perform(_ progress: ProgressReport) throws -> DatabaseFile.RotationResult {
        precondition(
            pool.readers.readerOfCurrentThread == nil,
            "The key cannot be rotated inside a read of its pool.")
        let start = ContinuousClock.now
        let keys = try pool.writer.sync { db in try db.planLiveKeyChange(to: key) }
        return try DatabaseFileError.translated(keys.file) {
            let course = LiveCourse()
            let brake = WriterBrake(pool, delay: bounds.maximumWriteDelay)
            defer { brake.release() }
            let run = try LiveRun(
                of: pool, keys, options, bounds, course, brake, progress, since: start)
            defer { run.end(of: pool) }
            return try run.describingFailures {
                let result = try run.perform(in: pool)
                return FileRotation.result(
                    result.proof, isResumed: result.isResumed, options, since: start, pause: course.pause)
            }
        }
    }
}

/// The progress of a rotation.
private final class LiveCourse {
    /// The number of times that the copy was brought up to date.
    var round = 0
    /// The time at which accesses began to wait.
    var pausedSince: ContinuousClock.Instant?
    /// The total time for which accesses have waited.
    private(set) var pause: Duration?
    /// True if the rounds do not become smaller.
    var isOutpaced = false

    /// Adds the current wait to the total.
    func notePause() {
        guard let pausedSince else { return }
        pause = (pause ?? .zero) + (ContinuousClock.now - pausedSince)
    }
}

/// The time to wait for reads that are still running at the end of a rotation. It grows with each attempt, up
/// to a maximum. Between attempts, accesses continue for nine times as long.
private struct ReadPatience {
    private(set) var seconds: Double
    private let longest: Double

    /// - Parameter longest: the maximum, in seconds.
    init(longest: Double) {
        self.longest = longest
        seconds = min(0.05, longest)
    }

    /// The time for which accesses continue after an unsuccessful wait, in seconds.
    var rest: Double { max(0.02, 9 * seconds) }

    mutating func grow() { seconds = min(2 * seconds, longest) }
}

/// A rotation in progress, with everything that it has begun.
private final class LiveRun {
    private let keys: Database.KeyChange
    private let options: DatabaseFile.RotationOptions
    private let bounds: DatabaseFile.WhileInUse
    private let course: LiveCourse
    private let progress: ProgressReport
    private let change: FileChange
    private let examined: ExaminedFile
    private let history: LogHistory
    private let brake: WriterBrake

    /// The connection that keeps the file open and checkpoints the log.
    private var watcher: EngineConnection?
    private var note: RunNote?
    private var copy: CopyFile?
    private var content: FollowedContent?
    private var pin: PinnedState?
    private var resumed: ResumedFile?
    /// The number of times that accesses were resumed because too much was written before they waited.
    private var givenWayCount = 0
    /// The number of rounds that do not count because reads took too long after them.
    private var excusedRoundCount = 0

    private var hasRoundsLeft: Bool { course.round - excusedRoundCount < bounds.maximumRoundCount }

    init(
        of pool: DatabasePool, _ keys: Database.KeyChange, _ options: DatabaseFile.RotationOptions,
        _ bounds: DatabaseFile.WhileInUse, _ course: LiveCourse, _ brake: WriterBrake,
        _ progress: ProgressReport, since start: ContinuousClock.Instant
    ) throws {
        self.keys = keys
        self.options = options
        self.bounds = bounds
        self.course = course
        self.brake = brake
        let change = FileChange(path: keys.file, before: keys.before, after: keys.after)
        let history = try LogHistory(path: change.path)
        let logSize = try history.size
        let pace = LogPace(start: logSize, end: max(bounds.maximumLogSize, logSize))
        let reserve = try LiveRun.reserve(change.path)
        self.progress = progress.noting { step in
            step.round = course.round
            step.logSize = try history.size
            guard course.pausedSince == nil else { return }
            guard !pool.readers.isClosed else { throw DatabaseError.connectionIsClosed() }
            guard step.logSize <= pace.end else {
                throw DatabaseFileError(.outpaced(logSize: step.logSize), path: change.path)
            }
            guard try SystemFile.availableSpace(SystemFile.directory(of: change.path)) >= reserve else {
                throw DatabaseFileError(.diskFull, path: change.path)
            }
            if bounds.maximumWriteDelay > 0 { brake.set(course.isOutpaced || pace.isExceeded(by: step)) }
        }
        let watcher = try change.before.open(change.path, timeout: options.lockTimeout)
        var job = FileRotation.job(change, options)
        job.lentConnection = watcher.handle
        job.followsLog = true
        job.audit = { proof in
            try FileRotation.audit(
                proof, options, path: change.path, since: start, pause: course.pause)
        }
        examined = try ExaminedFile(job, progress: self.progress)
        self.change = change
        self.history = history
        self.watcher = consume watcher
    }

    /// Undoes unfinished work, in this order.
    func end(of pool: DatabasePool) {
        brake.release()
        // If the pool was closed during the rotation, this connection kept it from checkpointing the log, and
        // must do so itself.
        watcher?.checkpointsAtEnd = pool.writer.sync { $0.isClosed }
        pin = nil
        content = nil
        copy = nil
        note = nil
        watcher = nil
        // Connections were closed, and other threads opened new ones. The C library keeps freed memory per
        // thread, so a process that rotates repeatedly would grow.
        FreeMemory.giveBack()
    }

    /// Returns the disk space that the rotation leaves to writers, in bytes.
    private static func reserve(_ path: String) throws -> Int64 {
        min(16 << 20, try SystemFile.regularFile(path).size / 4)
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
        try waitForOtherProcesses()
        try examined.checkKeptPath()
        content = try FollowedContent(change, in: makeCopy())
        try copyAll()
        try checkpoint()
        // Brings the copy up to date, so that few of the pages to prove have changed since they were copied.
        _ = try follow()
        try checkpoint()
        try pin?.proveAll(&content, history, progress)
        try waitForOtherProcesses()
        try note?.prepareToLeaveWAL()
        try completeWhileOthersWait(in: pool)
        guard let resumed = resumed.take() else { throw CancellationError() }
        return try resumed.recorded()
    }

    /// Makes accesses wait and completes the rotation, as soon as few pages are left and no read takes too
    /// long.
    private func completeWhileOthersWait(in pool: DatabasePool) throws {
        var patience = ReadPatience(longest: bounds.maximumReadWait)
        while true {
            let round = course.round
            try catchUp()
            brake.release()
            let isCompleted = try pool.withoutOtherAccesses(
                patience: patience.seconds, didBegin: { course.pausedSince = .now }
            ) { db in
                // Other connections may have written while this access waited for them.
                guard try isLittleLeft() else { return false }
                try db.completeLiveRotation(keys) { handle, resume in try complete(handle, resume) }
                return true
            }
            course.notePause()
            switch isCompleted {
            case true?:
                return
            case false?:
                givenWayCount += 1
                course.pausedSince = nil
            case nil:
                // Long reads caused these rounds, not writers that outpace the copy.
                excusedRoundCount += course.round - round
                course.pausedSince = nil
                try rest(patience.rest)
                patience.grow()
            }
        }
    }

    /// Lets accesses continue for a number of seconds.
    private func rest(_ seconds: Double) throws {
        let deadline = Deadline(after: seconds)
        repeat {
            try progress(.copying, 0, of: 0)
        } while deadline.wait()
    }

    /// Waits for other processes to close the file, as they would block the end of the rotation. The search
    /// takes longer the more processes there are, so it is not done while accesses wait.
    private func waitForOtherProcesses() throws {
        try FileUsers.waitForNoneElse(
            of: examined.status, change.path, timeout: options.lockTimeout, countsOwn: false)
    }

    /// Follows the log until few pages are left. All pages copied before the last round are synced by then.
    private func catchUp() throws {
        defer { course.isOutpaced = false }
        var before = Int.max
        while true {
            try content?.target.synchronize()
            try bringLogIn()
            let changed = try follow()
            let isSmall = changed <= bounds.maximumRemainder
            // While rounds become much smaller, one more round takes less time than it saves.
            if isSmall && (changed <= 64 || changed > before / 2) { break }
            guard hasRoundsLeft else {
                if isSmall { break }
                throw DatabaseFileError(.outpaced(logSize: try history.size), path: change.path)
            }
            course.isOutpaced = !isSmall && before != .max && changed > before / 2
            before = changed
        }
        try bringLogIn()
    }

    /// Checkpoints and syncs the pinned state, so little remains for the final step.
    ///
    /// SQLite syncs the file only when it has checkpointed the complete log. That happens at the end, and
    /// would include everything that was checkpointed before.
    private func bringLogIn() throws {
        try checkpoint()
        try watcher?.handle.synchronizeFile()
    }

    /// Returns true if the last transaction is not much newer than the state that was followed last.
    ///
    /// The limit doubles each time: otherwise fast writers could keep the rotation from ever ending.
    private func isLittleLeft() throws -> Bool {
        guard hasRoundsLeft, let known = pin?.state else { return true }
        guard let last = try pin?.handle.logState().state else { return true }
        let count = last.salt == known.salt ? last.frameCount - known.frameCount : last.frameCount
        return count <= min(max(64, bounds.maximumRemainder), 1 << 32) << min(givenWayCount, 30)
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

    private func copyAll() throws {
        let first = try PinnedState(change.path, change.before, timeout: options.lockTimeout)
        _ = try history.advance(to: first.state)
        try content?.copyAll(
            of: first, history.contents(of: first), threadCount: options.threadCount, progress)
        pin = consume first
    }

    /// Advances to the last committed state.
    ///
    /// - Returns: the number of changed pages.
    private func follow() throws -> Int {
        course.round += 1
        let next = try PinnedState(change.path, change.before, timeout: options.lockTimeout)
        // The previous state is still pinned, as the history requires.
        let changes = try history.advance(to: next.state)
        try content?.follow(next, history.contents(of: next), changes, progress)
        pin = consume next
        return changes.pages.count
    }

    /// Checkpoints the pinned part of the log while writes continue, so that little is left for the end.
    ///
    /// This uses the rotation's own connection: a checkpoint on the pool's writer would keep writers waiting.
    /// Two connections can safely use the log only while SQLite does not restart it, and it cannot restart
    /// the log while a pinned state needs it.
    private func checkpoint() throws {
        guard let isInFile = pin?.isInFile, !isInFile else { return }
        _ = watcher?.handle.checkpoint(schema: "main", mode: Database.CheckpointMode.passive.rawValue)
    }

    /// Copies the remaining pages, and publishes the copy, while no other connection of the pool is in use.
    private func complete(
        _ handle: ConnectionHandle, _ resume: @escaping (JournalMode) throws -> Void
    ) throws {
        // This order detects a log that another process restarts in between.
        let beginning = try history.start()
        guard let last = try pin?.handle.logState().state else { throw CancellationError() }
        let changes = try history.advance(to: last)
        // From here on, both end with this access.
        guard var note = note.take(), let copy = copy.take() else { throw CancellationError() }
        note.use(handle)
        // The rotation's own connections must not block the next steps.
        pin = nil
        watcher = nil
        try FailPoint.released.pass(change.path)
        let opened = try OpenedFile(
            examined: examined.lending(handle, resume: resume), connection: SourceConnection(lent: handle))
        let quiesced = try NotedFile(note: note, opened: opened).quiesced()
        try history.checkIsComplete(since: beginning)
        let staged = try quiesced.staged(copy) { source in
            guard let proof = try content?.completed(from: source, changes, progress) else {
                throw CancellationError()
            }
            // The content retains the file of the copy.
            content = nil
            return proof
        }
        resumed = try staged.proved().published().resumed()
    }
}

extension PinnedState {
    fileprivate func proveAll(
        _ content: inout FollowedContent?, _ history: LogHistory, _ progress: ProgressReport
    ) throws {
        try content?.proveAll(of: self, history.contents(of: self), progress)
    }
}
