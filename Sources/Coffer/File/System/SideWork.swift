internal import Dispatch
internal import Synchronization

/// Work that another thread does at the same time as this one does its own.
///
/// No free thread is assumed: if no thread has begun the work when its result is needed, the waiting thread
/// does it.
final class SideWork<Value: Sendable>: Sendable {
    /// The work, which is released with everything that it retains once it has run.
    private let body: Mutex<(@Sendable (StopSignal) throws -> Value)?>
    private let signal: StopSignal
    private let isBegun = Atomic<Bool>(false)
    private let result = Mutex<Result<Value, any Error>?>(nil)
    private let end = DispatchGroup()

    private init(_ body: @escaping @Sendable (StopSignal) throws -> Value, _ signal: StopSignal) {
        self.body = Mutex(body)
        self.signal = signal
        end.enter()
    }

    /// Does both parts of the work, and returns when both have ended.
    ///
    /// - Parameters:
    ///   - side: must check the signal regularly, and end soon when it is set, with any error.
    ///   - main: runs on this thread. If it throws, the signal is set, and its error is thrown.
    /// - Throws: the error of `main` or of `side`.
    static func run<Main>(
        side: @escaping @Sendable (StopSignal) throws -> Value, main: (SideWork<Value>) throws -> Main
    ) throws -> (main: Main, side: Value) {
        let work = SideWork(side, StopSignal())
        DispatchQueue(label: "Coffer.SideWork", target: .global()).async { work.begin() }
        do {
            let value = try main(work)
            return (value, try work.value {})
        } catch {
            work.signal.set()
            // The work has to end before its resources are closed. If it has not begun, it is canceled and
            // its resources are released.
            if work.isBegun.exchange(true, ordering: .acquiringAndReleasing) {
                work.end.wait()
            } else {
                work.body.withLock { $0 = nil }
                work.end.leave()
            }
            throw error
        }
    }

    private func begin() {
        guard !isBegun.exchange(true, ordering: .acquiringAndReleasing) else { return }
        perform()
        end.leave()
    }

    private func perform() {
        guard let body = body.withLock({ $0.take() }) else { return }
        let outcome = Result { try body(signal) }
        result.withLock { $0 = outcome }
    }

    /// Waits for the work.
    ///
    /// - Parameter whileWaiting: called a hundred times a second.
    /// - Throws: the error of the work, or of `whileWaiting`.
    func value(_ whileWaiting: () throws -> Void) throws -> Value {
        begin()
        while end.wait(timeout: .now() + .milliseconds(10)) == .timedOut { try whileWaiting() }
        guard let outcome = result.withLock({ $0 }) else { throw CancellationError() }
        return try outcome.get()
    }
}
