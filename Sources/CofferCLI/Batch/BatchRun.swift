internal import Dispatch
internal import Synchronization
internal import SystemCalls

/// Works on the files of a manifest, several at a time.
struct BatchRun: Sendable {
    let session: Session
    let command: String
    let state: BatchState?
    let jobs: Int
    /// True if a failure keeps the run from starting on further files.
    let failsFast: Bool

    private enum Outcome {
        case finished(BatchJob.Effect)
        case failed(Failure)
        /// The state of the batch cannot be written.
        case unrecorded(Failure, isDone: Bool)
        /// An earlier run completed the work on the file.
        case skipped
        /// The keys are right, but the work has not begun.
        case prepared
        /// A signal interrupted the work. The file is intact and has no result.
        case interrupted
    }

    /// Runs a job on each file. This method reports failures of single files; the job reports its results.
    ///
    /// If all files are prepared first, files with wrong keys are reported during that phase and left alone.
    func run(_ items: [Manifest.Item], _ job: BatchJob) throws -> ExitStatus {
        let board = Board()
        var ready = Array(items.indices)
        let steps = Mutex<[Int: BatchJob.Step]>([:])
        if job.preparesAllFirst {
            try each(Phase("trying keys", 0...0.1, ready, of: items), board) { index in
                process(items[index], job, unless: job.isDone) { item in
                    let step = try job.prepare(item)
                    steps.withLock { $0[index] = step }
                    return .prepared
                }
            }
            ready = steps.withLock { $0.keys.sorted() }
        }
        try each(Phase(command, job.preparesAllFirst ? 0.1...1 : 0...1, ready, of: items), board) { index in
            // Removed from the dictionary, so derived keys are wiped as soon as they have been used.
            let step = steps.withLock { $0.removeValue(forKey: index) }
            return process(items[index], job, unless: step == nil ? job.isDone : { _ in false }) { item in
                .finished(try (step ?? job.prepare(item))())
            }
        }
        return try end(board, items, job)
    }

    /// One pass over some files of the manifest. Files that the phase skips count as complete from the start.
    private struct Phase {
        let indices: [Int]
        let items: [Manifest.Item]
        let event: ProgressMeter.BatchEvent
        /// The fraction of all work that each file is.
        let shares: [Int: Double]

        init(_ name: String, _ span: ClosedRange<Double>, _ indices: [Int], of items: [Manifest.Item]) {
            (self.indices, self.items) = (indices, items)
            event = .phase(
                name, files: items.count, through: items.count - indices.count, start: span.lowerBound)
            // The constant accounts for the time that even an empty file takes.
            let weights = indices.map { Double((FileNames.size(items[$0].location) ?? 0) + 65_536) }
            let scale = (span.upperBound - span.lowerBound) / weights.reduce(0, +)
            shares = Dictionary(uniqueKeysWithValues: zip(indices, weights.map { $0 * scale }))
        }
    }

    /// Calls `body` for each file of a phase, several at a time.
    private func each(_ phase: Phase, _ board: Board, _ body: @escaping @Sendable (Int) -> Outcome)
        throws
    {
        guard !phase.indices.isEmpty else { return }
        let waiting = Mutex(phase.indices[...])
        session.reporter.batch(phase.event)
        try session.interruption.cooperatively {
            BatchRun.perform(threadCount: min(jobs, phase.indices.count)) {
                while mayBegin(board), let index = waiting.withLock({ $0.popFirst() }) {
                    let item = phase.items[index]
                    session.reporter.batch(.began(item.path, share: phase.shares[index] ?? 0))
                    board.note(body(index), item)
                    session.reporter.batch(.ended(item.path))
                }
            }
        }
    }

    /// Calls `body` on several threads, which include this one, and returns when all calls have ended.
    private static func perform(threadCount: Int, _ body: @escaping @Sendable () -> Void) {
        let others = DispatchGroup()
        for _ in 1..<threadCount {
            others.enter()
            OwnThread.run {
                body()
                others.leave()
            }
        }
        body()
        others.wait()
    }

    /// Returns true unless a signal, or a failure, keeps the run from starting on further files. A state that
    /// cannot be written would say of them that they are not done.
    private func mayBegin(_ board: Board) -> Bool {
        let tally = board.tally
        return session.interruption.status == nil && !(failsFast && tally.failed > 0) && !tally.isStateLost
    }

