internal import SQLCipherBridge
internal import SystemCalls

/// The first stage of a rotation in use: a file that can be replaced, with a connection that keeps it open.
struct WatchedSource: ~Copyable {
    private let watcher: Watcher
    let examined: ExaminedFile
    let run: LiveRun

    init(_ run: LiveRun, since start: ContinuousClock.Instant) throws {
        let watcher = try Watcher(run)
        var job = FileRotation.job(run.change, run.options)
        job.lentConnection = watcher.handle
        job.followsLog = true
        job.audit = { proof in
            try FileRotation.audit(
                proof, run.options, path: run.change.path, since: start, pause: run.course.pause)
        }
        try NewDatabaseFile.removeLeftovers(before: job.operation, of: job.path)
        examined = try ExaminedFile(job, progress: run.progress)
        self.run = run
        self.watcher = watcher
    }

    /// The connection that keeps the file open.
    var handle: ConnectionHandle { watcher.handle }

    /// Writes the note, and copies all pages of a committed state into a file next to the source.
    consuming func copied() throws -> FollowedCopy<CopiedContent> {
        try waitForOtherProcesses()
        try examined.checkKeptPath()
        var note = try RunNote.take(examined, writer: handle)
        let copy = try CopyFile(examined, note)
        try note.write(copy: copy.file.status().identity)
        try FailPoint.copyCreated.pass(run.change.path)
        let pin = try run.pinned()
        try FailPoint.statePinned.pass(run.change.path)
        try run.history.begin(at: pin)
        let content = try CopiedContent(
            of: pin, run.history.contents(of: pin), to: copy.file, run.change,
            threadCount: run.options.threadCount, run.progress)
        return FollowedCopy(pin: pin, content: content, copy: copy, note: note, source: self)
    }

    /// Waits for other processes to close the file, as they would block the end of the rotation. The search
    /// takes longer the more processes there are, so it is not done while accesses wait.
    func waitForOtherProcesses() throws {
        try FileUsers.waitForNoneElse(
            of: examined.status, run.change.path, timeout: run.options.lockTimeout, countsOwn: false)
    }

    /// Closes the connection, and returns what the rotation needs afterwards.
    ///
    /// Not inlined: copies that the caller makes of a value that is consumed in the same function crash the
    /// optimizer of Swift 6.3.
    @inline(never)
    consuming func closed() -> (run: LiveRun, examined: ExaminedFile) { (run, examined) }
}

/// The connection that keeps the file open and checkpoints the log. The brake on writers ends with it.
private struct Watcher: ~Copyable {
    private let connection: EngineConnection
    private let pool: DatabasePool
    private let brake: WriterBrake

    var handle: ConnectionHandle { connection.handle }

    init(_ run: LiveRun) throws {
        var connection = try run.change.before.open(run.change.path, timeout: run.options.lockTimeout)
        connection.checkpointsAtEnd = true
        self.connection = consume connection
        (pool, brake) = (run.pool, run.brake)
    }

    deinit {
        brake.release()
        // If the pool was closed during the rotation, this connection kept it from checkpointing the log, and
        // must do so itself.
        if !pool.writer.reentrantSync({ $0.isClosed }) { handle.leaveLogAtEnd() }
    }
}
