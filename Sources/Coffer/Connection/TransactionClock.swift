public import Foundation

/// A type that provides the date of transactions.
public protocol TransactionClock: Sendable {
    /// Returns the current date. It is called once per transaction, and on each request outside transactions.
    func now(_ db: Database) throws -> Date
}

/// The system clock.
public struct DefaultTransactionClock: TransactionClock {
    public func now(_ db: Database) throws -> Date { Date() }
}

/// A clock that calls a function.
public struct CustomTransactionClock: TransactionClock {
    private let clock: @Sendable (Database) throws -> Date

    /// Creates a clock from a closure that returns the time of a transaction.
    public init(_ clock: @escaping @Sendable (Database) throws -> Date) {
        self.clock = clock
    }

    public func now(_ db: Database) throws -> Date { try clock(db) }
}

extension TransactionClock where Self == DefaultTransactionClock {
    /// The system clock.
    public static var `default`: DefaultTransactionClock { DefaultTransactionClock() }
}

extension TransactionClock where Self == CustomTransactionClock {
    /// Creates a clock that calls a function.
    public static func custom(_ clock: @escaping @Sendable (Database) throws -> Date)
        -> CustomTransactionClock
    {
        CustomTransactionClock(clock)
    }
}
