internal import Dispatch
internal import Synchronization

/// The result of a concurrent read that may still be running.
public final class DatabaseFuture<Value>: Sendable {
    // @unchecked: the result is written once, before the semaphore is signalled, and is read only after that.
    private struct Box: @unchecked Sendable {
        var result: Result<Value, any Error>?
    }

    private let box = Mutex(Box())
    private let isDone = DispatchSemaphore(value: 0)

    init() {}

    func fulfill(_ result: Result<Value, any Error>) {
        let box = Box(result: result)
        self.box.withLock { $0 = box }
        isDone.signal()
    }

    /// Blocks the current thread until the read has ended, and returns its result. Can be called on any
    /// thread, any number of times.
    ///
    /// - Throws: the error of the read.
    /// - Precondition: not called inside the read itself, which would wait forever.
    public func wait() throws -> Value {
        isDone.wait()
        // Let the next caller pass as well.
        isDone.signal()
        guard let result = box.withLock({ $0 }).result else {
            preconditionFailure("The future was fulfilled without a result.")
        }
        return try result.get()
    }
}

extension DatabaseWriter {
    /// Runs `value` concurrently with the code after the call, on a connection that sees the current last
    /// committed state.
    ///
    ///     let count = pool.writeWithoutTransaction { _ in
    ///         pool.concurrentRead { db in try Item.fetchCount(db) }
    ///     }
    ///     print(try count.wait())
    ///
    /// - Precondition: called inside a write access, outside any transaction.
    public func concurrentRead<T>(_ value: @escaping @Sendable (Database) throws -> T) -> DatabaseFuture<T> {
        let future = DatabaseFuture<T>()
        spawnConcurrentRead { result in
            future.fulfill(Result { try value(result.get()) })
        }
        return future
    }
}
