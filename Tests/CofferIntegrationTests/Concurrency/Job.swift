import CofferTestSupport
import Foundation
import Synchronization
import Testing

/// A function that runs on its own thread and whose result can be waited for.
final class Job<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)
    private let hasEnded = DispatchSemaphore(value: 0)
    private let hasBegun = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () throws -> Value) {
        let thread = Thread { [self] in
            hasBegun.signal()
            let outcome = Result { try body() }
            result.withLock { $0 = outcome }
            hasEnded.signal()
        }
        thread.start()
        hasBegun.wait()
    }

    func value() throws -> Value {
        guard hasEnded.wait(timeout: .now() + Patience.seconds) == .success else { throw LostPatience() }
        hasEnded.signal()
        return try result.withLock { $0 }!.get()
    }

    var isDone: Bool { result.withLock { $0 != nil } }
}

private struct LostPatience: Error {}

/// A gate that one thread waits at until another opens it.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    func pass() {
        if semaphore.wait(timeout: .now() + Patience.seconds) == .timedOut {
            Issue.record("The gate was not opened.")
        }
        semaphore.signal()
    }
}

/// Values in the order in which threads append them.
final class Notes<Value: Sendable>: Sendable {
    private let storage = Mutex<[Value]>([])

    func append(_ value: Value) { storage.withLock { $0.append(value) } }
    var values: [Value] { storage.withLock { $0 } }
}

/// Polls the condition, without sleeping, until it is true. Returns false if it never is.
func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
    let end = Date(timeIntervalSinceNow: Patience.seconds)
    while Date() < end {
        if try condition() { return true }
        sched_yield()
    }
    return try condition()
}

/// Polls the condition from a task. It yields, so that the few threads for tasks remain available to the work
/// that it waits for.
func eventuallyAwaited(_ condition: () throws -> Bool) async rethrows -> Bool {
    let end = Date(timeIntervalSinceNow: Patience.seconds)
    while Date() < end {
        if try condition() { return true }
        await Task.yield()
    }
    return try condition()
}
