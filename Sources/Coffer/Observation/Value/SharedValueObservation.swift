public import Dispatch
internal import Synchronization

/// The duration of a shared observation: see ``ValueObservation/shared(in:scheduling:extent:)``.
public enum SharedValueObservationExtent: Sendable {
    /// From the first start until the shared observation and all its clients are deinitialized.
    case observationLifetime

    /// As long as there is a client. The observation is started again for a later client.
    case whileObserved
}

/// One observation for several clients. After a change, the value is fetched once for all of them.
///
/// A client that is added later starts with the last value. If the observation fails, all clients get the
/// error, and the next start begins a new observation.
public final class SharedValueObservation<Element: Sendable>: Sendable {
    private final class Client: Sendable {
        let onError: @Sendable (any Error) -> Void
        let onChange: @Sendable (Element) -> Void

        /// True if the client has received a value.
        let hasBegun = Atomic<Bool>(false)
        let isCancelled = Atomic<Bool>(false)

        init(
            onError: @escaping @Sendable (any Error) -> Void, onChange: @escaping @Sendable (Element) -> Void
        ) {
            self.onError = onError
            self.onChange = onChange
        }

        func deliver(_ value: Element) {
            hasBegun.store(true, ordering: .sequentiallyConsistent)
            if !isCancelled.load(ordering: .sequentiallyConsistent) { onChange(value) }
        }
    }

    private struct Content {
        var clients: [Int: Client] = [:]
        var lastClientID = 0
        var value: Element?
        var cancellable: AnyDatabaseCancellable?

        /// The number of the current run of the observation. Values from an earlier run are ignored.
        var run = 0
        var isRunning = false

        /// Ends the run, and returns its cancellable.
        @discardableResult
        mutating func end() -> AnyDatabaseCancellable? {
            defer {
                isRunning = false
                value = nil
                cancellable = nil
            }
            return cancellable
        }
    }

    private let content = Mutex(Content())
    private let extent: SharedValueObservationExtent
    package let scheduler: any ValueObservationScheduler
    private let startObservation: AsyncValueObservation<Element>.Start

    init(
        extent: SharedValueObservationExtent, scheduler: any ValueObservationScheduler,
        start: @escaping AsyncValueObservation<Element>.Start
    ) {
        self.extent = extent
        self.scheduler = scheduler
        self.startObservation = start
    }

    /// Starts to deliver values to another client.
    ///
    /// - Parameters:
    ///   - onError: called with the error that ended the observation.
    ///   - onChange: called with each value, starting with the last one if there is one.
    /// - Returns: a cancellable. Delivery ends when it is cancelled or deinitialized.
    @preconcurrency
    public func start(
        onError: @escaping @Sendable (any Error) -> Void, onChange: @escaping @Sendable (Element) -> Void
    ) -> AnyDatabaseCancellable {
        let immediately = scheduler.immediateInitialValue()
        let client = Client(onError: onError, onChange: onChange)
        let (id, newRun) = content.withLock { content in
            content.lastClientID += 1
            content.clients[content.lastClientID] = client
            guard !content.isRunning else { return (content.lastClientID, nil as Int?) }
            content.isRunning = true
            content.run += 1
            return (content.lastClientID, content.run)
        }
        if let newRun {
            startRun(newRun)
        } else if immediately {
            deliverLastValue(to: client)
        } else {
            // Skip the last value if a newer one has been delivered by then.
            scheduler.schedule { [self] in
                if !client.hasBegun.load(ordering: .sequentiallyConsistent) { deliverLastValue(to: client) }
            }
        }
        return AnyDatabaseCancellable { [self] in remove(id, client) }
    }

    /// Returns the values as an asynchronous sequence. Each iteration is a client.
    public func values(
        bufferingPolicy: AsyncValueObservation<Element>.BufferingPolicy = .unbounded
    ) -> AsyncValueObservation<Element> {
        AsyncValueObservation(bufferingPolicy: bufferingPolicy) { [self] onError, onChange in
            start(onError: onError, onChange: onChange)
        }
    }

    // MARK: One run of the observation

    private func startRun(_ run: Int) {
        // The observation must not keep this object alive, or it would outlive all of its clients.
        let cancellable = startObservation(
            { [weak self] error in self?.fail(error, in: run) },
            { [weak self] value in self?.deliver(value, of: run) })
        let isOver = content.withLock { content in
            guard content.run == run, content.isRunning else { return true }
            content.cancellable = cancellable
            return false
        }
        if isOver { cancellable.cancel() }
    }

    private func deliver(_ value: Element, of run: Int) {
        let clients = content.withLock { content -> [Client] in
            guard content.run == run, content.isRunning else { return [] }
            content.value = value
            return content.clients.sorted { $0.key < $1.key }.map(\.value)
        }
        for client in clients { client.deliver(value) }
    }

    private func fail(_ error: any Error, in run: Int) {
        let clients = content.withLock { content -> [Client] in
            guard content.run == run, content.isRunning else { return [] }
            let clients = content.clients.sorted { $0.key < $1.key }.map(\.value)
            content.clients = [:]
            content.end()
            return clients
        }
        for client in clients where !client.isCancelled.exchange(true, ordering: .sequentiallyConsistent) {
            client.onError(error)
        }
    }

    private func deliverLastValue(to client: Client) {
        guard let value = content.withLock({ $0.value }) else { return }
        client.deliver(value)
    }

    private func remove(_ id: Int, _ client: Client) {
        client.isCancelled.store(true, ordering: .sequentiallyConsistent)
        let cancellable = content.withLock { content -> AnyDatabaseCancellable? in
            content.clients[id] = nil
            guard extent == .whileObserved, content.clients.isEmpty, content.isRunning else { return nil }
            return content.end()
        }
        cancellable?.cancel()
    }
}

extension ValueObservation {
    /// Returns one observation for several clients. After a change, the value is fetched once for all of
    /// them.
    ///
    ///     let shared = count.shared(in: queue)
    ///
    /// - Parameters:
    ///   - reader: a queue, a pool or a snapshot.
    ///   - scheduler: the scheduler that delivers values to all clients.
    ///   - extent: the duration of the observation, in particular when there are no clients.
    public func shared(
        in reader: any DatabaseReader,
        scheduling scheduler: some ValueObservationScheduler = .async(onQueue: .main),
        extent: SharedValueObservationExtent = .whileObserved
    ) -> SharedValueObservation<Reducer.Value> {
        SharedValueObservation(extent: extent, scheduler: scheduler) { onError, onChange in
            start(in: reader, scheduling: scheduler, onError: onError, onChange: onChange)
        }
    }
}
