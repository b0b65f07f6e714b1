internal import Dispatch
internal import Synchronization

/// Checks that databases have files, on a limited number of threads. Each request for a closed database makes
/// such a check, and thousands of requests at once must not need thousands of threads, which a container may
/// not have.
///
/// Only one check of a database runs at a time: one whose file system hangs blocks one thread only. A request
/// that arrives during the check waits for the next one, because the file may have been created in between.
final class ExistenceChecks: Sendable {
    private typealias Request = CheckedContinuation<Void, any Error>

    private struct State {
        /// The requests for the next check of each database.
        var requests: [ExactText: [Request]] = [:]
        /// The databases that have such requests, and no check that runs.
        var line = WaitingLine<ExactText>()
        var running: Set<ExactText> = []
    }

    private let state = Mutex(State())
    private let maximumThreadCount: Int
    private let body: @Sendable (_ name: String) throws -> Void

    /// - Parameter body: throws an error if a database has no file. It may block.
    init(maximumThreadCount: Int, _ body: @escaping @Sendable (_ name: String) throws -> Void) {
        self.maximumThreadCount = maximumThreadCount
        self.body = body
    }

    /// Throws the error of a check that begins during the call.
    func check(_ name: ExactText) async throws {
        try await withCheckedThrowingContinuation { request in
            let next = state.withLock { state in
                state.requests[name, default: []].append(request)
                if state.requests[name]?.count == 1, !state.running.contains(name) { state.line.append(name) }
                return takeNext(&state)
            }
            guard let next else { return }
            DispatchQueue(label: "Coffer.Opening").async { self.run(from: next) }
        }
    }

    /// Runs checks until no database waits for one.
    private func run(from first: ExactText) {
        var next: ExactText? = first
        while let name = next {
            let requests = state.withLock { $0.requests.removeValue(forKey: name) ?? [] }
            let result = Result { try body(name.text) }
            for request in requests { request.resume(with: result) }
            next = state.withLock { state in
                state.running.remove(name)
                if state.requests[name] != nil { state.line.append(name) }
                return takeNext(&state)
            }
        }
    }

    /// Begins the check of the next database, if there is one, and a thread for it.
    private func takeNext(_ state: inout State) -> ExactText? {
        guard state.running.count < maximumThreadCount, let name = state.line.removeFirst() else {
            return nil
        }
        state.running.insert(name)
        return name
    }
}
