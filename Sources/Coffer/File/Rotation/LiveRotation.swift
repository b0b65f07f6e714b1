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
        precondition(
            pool.readers.readerOfCurrentThread == nil,
            "The key cannot be rotated inside of a read of its pool.")
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

/// How far a rotation is.
private final class LiveCourse {
    /// How often the copy was brought up to date.
    var round = 0
    /// Since when accesses wait.
    var pausedSince: ContinuousClock.Instant?
    /// How long they have waited, in all.
    private(set) var pause: Duration?
    /// Whether the rounds do not become small.
    var isOutpaced = false

    /// Notes how long they have waited by now.
    func notePause() {
        guard let pausedSince else { return }
        pause = (pause ?? .zero) + (ContinuousClock.now - pausedSince)
    }
}

/// How long reads that are running at the end are waited for: longer each time, up to a bound. Accesses go on
/// in between, for nine times as long.
private struct ReadPatience {
    private(set) var seconds: Double
    private let longest: Double

    /// - Parameter longest: in seconds.
    init(longest: Double) {
        self.longest = longest
        seconds = min(0.05, longest)
    }

    /// How long accesses go on before they wait again, after they have waited in vain.
    var rest: Double { max(0.02, 9 * seconds) }

    mutating func grow() { seconds = min(2 * seconds, longest) }
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
    private let brake: WriterBrake

    /// Has the file open, and brings the log into it.
    private var watcher: EngineConnection?
    private var note: RunNote?
    private var copy: CopyFile?
    private var content: FollowedContent?
    private var pin: PinnedState?
    private var resumed: ResumedFile?
    /// How often accesses were let go on again, because too much was written before they waited.
    private var givenWayCount = 0
    /// How many rounds do not count, because reads went on for too long after them.
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

    /// Takes back what was begun and has not come to its end, in this order.
    func end(of pool: DatabasePool) {
        brake.release()
        // A pool that was closed meanwhile was not the last one to have the file open, which brings the log
        // into it.
        watcher?.checkpointsAtEnd = pool.writer.sync { $0.isClosed }
        pin = nil
        content = nil
        copy = nil
        note = nil
        watcher = nil
        // Connections were closed, and others opened by other threads: the C library keeps what each thread
        // has freed for that one, and a process that rotates again and again would grow.
        FreeMemory.giveBack()
    }

    /// The room that the rotation leaves to those who write meanwhile.
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
        // So that the proof finds few pages that have changed in between.
        _ = try follow()
        try checkpoint()
        try pin?.proveAll(&content, history, progress)
        try waitForOtherProcesses()
        try note?.prepareToLeaveWAL()
        try completeWhileOthersWait(in: pool)
        guard let resumed = resumed.take() else { throw CancellationError() }
        return try resumed.recorded()
    }

    /// Lets accesses wait and does the rest, as soon as little is left and no read goes on for too long.
    private func completeWhileOthersWait(in pool: DatabasePool) throws {
        var patience = ReadPatience(longest: bounds.maximumReadWait)
        while true {
            let round = course.round
            try catchUp()
            brake.release()
            let isCompleted = try pool.withoutOtherAccesses(
                patience: patience.seconds, didBegin: { course.pausedSince = .now }
            ) { db in
                // They may have written while this waited for them.
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
                // The writers are not faster than the copy because of that.
                excusedRoundCount += course.round - round
                course.pausedSince = nil
                try rest(patience.rest)
                patience.grow()
            }
        }
    }

    /// Lets accesses go on for so many seconds.
    private func rest(_ seconds: Double) throws {
        let deadline = Deadline(after: seconds)
        repeat {
            try progress(.copying, 0, of: 0)
        } while deadline.wait()
    }

    /// They would be in the way at the end. To look for them takes as long as there are processes, so that it
    /// is not done while accesses wait.
    private func waitForOtherProcesses() throws {
        try FileUsers.waitForNoneElse(
            of: examined.status, change.path, timeout: options.lockTimeout, countsOwn: false)
    }

    /// Follows the log until little is left. What was copied before the last round is on the disk then.
    private func catchUp() throws {
        defer { course.isOutpaced = false }
        var before = Int.max
        while true {
            try content?.target.synchronize()
            try bringLogIn()
            let changed = try follow()
            let isSmall = changed <= bounds.maximumRemainder
            // As long as it gets much smaller, one more round is shorter than what it spares.
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

    /// Has what is pinned in the file and on the disk, so that little of it is left for the end.
    ///
    /// SQLite has the file written to the disk only when it has brought all of the log in, which it does at
    /// the end: with all that it has brought in before.
    private func bringLogIn() throws {
        try checkpoint()
        try watcher?.handle.synchronizeFile()
    }

    /// Whether the last transaction is not much newer than the state that was followed last.
    ///
    /// What is too much doubles each time: writers that write as much in a moment would never let it end.
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

    /// Goes on to the last committed state.
    ///
    /// - Returns: how many pages have changed.
    private func follow() throws -> Int {
        course.round += 1
        let next = try PinnedState(change.path, change.before, timeout: options.lockTimeout)
        // The state before is still pinned, as the history asks for.
        let changes = try history.advance(to: next.state)
        try content?.follow(next, history.contents(of: next), changes, progress)
        pin = consume next
        return changes.pages.count
    }

    /// Brings into the file what the pinned state has of the log, so that little is left for the end. Writes
    /// go on meanwhile.
    ///
    /// It is the connection of this rotation that does it, and not the one that writes, which would keep
    /// writers waiting. Two connections at the log are safe only as long as it is not begun anew: not while a
    /// state is pinned that needs it.
    private func checkpoint() throws {
        guard let isInFile = pin?.isInFile, !isInFile else { return }
        _ = watcher?.handle.checkpoint(schema: "main", mode: Database.CheckpointMode.passive.rawValue)
    }

    /// Copies what is left, and publishes the copy, while no other connection of the pool is in use.
    private func complete(
        _ handle: ConnectionHandle, _ resume: @escaping (JournalMode) throws -> Void
    ) throws {
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
        let opened = try OpenedFile(
            examined: examined.lending(handle, resume: resume), connection: SourceConnection(lent: handle))
        let quiesced = try NotedFile(note: note, opened: opened).quiesced()
        try history.checkIsComplete(since: beginning)
        let staged = try quiesced.staged(copy) { source in
            guard let proof = try content?.completed(from: source, changes, progress) else {
                throw CancellationError()
            }
            // It holds the file of the copy.
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
