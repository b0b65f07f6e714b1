internal import Dispatch
internal import Synchronization

/// The result of a concurrent read, which may not be there yet.
public final class DatabaseFuture<Value>: Sendable {
    // @unchecked: the result is written once, before the semaphore is signalled, and is read only after that.
    private struct Box: @unchecked Sendable {
        var result: Result<Value, any Error>?
    }

    private let box = Mutex(Box())
    private let isDone = DispatchSemaphore(value: 0)

    init() {}

    /// Creates a future with its result.
    init(_ result: Result<Value, any Error>) {
        box.withLock { $0 = Box(result: result) }
        isDone.signal()
    }

    func fulfill(_ result: Result<Value, any Error>) {
        let box = Box(result: result)
        self.box.withLock { $0 = box }
        isDone.signal()
    }

    /// Blocks the current thread until the read has ended, and returns its result. Can be called on any
    /// thread, several times.
    ///
    /// - Throws: the error of the read.
    /// - Precondition: not called from inside of the read itself, which would wait forever.
    public func wait() throws -> Value {
        isDone.wait()
        // Leave the door open for the next one.
        isDone.signal()
        guard let result = box.withLock({ $0 }).result else {
            preconditionFailure("The future was fulfilled without a result.")
        }
        return try result.get()
    }
}

extension DatabaseWriter {
    /// Runs `value` concurrently with what follows, on a connection that sees the last committed state of
    /// this moment.
    ///
    ///     let count = pool.writeWithoutTransaction { _ in
    ///         pool.concurrentRead { db in try Item.fetchCount(db) }
    ///     }
    ///     print(try count.wait())
    ///
    /// - Precondition: called inside of a write access, outside of any transaction.
    public func concurrentRead<T>(_ value: @escaping @Sendable (Database) throws -> T) -> DatabaseFuture<T> {
        let future = DatabaseFuture<T>()
        spawnConcurrentRead { result in
            future.fulfill(Result { try value(result.get()) })
        }
        return future
    }
}
