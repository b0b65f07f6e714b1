import Synchronization

/// What an observation has delivered so far, and a way to wait for more without a clock.
public final class ValueLog<Value: Sendable>: Sendable {
    private struct Content {
        var values: [Value] = []
        var error: (any Error)?
        var waiters: [(isMet: @Sendable ([Value], (any Error)?) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []

        mutating func takeMetWaiters() -> [CheckedContinuation<Void, Never>] {
            let met = waiters.filter { $0.isMet(values, error) }
            waiters.removeAll { $0.isMet(values, error) }
            return met.map(\.continuation)
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

    /// Waits until the values meet a condition, or the observation has failed. Returns the values.
    @discardableResult
    public func values(until isMet: @escaping @Sendable ([Value]) -> Bool) async -> [Value] {
        await wait { values, error in isMet(values) || error != nil }
        return values
    }

    /// Waits for a number of values, or the end of the observation. Returns all values.
    @discardableResult
    public func values(count: Int) async -> [Value] {
        await values { $0.count >= count }
    }

    /// Waits until the observation has failed, and returns the error.
    public func failure() async -> (any Error)? {
        await wait { _, error in error != nil }
        return error
    }

    private func wait(_ isMet: @escaping @Sendable ([Value], (any Error)?) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isMetNow = content.withLock { content in
                if isMet(content.values, content.error) { return true }
                content.waiters.append((isMet, continuation))
                return false
            }
            if isMetNow { continuation.resume() }
        }
    }
}

extension ValueLog where Value: Equatable {
    /// Waits until the last value is `value`, or the observation has failed. Returns the values.
    @discardableResult
    public func values(upTo value: Value) async -> [Value] {
        await values { $0.last == value }
    }
}
