internal import Dispatch
internal import Synchronization

/// Work of tasks that blocks its thread for a long time, such as opening and closing files.
enum BlockingWork {
    /// Runs `body` on a thread of its own, and never on one of the threads that tasks share.
    ///
    /// A serial queue of its own always gets a thread, even if all threads of the global queues are blocked.
    ///
    /// - Parameters:
    ///   - label: the label of the queue.
    ///   - body: a function that is called once, even if the task is cancelled. The signal is set when the
    ///     task is cancelled.
    static func run<Value: Sendable>(
        _ label: String, _ body: @escaping @Sendable (StopSignal) throws -> Value
    ) async throws -> Value {
        let signal = StopSignal()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                DispatchQueue(label: label).async {
                    continuation.resume(with: Result { try body(signal) })
                }
            }
        } onCancel: {
            signal.set()
        }
    }
}

/// A signal that asks another thread to end its work.
final class StopSignal: Sendable {
    private let flag = Atomic<Bool>(false)

    var isSet: Bool { flag.load(ordering: .relaxed) }

    func set() { flag.store(true, ordering: .relaxed) }

    /// - Throws: `CancellationError` if the signal is set.
    func check() throws {
        if isSet { throw CancellationError() }
    }
}
