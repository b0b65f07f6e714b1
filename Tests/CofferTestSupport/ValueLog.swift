import Synchronization

/// The values that an observation has delivered, with a way to wait for more without a timer.
///
/// A wait ends when its task is canceled, for example by the time limit of a test, which then fails rather
/// than hangs.
public final class ValueLog<Value: Sendable>: Sendable {
    private struct Waiter {
        let isMet: @Sendable ([Value], (any Error)?) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct Content {
        var values: [Value] = []
        var error: (any Error)?
        var waiters: [Int: Waiter] = [:]
        var lastWaiterID = 0

        mutating func takeMetWaiters() -> [CheckedContinuation<Void, Never>] {
            guard !waiters.isEmpty else { return [] }
            let met = waiters.filter { $0.value.isMet(values, error) }
            for id in met.keys { waiters[id] = nil }
            return met.values.map(\.continuation)
        }
    }

    private let content = Mutex(Content())

    public init() {}

    public var values: [Value] { content.withLock { $0.values } }
    public var error: (any Error)? { content.withLock { $0.error } }

    @Sendable public func append(_ value: Value) {
        let met = content.withLock { content in
            content.values.append(value)
            return content.takeMetWaiters()
        }
        met.forEach { $0.resume() }
    }

    @Sendable public func fail(_ error: any Error) {
        let met = content.withLock { content in
            content.error = error
            return content.takeMetWaiters()
        }
        met.forEach { $0.resume() }
    }

    /// Waits until the values meet a condition or the observation has failed. Returns the values.
    @discardableResult
    public func values(until isMet: @escaping @Sendable ([Value]) -> Bool) async -> [Value] {
        await wait { values, error in isMet(values) || error != nil }
        return values
    }

    /// Waits for a number of values or the end of the observation. Returns all values.
    @discardableResult
    public func values(count: Int) async -> [Value] {
        await values { $0.count >= count }
    }

    /// Waits until the observation has failed and returns the error.
    public func failure() async -> (any Error)? {
        await wait { _, error in error != nil }
        return error
    }

    private func wait(_ isMet: @escaping @Sendable ([Value], (any Error)?) -> Bool) async {
        let id = content.withLock { content in
            content.lastWaiterID += 1
            return content.lastWaiterID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isMetNow = content.withLock { content in
                    if Task.isCancelled || isMet(content.values, content.error) { return true }
                    content.waiters[id] = Waiter(isMet: isMet, continuation: continuation)
                    return false
                }
                if isMetNow { continuation.resume() }
            }
        } onCancel: {
            content.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume()
        }
    }
}

extension ValueLog where Value: Equatable {
    /// Waits until the last value is `value` or the observation has failed. Returns the values.
    @discardableResult
    public func values(upTo value: Value) async -> [Value] {
        await values { $0.last == value }
    }
}
