public import Coffer
public import Dispatch
public import OpenCombine

extension DatabasePublishers {
    /// A publisher of the values of an observation: see `ValueObservation.publisher(in:scheduling:)`.
    public struct Value<Output: Sendable>: Publisher {
        public typealias Failure = any Error

        let start: ObservationStart<Output>
        let schedule: @Sendable (@escaping @Sendable () -> Void) -> Void

        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            subscriber.receive(
                subscription: ObservationSubscription(
                    start: start, schedule: schedule, downstream: AnySubscriber(subscriber)))
        }
    }

    /// A publisher of the connection after each transaction that has changed a region: see
    /// `DatabaseRegionObservation.publisher(in:)`.
    public struct DatabaseRegion: Publisher {
        public typealias Output = Database
        public typealias Failure = any Error

        let start: ObservationStart<Database>

        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            subscriber.receive(
                subscription: ObservationSubscription(
                    start: start, schedule: nil, downstream: AnySubscriber(subscriber)))
        }
    }
}

extension ValueObservation {
    /// Returns a publisher of the values. Each subscription starts the observation, and ends it when it is
    /// canceled.
    ///
    /// The publisher never completes by itself. Values that a subscriber does not request are dropped, except
    /// the last one.
    ///
    /// - Parameter scheduler: the scheduler on which values and the error are published. With `.immediate`,
    ///   the first value is published before the subscription returns, which must be made on the main actor.
    public func publisher(
        in reader: any DatabaseReader,
        scheduling scheduler: some ValueObservationScheduler = .async(onQueue: .main)
    ) -> DatabasePublishers.Value<Reducer.Value> {
        DatabasePublishers.Value(
            start: { onError, onChange in
                start(in: reader, scheduling: scheduler, onError: onError, onChange: onChange)
            },
            schedule: { scheduler.schedule($0) })
    }
}

extension SharedValueObservation {
    /// Returns a publisher of the values. Each subscription is a client of the shared observation.
    public func publisher() -> DatabasePublishers.Value<Element> {
        DatabasePublishers.Value(
            start: { [self] onError, onChange in start(onError: onError, onChange: onChange) },
            schedule: { [self] in scheduler.schedule($0) })
    }
}

extension DatabaseRegionObservation {
    /// Returns a publisher of the connection after each transaction that has changed the regions, before any
    /// other access can write.
    ///
    /// It publishes where the database is written, so the connection must not be used elsewhere, or later.
    /// Transactions that a subscriber does not request are dropped.
    public func publisher(in writer: any DatabaseWriter) -> DatabasePublishers.DatabaseRegion {
        DatabasePublishers.DatabaseRegion { onError, onChange in
            start(in: writer, onError: onError, onChange: onChange)
        }
    }
}
