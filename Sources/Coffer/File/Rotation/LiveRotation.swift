internal import SQLCipherBridge
internal import SystemCalls

/// The rotation of the key of a pool whose connections continue to read and write.
///
/// A committed state is pinned and copied. Then the pages that have changed are copied from a newer state,
/// again and again, until few are left. The rest is done as for a database whose accesses wait
/// (``FileReplacement``): with the same note and the same stages, and a copy that is almost complete.
///
/// The stages before those are ``WatchedSource`` and, twice, ``FollowedCopy``. The end of a stage's life
/// undoes its work.
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
        let keys: Database.KeyChange
        switch try begin(since: start) {
        case .planned(let change): keys = change
        case .completed(let result): return result
        }
        return try DatabaseFileError.translated(keys.file) {
            let run = try LiveRun(of: pool, keys, options, bounds, progress)
            let source = try WatchedSource(run, since: start)
            let status = source.examined.status
            // Connections were closed, and other threads opened new ones. The C library keeps freed memory
            // per thread, so a process that rotates repeatedly would grow.
            defer { FreeMemory.giveBack() }
            do {
                let result = try source.copied().proved().resumed().recorded()
                return FileRotation.result(
                    result.proof, isResumed: result.isResumed, options, since: start, pause: run.course.pause)
            } catch {
                throw FileReplacement.describe(error, of: status, path: keys.file)
            }
        }
    }
}

extension LiveRotation {
    private enum Beginning {
        case planned(Database.KeyChange)
        /// An earlier rotation to the same key had failed, and is complete now.
        case completed(DatabaseFile.RotationResult)
    }

    private func begin(since start: ContinuousClock.Instant) throws -> Beginning {
        try pool.writer.sync { db in
            do {
                return .planned(try db.planLiveKeyChange(to: key))
            } catch let error as DatabaseFileError where error.reason == .sameKey {
                return .completed(try db.completeRotation(options, since: start))
            }
        }
    }
}

/// The parts of a rotation that all its stages use.
struct LiveRun {
    let pool: DatabasePool
    let keys: Database.KeyChange
    let options: DatabaseFile.RotationOptions
    let bounds: DatabaseFile.WhileInUse
    let change: FileChange
    let course = LiveCourse()
    let history: LogHistory
    let brake: WriterBrake
    let progress: ProgressReport

    init(
        of pool: DatabasePool, _ keys: Database.KeyChange, _ options: DatabaseFile.RotationOptions,
        _ bounds: DatabaseFile.WhileInUse, _ progress: ProgressReport
    ) throws {
        let path = keys.file
        let history = try LogHistory(path: path)
        let logSize = try history.size
        let pace = LogPace(start: logSize, end: max(bounds.maximumLogSize, logSize))
        // The disk space that the rotation leaves to writers, in bytes.
        let reserve = min(16 << 20, try SystemFile.regularFile(path).size / 4)
        let brake = WriterBrake(pool, delay: bounds.maximumWriteDelay)
        self.progress = progress.noting { [course] step in
            step.round = course.round
            step.logSize = try history.size
            guard course.pausedSince == nil else { return }
            guard !pool.readers.isClosed else { throw DatabaseError.connectionIsClosed() }
            guard step.logSize <= pace.end else {
                throw DatabaseFileError(.outpaced(logSize: step.logSize), path: path)
            }
            guard try SystemFile.availableSpace(SystemFile.directory(of: path)) >= reserve else {
                throw DatabaseFileError(.diskFull, path: path)
            }
            if bounds.maximumWriteDelay > 0 { brake.set(course.isOutpaced || pace.isExceeded(by: step)) }
        }
        (self.pool, self.keys, self.options, self.bounds) = (pool, keys, options, bounds)
        (self.history, self.brake) = (history, brake)
        change = FileChange(path: path, before: keys.before, after: keys.after)
    }

    var hasRoundsLeft: Bool { course.round - course.excusedRoundCount < bounds.maximumRoundCount }

    /// Pins the last committed state.
    func pinned() throws -> PinnedState {
        try PinnedState(change.path, change.before, timeout: options.lockTimeout)
    }

    /// Returns the pages of the state to which the history has advanced.
    func pages(of pin: borrowing PinnedState) throws -> PageFile {
        try PageFile(PinnedBytes(pin.handle, pin.size, history.contents(of: pin)), change.before)
    }
}

/// The progress of a rotation.
final class LiveCourse {
    /// The number of times that the copy was brought up to date.
    var round = 0
    /// The number of rounds that do not count because reads took too long after them.
    var excusedRoundCount = 0
    /// The number of times that accesses were resumed because too much was written before they waited.
    var givenWayCount = 0
    /// True if the rounds do not become smaller.
    var isOutpaced = false
    /// The time at which accesses began to wait.
    var pausedSince: ContinuousClock.Instant?
    /// The total time for which accesses have waited.
    private(set) var pause: Duration?

    /// Adds the current wait to the total.
    func notePause() {
        guard let pausedSince else { return }
        pause = (pause ?? .zero) + (ContinuousClock.now - pausedSince)
    }
}
