public import Coffer
public import Dispatch
public import OpenCombine
// Makes a dispatch queue a scheduler.
internal import OpenCombineDispatch

extension DatabasePublishers {
    /// A publisher of one value that is read: see `readPublisher(receiveOn:value:)`.
    public struct Read<Output>: Publisher {
        public typealias Failure = any Error

        fileprivate let upstream: AnyPublisher<Output, any Error>

        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            upstream.receive(subscriber: subscriber)
        }
    }

    /// A publisher of one value after the commit of a transaction: see `writePublisher(receiveOn:updates:)`.
    public struct Write<Output>: Publisher {
        public typealias Failure = any Error

        fileprivate let upstream: AnyPublisher<Output, any Error>

        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            upstream.receive(subscriber: subscriber)
        }
    }

    /// A publisher of the end of a migration: see `DatabaseMigrator.migratePublisher(_:receiveOn:)`.
    public struct Migrate: Publisher {
        public typealias Output = Void
        public typealias Failure = any Error

        fileprivate let upstream: AnyPublisher<Void, any Error>

        public func receive<S: Subscriber>(subscriber: S) where S.Input == Void, S.Failure == Failure {
            upstream.receive(subscriber: subscriber)
        }
    }
}

extension DatabaseMigrator {
    /// Returns a publisher that migrates a database, once for each subscriber, and completes when all
    /// migrations are applied.
    ///
    /// - Parameter scheduler: the scheduler on which the completion is published.
    public func migratePublisher(
        _ writer: any DatabaseWriter, receiveOn scheduler: some Scheduler = DispatchQueue.main
    ) -> DatabasePublishers.Migrate {
        let access = AccessPublisher<Void>(schedule: { scheduler.schedule($0) }) { completion in
            asyncMigrate(writer) { result in completion(result.map { _ in }) }
        }
        return DatabasePublishers.Migrate(upstream: access.eraseToAnyPublisher())
    }
}

extension DatabaseReader {
    /// Returns a publisher that reads once for each subscriber, and publishes the value that was read.
    ///
    /// - Parameters:
    ///   - scheduler: the scheduler on which the value and the completion are published.
    ///   - value: reads from a connection that refuses to write, and that sees one state of the database.
    public func readPublisher<Output>(
        receiveOn scheduler: some Scheduler = DispatchQueue.main,
        value: @escaping @Sendable (Database) throws -> Output
    ) -> DatabasePublishers.Read<Output> {
        let access = AccessPublisher<Output>(schedule: { scheduler.schedule($0) }) { [self] completion in
            asyncRead { db in completion(Result { try value(db.get()) }) }
        }
        return DatabasePublishers.Read(upstream: access.eraseToAnyPublisher())
    }
}

extension DatabaseWriter {
    /// Returns a publisher that runs a transaction once for each subscriber, and publishes its value after
    /// the commit.
    ///
    /// - Parameters:
    ///   - scheduler: the scheduler on which the value and the completion are published.
    ///   - updates: writes in a transaction. An error rolls it back, and is published.
    public func writePublisher<Output>(
        receiveOn scheduler: some Scheduler = DispatchQueue.main,
        updates: @escaping @Sendable (Database) throws -> Output
    ) -> DatabasePublishers.Write<Output> {
        let access = AccessPublisher<Output>(schedule: { scheduler.schedule($0) }) { [self] completion in
            asyncWrite(updates) { _, result in completion(result) }
        }
        return DatabasePublishers.Write(upstream: access.eraseToAnyPublisher())
    }

    /// Returns a publisher that runs a transaction, reads the state after it, and publishes the value that
    /// was read.
    ///
    /// In a pool, the read does not delay other writes.
    ///
    /// - Parameters:
    ///   - scheduler: the scheduler on which the value and the completion are published.
    ///   - updates: writes in a transaction. An error rolls it back, and is published.
    ///   - value: reads the state of the database after the transaction; its second argument is the result of
    ///     `updates`.
    public func writePublisher<T: Sendable, Output>(
        receiveOn scheduler: some Scheduler = DispatchQueue.main,
        updates: @escaping @Sendable (Database) throws -> T,
        thenRead value: @escaping @Sendable (Database, T) throws -> Output
    ) -> DatabasePublishers.Write<Output> {
        let access = AccessPublisher<Output>(schedule: { scheduler.schedule($0) }) { [self] completion in
            asyncWrite(updates) { [self] _, result in
                switch result {
                case .success(let written):
                    spawnConcurrentRead { db in completion(Result { try value(db.get(), written) }) }
                case .failure(let error): completion(.failure(error))
                }
            }
        }
        return DatabasePublishers.Write(upstream: access.eraseToAnyPublisher())
    }
}
