internal import SQLCipherBridge

/// The stage of a rotation in use with a note, and a copy of all pages of a pinned state that follows the
/// log. Only with ``ProvedFollowedContent`` can it replace the source.
///
/// At the end of its life, the state is released, the copy and the note are removed, and the connection that
/// watches the source is closed, in this order.
struct FollowedCopy<Content: FollowedContent>: ~Copyable {
    var pin: PinnedState
    var content: Content
    let copy: CopyFile
    var note: RunNote
    let source: WatchedSource

    /// Advances to the last committed state.
    ///
    /// - Returns: the number of changed pages.
    private mutating func follow() throws -> Int {
        let run = source.run
        run.course.round += 1
        let next = try run.pinned()
        // The previous state is still pinned, as the history requires.
        let changes = try run.history.advance(to: next.state)
        try content.follow(changes, of: run.pages(of: next), to: copy.file, run.progress)
        pin = next
        return changes.pages.count
    }

    /// Checkpoints the pinned part of the log while writes continue, so that little is left for the end.
    ///
    /// This uses the rotation's own connection: a checkpoint on the pool's writer would keep writers waiting.
    /// Two connections can safely use the log only while SQLite does not restart it, and it cannot restart
    /// the log while a pinned state needs it.
    private func checkpoint() {
        guard !pin.isInFile else { return }
        _ = source.handle.checkpoint(schema: "main", mode: Database.CheckpointMode.passive.rawValue)
    }
}

extension FollowedCopy where Content == CopiedContent {
    /// Brings the copy up to date, and proves all its pages.
    consuming func proved() throws -> FollowedCopy<ProvedFollowedContent> {
        checkpoint()
        // Few of the pages to prove will have changed since they were copied.
        _ = try follow()
        checkpoint()
        let run = source.run
        let proved = try content.proved(in: copy.file, against: run.pages(of: pin), run.progress)
        return FollowedCopy<ProvedFollowedContent>(
            pin: pin, content: proved, copy: copy, note: note, source: source)
    }
}

// MARK: - The end

extension FollowedCopy where Content == ProvedFollowedContent {
    /// The outcome of an access in which all others wait.
    private enum Outcome: ~Copyable {
        case resumed(ResumedFile)
        /// Reads took too long, or too much was written before the access began.
        case following(FollowedCopy)
    }

    /// Makes accesses wait and completes the rotation, as soon as few pages are left and no read takes too
    /// long.
    consuming func resumed() throws -> ResumedFile {
        try source.waitForOtherProcesses()
        try note.prepareToLeaveWAL()
        var patience = ReadPatience(longest: source.run.bounds.maximumReadWait)
        var copy = self
        while true {
            switch try copy.resumedUnlessTooEarly(&patience) {
            case .resumed(let file): return file
            case .following(let same): copy = same
            }
        }
    }

    private consuming func resumedUnlessTooEarly(_ patience: inout ReadPatience) throws -> Outcome {
        let (run, course) = (source.run, source.run.course)
        let round = course.round
        try catchUp()
        run.brake.release()
        let (handle, state) = (pin.handle, pin.state)
        var copy: FollowedCopy? = self
        var resumed: ResumedFile?
        let isCompleted = try run.pool.withoutOtherAccesses(
            patience: patience.seconds, didBegin: { course.pausedSince = .now }
        ) { db in
            // Other connections may have written while this access waited for them.
            guard try run.isLittleLeft(of: handle, since: state) else { return false }
            try db.completeLiveRotation(run.keys) { writer, resume in
                // This order detects a log that another process restarts in between.
                let start = try run.history.start()
                let changes = try run.history.advance(to: handle.logState().state)
                resumed = try copy.take()?.completed(changes, since: start, writer, resume)
            }
            return true
        }
        course.notePause()
        if let resumed = resumed.take() { return .resumed(resumed) }
        course.pausedSince = nil
        if isCompleted == nil {
            // Long reads caused these rounds, not writers that outpace the copy.
            course.excusedRoundCount += course.round - round
            try run.letAccessesContinue(patience.rest)
            patience.grow()
        } else {
            course.givenWayCount += 1
        }
        guard let copy = copy.take() else {
            preconditionFailure("The access took the copy and resumed no file.")
        }
        return .following(copy)
    }

    /// Follows the log until few pages are left. All pages copied before the last round are synced by then.
    private mutating func catchUp() throws {
        let run = source.run
        defer { run.course.isOutpaced = false }
        var before = Int.max
        while true {
            try copy.file.synchronize()
            try bringLogIn()
            let changed = try follow()
            let isSmall = changed <= run.bounds.maximumRemainder
            // While rounds become much smaller, one more round takes less time than it saves.
            if isSmall && (changed <= 64 || changed > before / 2) { break }
            guard run.hasRoundsLeft else {
                if isSmall { break }
                throw DatabaseFileError(.outpaced(logSize: try run.history.size), path: run.change.path)
            }
            run.course.isOutpaced = !isSmall && before != .max && changed > before / 2
            before = changed
        }
        try bringLogIn()
    }

    /// Checkpoints and syncs the pinned state, so little remains for the final step.
    ///
    /// SQLite syncs the file only when it has checkpointed the complete log. That happens at the end, and
    /// would include everything that was checkpointed before.
    private func bringLogIn() throws {
        checkpoint()
        try source.handle.synchronizeFile()
    }

    /// Copies the remaining pages, and publishes the copy, while no other connection of the pool is in use.
    private consuming func completed(
        _ changes: LogHistory.Changes, since start: [UInt8], _ writer: ConnectionHandle,
        _ resume: @escaping (ReplacementJob.NewFile) throws -> Void
    ) throws -> ResumedFile {
        let content = content
        // From here on, both end with this access.
        var note = note
        let copy = copy
        note.use(writer)
        // The rotation's own connections must not block the next steps.
        _ = consume pin
        let (run, examined) = source.closed()
        try FailPoint.released.pass(run.change.path)
        let opened = try OpenedFile(
            examined: examined.lending(writer, resume: resume), connection: SourceConnection(lent: writer))
        let quiesced = try NotedFile(note: note, opened: opened).quiesced()
        try run.history.checkIsComplete(since: start)
        let staged = try quiesced.staged(copy) { source, file in
            try content.completed(from: source, changes, to: file, run.progress)
        }
        return try staged.proved().published().resumed()
    }
}

extension LiveRun {
    /// Returns true if the last transaction is not much newer than the state that was followed last.
    ///
    /// The limit doubles each time: otherwise fast writers could keep the rotation from ever ending.
    fileprivate func isLittleLeft(of handle: ConnectionHandle, since known: LogState) throws -> Bool {
        guard hasRoundsLeft else { return true }
        let last = try handle.logState().state
        let count = last.salt == known.salt ? last.frameCount - known.frameCount : last.frameCount
        return count <= min(max(64, bounds.maximumRemainder), 1 << 32) << min(course.givenWayCount, 30)
    }

    /// Lets accesses continue for a number of seconds.
    fileprivate func letAccessesContinue(_ seconds: Double) throws {
        let deadline = Deadline(after: seconds)
        repeat {
            try progress(.copying, 0, of: 0)
        } while deadline.wait()
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