    private func end(_ board: Board, _ items: [Manifest.Item], _ job: BatchJob) throws -> ExitStatus {
        let tally = board.tally
        tally.lines(of: items.count).forEach(session.reporter.note)
        session.reporter.addToSummary(tally.json(of: items.count))
        session.meter.note(.init(files: items.count, failed: tally.failed, bytes: tally.bytes))
        if let status = session.interruption.status {
            let unchanged = tally.hasPartialChange ? "" : " No file is left half-changed."
            let words =
                if state != nil {
                    "Continue with --continue."
                } else if job.isUnrepeatable, tally.changed > 0 || tally.hasPartialChange {
                    "Do not run the command on the changed files again. With --state, a batch can be "
                        + "continued."
                } else {
                    "Run the command again."
                }
            throw Failure(status, "interrupted", "Interrupted.\(unchanged) \(words)")
        }
        return tally.failed > 0 ? .someFailed : .done
    }

    private func process(
        _ item: Manifest.Item, _ job: BatchJob, unless isDone: (Manifest.Item) -> Bool,
        _ body: (Manifest.Item) throws -> Outcome
    ) -> Outcome {
        do {
            // The state may be outdated: the sources of the keys may supply other keys now. If the file does
            // not show whether the work was done, the state decides alone.
            if let state, try state.isDone(item, command: command, works: job.identities),
                job.isUnrepeatable || isDone(item)
            {
                session.reporter.result(
                    ["path": item.path, "changed": false, "skipped": true, "code": 0],
                    text: ["\(item.path): done by an earlier run"])
                return .skipped
            }
            var outcome: Outcome
            do {
                if let problem = item.problem { throw problem }
                if job.isUnrepeatable {
                    try state?.begin(
                        item, command: command, work: job.identity, repeats: job.repeatsUnfinished)
                }
                outcome = try body(item)
            } catch {
                let failure = session.failure(error, on: item.location)
                if failure.reason == "interrupted", failure.done == .none {
                    if job.isUnrepeatable { try note(.interrupted, item, job) }
                    return .interrupted
                }
                session.reporter.failure(failure, path: item.path)
                outcome = .failed(failure)
            }
            switch outcome {
            case .finished(let effect):
                guard let lost = failureToNote(.done, item, job) else { break }
                let failure = job.isUnrepeatable || effect.isChanged ? lost.after(.all) : lost
                session.reporter.failure(failure, path: item.path)
                return .unrecorded(failure, isDone: true)
            case .failed(let failure):
                let status: ExitStatus? =
                    switch failure.done {
                    // A file that cannot be found now may have been changed by an earlier run.
                    case .none where job.isUnrepeatable && item.problem != nil: nil
                    case .none: failure.status
                    // The note that the work has begun stays the last one: a later run refuses the file.
                    case .some where job.isUnrepeatable: nil
                    case .some, .all: .done
                    }
                guard let status, let lost = failureToNote(status, item, job) else { break }
                session.reporter.failure(lost, path: item.path)
                return .unrecorded(failure, isDone: failure.done != .none)
            case .unrecorded, .skipped, .prepared, .interrupted: break
            }
            return outcome
        } catch {
            let failure = session.failure(error)
            session.reporter.failure(failure, path: item.path)
            return .failed(failure)
        }
    }

    private func failureToNote(_ status: ExitStatus, _ item: Manifest.Item, _ job: BatchJob) -> Failure? {
        do throws(Failure) {
            try note(status, item, job)
            return nil
        } catch {
            return error
        }
    }

    private func note(_ status: ExitStatus, _ item: Manifest.Item, _ job: BatchJob) throws(Failure) {
        try state?.note(item, command: command, work: job.identity, code: status.rawValue)
    }

    /// The state that the workers share.
    private final class Board: Sendable {
        private let state = Mutex(BatchTally())

        var tally: BatchTally { state.withLock { $0 } }

        func note(_ outcome: Outcome, _ item: Manifest.Item) {
            let size = FileNames.size(item.location) ?? 0
            state.withLock { tally in
                switch outcome {
                case .finished(let effect): tally.addDone(effect, size: size)
                case .failed(let failure):
                    tally.add(failure, path: HiddenKeys.hiding(inName: item.path, at: item.location))
                case .unrecorded(let failure, let isDone):
                    tally.add(failure, path: HiddenKeys.hiding(inName: item.path, at: item.location))
                    tally.noteLostState(isDone: isDone)
                case .skipped: tally.skipped += 1
                case .prepared, .interrupted: break
                }
            }
        }
    }
}
