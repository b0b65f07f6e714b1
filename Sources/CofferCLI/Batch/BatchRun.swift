internal import Dispatch
internal import Synchronization

/// Works on the files of a manifest, several at a time.
struct BatchRun: Sendable {
    let session: Session
    let command: String
    let state: BatchState?
    let jobs: Int
    /// Whether no other file is begun after a failure.
    let failsFast: Bool

    private enum Outcome {
        case finished(BatchJob.Effect)
        case failed(Failure)
        /// An earlier run has done it.
        case skipped
        /// Its keys are right, and nothing was done yet.
        case prepared
        /// A signal came: the file is whole, and has no result.
        case interrupted
    }

    /// Does a job on each file. Failures of single files are reported here, and their results by the job.
    ///
    /// Where all are prepared first, files whose keys do not prove right are reported then, and not worked
    /// on.
    func run(_ items: [Manifest.Item], _ job: BatchJob) throws -> ExitStatus {
        let board = Board()
        var ready = Array(items.indices)
        let steps = Mutex<[Int: BatchJob.Step]>([:])
        if job.preparesAllFirst {
            try each(ready, phase: "trying keys", 0...0.1, of: items, board) { index in
                process(items[index], job, unless: job.isDone) { item in
                    let step = try job.prepare(item)
                    steps.withLock { $0[index] = step }
                    return .prepared
                }
            }
            ready = steps.withLock { $0.keys.sorted() }
        }
        try each(ready, phase: command, job.preparesAllFirst ? 0.1...1 : 0...1, of: items, board) { index in
            // Taken out, so that derived keys are wiped once they have served.
            let step = steps.withLock { $0.removeValue(forKey: index) }
            return process(items[index], job, unless: step == nil ? job.isDone : { _ in false }) { item in
                .finished(try (step ?? job.prepare(item))())
            }
        }
        return try end(board, items)
    }

    /// Does the same for each of some files, several at a time. Its progress counts the files with which this
    /// phase is through; those that it has nothing to do with are through before it begins.
    private func each(
        _ indices: [Int], phase: String, _ span: ClosedRange<Double>, of items: [Manifest.Item],
        _ board: Board,
        _ body: @Sendable (Int) -> Outcome
    ) throws {
        guard !indices.isEmpty else { return }
        let next = Mutex(0)
        // Also a file without content takes its time.
        let weights = Dictionary(
            uniqueKeysWithValues: indices.map {
                ($0, Double((FileNames.size(items[$0].location) ?? 0) + 65_536))
            })
        let all = weights.values.reduce(0, +)
        session.reporter.batch(
            .phase(phase, files: items.count, through: items.count - indices.count, start: span.lowerBound))
        try session.interruption.cooperatively {
            DispatchQueue.concurrentPerform(iterations: min(jobs, indices.count)) { _ in
                while session.interruption.status == nil, !(failsFast && board.tally.failed > 0),
                    let index = next.withLock({ BatchRun.take(&$0, of: indices) })
                {
                    let item = items[index]
                    let share = (weights[index] ?? 0) / all * (span.upperBound - span.lowerBound)
                    session.reporter.batch(.began(item.path, share: share))
                    board.note(body(index), item)
                    session.reporter.batch(.ended(item.path))
                }
            }
        }
    }

    private static func take(_ next: inout Int, of indices: [Int]) -> Int? {
        guard next < indices.count else { return nil }
        defer { next += 1 }
        return indices[next]
    }

    private func end(_ board: Board, _ items: [Manifest.Item]) throws -> ExitStatus {
        let tally = board.tally
        tally.lines(of: items.count).forEach(session.reporter.note)
        session.reporter.addToSummary(tally.json(of: items.count))
        session.meter.note(.init(files: items.count, failed: tally.failed, bytes: tally.bytes))
        if let status = session.interruption.status {
            let words = state == nil ? "run the command again." : "go on with --continue."
            throw Failure(status, "interrupted", "Interrupted. Every file is whole; \(words)")
        }
        return tally.failed > 0 ? .someFailed : .done
    }

    private func process(
        _ item: Manifest.Item, _ job: BatchJob, unless isDone: (Manifest.Item) -> Bool,
        _ body: (Manifest.Item) throws -> Outcome
    ) -> Outcome {
        do {
            let id = try BatchState.id(item, job.identity)
            // What the state claims has to prove true: the sources of the keys may have other keys by now.
            if let state, state.isDone(id), isDone(item) {
                session.reporter.result(
                    [
                        .init("path", .string(item.path)), .init("changed", false), .init("skipped", true),
                        .init("code", 0),
                    ],
                    text: ["\(item.path): done by an earlier run"])
                return .skipped
            }
            var outcome: Outcome
            do {
                outcome = try body(item)
            } catch {
                let failure = session.failure(error)
                if failure.reason == "interrupted" { return .interrupted }
                session.reporter.failure(failure, path: item.path)
                outcome = .failed(failure)
            }
            switch outcome {
            case .finished: try state?.note(id, item, command: command, work: job.identity, code: .done)
            case .failed(let failure):
                try state?.note(id, item, command: command, work: job.identity, code: failure.status)
            case .skipped, .prepared, .interrupted: break
            }
            return outcome
        } catch {
            let failure = session.failure(error)
            session.reporter.failure(failure, path: item.path)
            return .failed(failure)
        }
    }

    /// What the workers share.
    private final class Board: Sendable {
        private let state = Mutex(BatchTally())

        var tally: BatchTally { state.withLock { $0 } }

        func note(_ outcome: Outcome, _ item: Manifest.Item) {
            let size = FileNames.size(item.location) ?? 0
            state.withLock { tally in
                switch outcome {
                case .finished(let effect): tally.addDone(effect, size: size)
                case .failed(let failure): tally.add(failure, path: item.path)
                case .skipped: tally.skipped += 1
                case .prepared, .interrupted: break
                }
            }
        }
    }
}
