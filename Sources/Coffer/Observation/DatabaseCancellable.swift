internal import Synchronization

/// An operation that can be cancelled, such as a started observation.
public protocol DatabaseCancellable: Sendable {
    /// Cancels the operation. Further calls have no effect.
    func cancel()
}

/// A type-erased cancellable that also cancels its operation when it is deinitialized.
public final class AnyDatabaseCancellable: DatabaseCancellable {
    private let onCancel: Mutex<(@Sendable () -> Void)?>

    /// Creates a cancellable without an operation.
    public convenience init() {
        self.init(cancel: {})
    }

    /// Creates a cancellable that calls a function, at most once.
    public init(cancel: @escaping @Sendable () -> Void) {
        onCancel = Mutex(cancel)
    }

    /// Creates a cancellable that cancels another one.
    public convenience init(_ cancellable: some DatabaseCancellable) {
        self.init(cancel: { cancellable.cancel() })
    }

    deinit {
        cancel()
    }

    public func cancel() {
        let cancel = onCancel.withLock { onCancel in
            defer { onCancel = nil }
            return onCancel
        }
        cancel?()
    }
}
