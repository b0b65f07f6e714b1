internal import Synchronization

/// Something that goes on until it is cancelled: a started observation.
public protocol DatabaseCancellable: Sendable {
    /// Ends it. It has no effect the second time.
    func cancel()
}

/// A cancellable that ends what it stands for at the end of its own life, too.
public final class AnyDatabaseCancellable: DatabaseCancellable {
    private let onCancel: Mutex<(@Sendable () -> Void)?>

    /// Creates a cancellable that has nothing to cancel.
    public convenience init() {
        self.init(cancel: {})
    }

    /// Creates a cancellable that calls a function, once.
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
