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
    /// - Parameters:
    ///   - isDone: whether the file is as the work leaves it, where an earlier run says that it was done.
    ///   - work: what is done to one file. It reports its own result; its failures are reported here.
    func run(
        _ items: [Manifest.Item], unless isDone: @Sendable (Manifest.Item) -> Bool, _ work: @Sendable (Manifest.Item) throws -> Void
    ) throws -> ExitStatus {
        let board = Board()
        try each(Array(items.indices), phase: command, of: items.count, board) { index in
            process(items[index], unless: isDone) { item in
                try work(item)
                return .finished(.done)
            }
        }
        return try end(board, of: items.count)
    }

    /// Works on each file, once the keys of all have been tried. Files whose keys do not prove right are reported, and not worked on.
    ///
    /// - Parameters:
    ///   - isDone: whether the file is as the work leaves it, where an earlier run says that it was done.
    ///   - prove: tries the keys of one file and changes nothing. What it returns is kept for the work on that file.
    ///   - work: what is done to one file whose keys are right.
    func run<Proof: Sendable>(
        _ items: [Manifest.Item], unless isDone: @Sendable (Manifest.Item) -> Bool,
        provingFirst prove: @Sendable (Manifest.Item) throws -> Proof, _ work: @Sendable (Manifest.Item, Proof) throws -> Void
    ) throws -> ExitStatus {
        let board = Board()
        let proofs = Mutex<[Int: Proof]>([:])
        try each(Array(items.indices), phase: "trying keys", of: items.count, board) { index in
            process(items[index], unless: isDone) { item in
                let proof = try prove(item)
                proofs.withLock { $0[index] = proof }
                return .proved
            }
        }
        let proved = proofs.withLock { $0.keys.sorted() }
        try each(proved, phase: command, of: items.count, board) { index in
            process(items[index], unless: { _ in false }) { item in
                // Taken out, so that derived keys are wiped once they have served.
                guard let proof = proofs.withLock({ $0.removeValue(forKey: index) }) else { return .proved }
                try work(item, proof)
                return .finished(.done)
            }
        }
        return try end(board, of: items.count)
    }

    /// Does the same for each of some files, several at a time. Its progress counts the files with which this phase is through; those that
    /// it has nothing to do with are through before it begins.
    private func each(
        _ indices: [Int], phase: String, of total: Int, _ board: Board, _ body: @Sendable (Int) -> Outcome
    ) throws {
        guard !indices.isEmpty else { return }
        let next = Mutex(0)
        let through = Mutex(total - indices.count)
        try session.interruption.cooperatively {
            DispatchQueue.concurrentPerform(iterations: min(jobs, indices.count)) { _ in
                while session.interruption.status == nil, !(failsFast && board.tally.failed > 0),
                    let index = next.withLock({ BatchRun.take(&$0, of: indices) })
                {
                    board.note(body(index))
                    // Under the lock, so that numbers are told in their order.
                    through.withLock { count in
                        count += 1
                        session.reporter.progress(
                            ProgressState(path: "batch", phase: phase, completed: Int64(count), total: Int64(total), unit: "files"))
                    }
                }
            }
        }
    }

    private static func take(_ next: inout Int, of indices: [Int]) -> Int? {
        guard next < indices.count else { return nil }
        defer { next += 1 }
        return indices[next]
    }

    private func end(_ board: Board, of total: Int) throws -> ExitStatus {
        let tally = board.tally
        let rest = total - tally.succeeded - tally.failed - board.skipped
        session.reporter.note(
            "\(TextLayout.grouped(tally.succeeded)) of \(TextLayout.counted(total, "file", "files")) done, "
                + "\(TextLayout.grouped(tally.failed)) failed, \(TextLayout.grouped(board.skipped)) done before"
                + (rest > 0 ? ", \(TextLayout.grouped(rest)) not begun" : ""))
        if let status = session.interruption.status {
            let words = state == nil ? "run the command again." : "go on with --continue."
            throw Failure(status, "interrupted", "Interrupted. Every file is whole; \(words)")
        }
        return tally.failed > 0 ? .someFailed : .done
    }

    private func process(
        _ item: Manifest.Item, unless isDone: (Manifest.Item) -> Bool, _ body: (Manifest.Item) throws -> Outcome
    ) -> Outcome {
        do {
            let id = try BatchState.id(item)
            // What the state claims has to prove true: the sources of the keys may have other keys by now.
            if let state, state.isDone(id), isDone(item) {
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
            if case .finished(let status) = outcome { try state?.note(id, path: item.path, command: command, code: status) }
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

        func note(_ outcome: Outcome) {
            state.withLock { state in
                switch outcome {
                case .finished(let status): state.tally.add(status)
                case .skipped: state.skipped += 1
                case .proved, .interrupted: break
                }
            }
        }
    }
}
