extension ValueObservation {
    /// Starts the observation, and delivers its values on the main actor.
    ///
    ///     let weights = ValueObservation.tracking { db in try Item.select({ sum($0.weight) }, as: Int.self).fetchOne(db) }
    ///     let watch = weights.start(in: pool, onError: { alarm.report($0) }, onChange: { scale.show($0 ?? 0) })
    ///
    /// - Parameters:
    ///   - reader: a queue, a pool or a snapshot.
    ///   - scheduler: `.mainActor` delivers all values after the return. `.immediate` delivers the first one
    ///     before the return.
    ///   - onError: called with the error that ended the observation.
    ///   - onChange: called with each value.
    /// - Returns: a cancellable. The observation ends when it is cancelled or deinitialized.
    @MainActor @preconcurrency
    public func start(
        in reader: any DatabaseReader,
        scheduling scheduler: some ValueObservationMainActorScheduler = .mainActor,
        onError: @escaping @MainActor @Sendable (any Error) -> Void,
        onChange: @escaping @MainActor @Sendable (Reducer.Value) -> Void
    ) -> AnyDatabaseCancellable {
        // A main actor scheduler calls its actions only on the main actor.
        let regular: any ValueObservationScheduler = scheduler
        return start(
            in: reader, scheduling: regular,
            onError: { error in MainActor.assumeIsolated { onError(error) } },
            onChange: { value in MainActor.assumeIsolated { onChange(value) } })
    }

    /// Starts the observation, and delivers its values with a scheduler.
    ///
    /// - Parameters:
    ///   - reader: a queue, a pool or a snapshot.
    ///   - scheduler: for example `.async(onQueue: queue)`.
    ///   - onError: called with the error that ended the observation.
    ///   - onChange: called with each value.
    /// - Returns: a cancellable. The observation ends when it is cancelled or deinitialized.
    @preconcurrency
    public func start(
        in reader: any DatabaseReader,
        scheduling scheduler: some ValueObservationScheduler,
        onError: @escaping @Sendable (any Error) -> Void,
        onChange: @escaping @Sendable (Reducer.Value) -> Void
    ) -> AnyDatabaseCancellable {
        var observation = self
        observation.events = events.appending(ObservationHandlers(didFail: onError))
        return reader._add(observation: observation, scheduling: scheduler, onChange: onChange)
    }

    func start(
        in source: ObservationSource, scheduling scheduler: some ValueObservationScheduler,
        onChange: @escaping @Sendable (Reducer.Value) -> Void
    ) -> AnyDatabaseCancellable {
        let immediately = scheduler.immediateInitialValue()
        let observer = ValueObserver(
            self, source: source, schedule: { scheduler.schedule($0) }, onChange: onChange)
        observer.start(immediately: immediately)
        return AnyDatabaseCancellable { observer.cancel() }
    }
}

// MARK: - Async sequences

extension ValueObservation {
    /// Returns the values as an asynchronous sequence. Each iteration starts the observation.
    ///
    ///     for try await expired in expiredShares.values(in: pool, bufferingPolicy: .bufferingNewest(1)) {
    ///         try await revoke(expired)
    ///     }
    ///
    /// The iteration has no natural end. It throws the error that ended the observation, and ends when its
    /// task is cancelled.
    ///
    /// - Parameters:
    ///   - reader: a queue, a pool or a snapshot.
    ///   - scheduler: the scheduler that puts values into the buffer of the sequence.
    ///   - bufferingPolicy: the handling of values that arrive while the loop is busy. By default none is
    ///     lost; `.bufferingNewest(1)` skips outdated ones.
    public func values(
        in reader: any DatabaseReader,
        scheduling scheduler: some ValueObservationScheduler = .task,
        bufferingPolicy: AsyncValueObservation<Reducer.Value>.BufferingPolicy = .unbounded
    ) -> AsyncValueObservation<Reducer.Value> {
        AsyncValueObservation(bufferingPolicy: bufferingPolicy) { onError, onChange in
            start(in: reader, scheduling: scheduler, onError: onError, onChange: onChange)
        }
    }
}

/// The values of an observation, as an asynchronous sequence: see
/// ``ValueObservation/values(in:scheduling:bufferingPolicy:)``.
public struct AsyncValueObservation<Element: Sendable>: AsyncSequence, Sendable {
    public typealias BufferingPolicy = AsyncThrowingStream<Element, any Error>.Continuation.BufferingPolicy

    typealias Start =
        @Sendable (
            _ onError: @escaping @Sendable (any Error) -> Void,
            _ onChange: @escaping @Sendable (Element) -> Void
        ) -> AnyDatabaseCancellable

    /// The handling of values that arrive while the loop is busy.
    public var bufferingPolicy: BufferingPolicy

    private let start: Start

    init(bufferingPolicy: BufferingPolicy, start: @escaping Start) {
        self.bufferingPolicy = bufferingPolicy
        self.start = start
    }

    /// Starts the observation, which ends when the iterator is released.
    public func makeAsyncIterator() -> Iterator {
        let (stream, continuation) = AsyncThrowingStream.makeStream(
            of: Element.self, bufferingPolicy: bufferingPolicy)
        let cancellable = start({ continuation.finish(throwing: $0) }, { continuation.yield($0) })
        continuation.onTermination = { _ in cancellable.cancel() }
        return Iterator(iterator: stream.makeAsyncIterator(), cancellable: cancellable)
    }

    /// The iterator of the sequence.
    public struct Iterator: AsyncIteratorProtocol {
        private var iterator: AsyncThrowingStream<Element, any Error>.AsyncIterator
        private let cancellable: AnyDatabaseCancellable

        fileprivate init(
            iterator: AsyncThrowingStream<Element, any Error>.AsyncIterator,
            cancellable: AnyDatabaseCancellable
        ) {
            self.iterator = iterator
            self.cancellable = cancellable
        }

        public mutating func next() async throws -> Element? {
            try await iterator.next()
        }

        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, *)
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
            try await iterator.next(isolation: actor)
        }
    }
}
