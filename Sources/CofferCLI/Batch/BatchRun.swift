internal import Dispatch
internal import Synchronization

/// Works on the files of a manifest, several at a time.
struct BatchRun: Sendable {
    let session: Session
    let command: String
    let state: BatchState?
    let jobs: Int

    private enum Outcome {
        case finished(ExitStatus)
        /// An earlier run has done it.
        case skipped
        /// A signal came: the file is whole, and has no result.
        case interrupted
    }

    /// - Parameter work: what is done to one file. It reports its own result; its failures are reported here.
    func run(_ items: [Manifest.Item], _ work: @Sendable (Manifest.Item) throws -> Void) throws -> ExitStatus {
        let board = Board()
        try session.interruption.cooperatively {
            DispatchQueue.concurrentPerform(iterations: min(jobs, items.count)) { _ in
                while session.interruption.status == nil, let item = board.next(in: items) {
                    let finished = board.note(process(item, work))
                    session.reporter.progress(
                        ProgressState(path: "batch", phase: command, completed: Int64(finished), total: Int64(items.count), unit: "files"))
                }
            }
        }
        let tally = board.tally
        session.reporter.note(
            "\(TextLayout.grouped(tally.succeeded)) of \(TextLayout.counted(items.count, "file", "files")) done, "
                + "\(TextLayout.grouped(tally.failed)) failed, \(TextLayout.grouped(board.skipped)) done before")
        if let status = session.interruption.status {
            throw Failure(status, "interrupted", "Interrupted. Every file is whole; go on with --continue.")
        }
        return tally.failed > 0 ? .someFailed : .done
    }

    private func process(_ item: Manifest.Item, _ work: (Manifest.Item) throws -> Void) -> Outcome {
        do {
            let id = try BatchState.id(item)
            if let state, state.isDone(id) {
                session.reporter.result(
                    [.init("path", .string(item.path)), .init("changed", false), .init("skipped", true), .init("code", 0)],
                    text: ["\(item.path): done by an earlier run"])
                return .skipped
            }
            var status = ExitStatus.done
            do {
                try work(item)
            } catch {
                let failure = session.failure(error)
                if failure.reason == "interrupted" { return .interrupted }
                session.reporter.failure(failure, path: item.path)
                status = failure.status
            }
            try state?.note(id, path: item.location, command: command, code: status)
            return .finished(status)
        } catch {
            let failure = session.failure(error)
            session.reporter.failure(failure, path: item.path)
            return .finished(failure.status)
        }
    }

    /// What the workers share.
    private final class Board: Sendable {
        private struct State {
            var next = 0
            var skipped = 0
            var tally = StatusTally()
        }

        private let state = Mutex(State())

        var tally: StatusTally { state.withLock { $0.tally } }
        var skipped: Int { state.withLock { $0.skipped } }

        func next(in items: [Manifest.Item]) -> Manifest.Item? {
            state.withLock { state in
                guard state.next < items.count else { return nil }
                defer { state.next += 1 }
                return items[state.next]
            }
        }

        /// Returns how many files are dealt with.
        func note(_ outcome: Outcome) -> Int {
            state.withLock { state in
                switch outcome {
                case .finished(let status): state.tally.add(status)
                case .skipped: state.skipped += 1
                case .interrupted: break
                }
                return state.skipped + state.tally.succeeded + state.tally.failed
            }
        }
    }
}
