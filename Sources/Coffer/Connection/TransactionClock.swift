public import Foundation

/// Gives the date of the current transaction.
public protocol TransactionClock: Sendable {
    /// The current date. It is asked once for each transaction, and at each call outside of transactions.
    func now(_ db: Database) throws -> Date
}

/// The clock of the system.
public struct DefaultTransactionClock: TransactionClock {
    public func now(_ db: Database) throws -> Date { Date() }
}

/// A clock made of a function.
public struct CustomTransactionClock: TransactionClock {
    private let clock: @Sendable (Database) throws -> Date

    /// Creates a clock from a closure that returns the time of a transaction.
    public init(_ clock: @escaping @Sendable (Database) throws -> Date) {
        self.clock = clock
    }

    public func now(_ db: Database) throws -> Date { try clock(db) }
}

extension TransactionClock where Self == DefaultTransactionClock {
    /// The clock of the system.
    public static var `default`: DefaultTransactionClock { DefaultTransactionClock() }
}

extension TransactionClock where Self == CustomTransactionClock {
    /// A clock made of a function.
    public static func custom(_ clock: @escaping @Sendable (Database) throws -> Date)
        -> CustomTransactionClock
    {
        CustomTransactionClock(clock)
    }
}
