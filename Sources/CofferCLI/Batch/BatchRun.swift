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
        /// Its keys are right, and nothing was done yet.
        case proved
        /// A signal came: the file is whole, and has no result.
        case interrupted
    }

    /// Works on each file.
    ///
    /// - Parameter work: what is done to one file. It reports its own result; its failures are reported here.
    func run(_ items: [Manifest.Item], _ work: @Sendable (Manifest.Item) throws -> Void) throws -> ExitStatus {
        let board = Board()
        try each(items, phase: command, of: items.count, board) { item in
            try work(item)
            return .finished(.done)
        }
        return try end(board, of: items.count)
    }

    /// Works on each file, once the keys of all have been tried. Files whose keys do not prove right are reported, and not worked on.
    ///
    /// - Parameters:
    ///   - prove: tries the keys of one file and changes nothing. What it returns is kept for the work on that file.
    ///   - work: what is done to one file whose keys are right.
    func run<Proof: Sendable>(
        _ items: [Manifest.Item], provingFirst prove: @Sendable (Manifest.Item) throws -> Proof,
        _ work: @Sendable (Manifest.Item, Proof) throws -> Void
    ) throws -> ExitStatus {
        let board = Board()
        let proofs = Mutex<[Manifest.Item: Proof]>([:])
        try each(items, phase: "trying keys", of: items.count, board) { item in
            let proof = try prove(item)
            proofs.withLock { $0[item] = proof }
            return .proved
        }
        let proved = proofs.withLock { proofs in items.filter { proofs[$0] != nil } }
        try each(proved, phase: command, of: items.count, board) { item in
            // Taken out, so that derived keys are wiped once they have served.
            guard let proof = proofs.withLock({ $0.removeValue(forKey: item) }) else { return .proved }
            try work(item, proof)
            return .finished(.done)
        }
        return try end(board, of: items.count)
    }

    private func each(
        _ items: [Manifest.Item], phase: String, of total: Int, _ board: Board, _ body: @Sendable (Manifest.Item) throws -> Outcome
    ) throws {
        guard !items.isEmpty else { return }
        let next = Mutex(0)
        let tried = Mutex(0)
        try session.interruption.cooperatively {
            DispatchQueue.concurrentPerform(iterations: min(jobs, items.count)) { _ in
                while session.interruption.status == nil, let item = next.withLock({ BatchRun.take(&$0, of: items) }) {
                    let outcome = process(item, body)
                    let finished = board.note(outcome)
                    let count =
                        if case .proved = outcome {
                            tried.withLock {
                                $0 += 1; return $0 + finished
                            }
                        } else { finished }
                    session.reporter.progress(
                        ProgressState(path: "batch", phase: phase, completed: Int64(count), total: Int64(total), unit: "files"))
                }
            }
        }
    }

    private static func take(_ next: inout Int, of items: [Manifest.Item]) -> Manifest.Item? {
        guard next < items.count else { return nil }
        defer { next += 1 }
        return items[next]
    }

    private func end(_ board: Board, of total: Int) throws -> ExitStatus {
        let tally = board.tally
        session.reporter.note(
            "\(TextLayout.grouped(tally.succeeded)) of \(TextLayout.counted(total, "file", "files")) done, "
                + "\(TextLayout.grouped(tally.failed)) failed, \(TextLayout.grouped(board.skipped)) done before")
        if let status = session.interruption.status {
            let words = state == nil ? "run the command again." : "go on with --continue."
            throw Failure(status, "interrupted", "Interrupted. Every file is whole; \(words)")
        }
        return tally.failed > 0 ? .someFailed : .done
    }

    private func process(_ item: Manifest.Item, _ body: (Manifest.Item) throws -> Outcome) -> Outcome {
        do {
            let id = try BatchState.id(item)
            if let state, state.isDone(id) {
                session.reporter.result(
                    [.init("path", .string(item.path)), .init("changed", false), .init("skipped", true), .init("code", 0)],
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
                outcome = .finished(failure.status)
            }
            if case .finished(let status) = outcome { try state?.note(id, path: item.location, command: command, code: status) }
            return outcome
        } catch {
            let failure = session.failure(error)
            session.reporter.failure(failure, path: item.path)
            return .finished(failure.status)
        }
    }

    /// What the workers share.
    private final class Board: Sendable {
        private struct State {
            var skipped = 0
            var tally = StatusTally()
        }

        private let state = Mutex(State())

        var tally: StatusTally { state.withLock { $0.tally } }
        var skipped: Int { state.withLock { $0.skipped } }

        /// Returns how many files are dealt with.
        func note(_ outcome: Outcome) -> Int {
            state.withLock { state in
                switch outcome {
                case .finished(let status): state.tally.add(status)
                case .skipped: state.skipped += 1
                case .proved, .interrupted: break
                }
                return state.skipped + state.tally.succeeded + state.tally.failed
            }
        }
    }
}
