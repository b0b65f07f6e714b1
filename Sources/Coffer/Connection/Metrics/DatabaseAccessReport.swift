/// A summary of one access that has ended: see ``Configuration/accessObserver``.
///
/// It has no values of the database and no keys, so it can be logged. Texts and numbers that the SQL itself
/// contains are shown: give values as arguments.
public struct DatabaseAccessReport: Sendable {
    /// A kind of access.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A read, on a reader of a pool or by `read` of a queue.
        case read
        /// Any other access.
        case write
    }

    /// A statement of an access.
    public struct Statement: Sendable, Hashable {
        /// The SQL with its parameters, and with all keys redacted.
        public let sql: String

        /// The time until the statement ended, or until the next one began. It includes the time that the
        /// application took between two rows.
        public let duration: Duration
    }

    /// The kind of the access.
    public let kind: Kind

    /// The path of the database.
    public let path: String

    /// The time from the request to the beginning of the access.
    public let waited: Duration

    /// The time from the beginning of the access to its end.
    public let ran: Duration

    /// The number of statements, without those that begin and end transactions.
    public let statementCount: Int

    /// The number of rows that were inserted, updated or deleted.
    public let changedRowCount: Int

    /// The number of pages that were in the page cache.
    public let cachedPageCount: Int

    /// The number of pages that were read from the file and decrypted.
    public let readPageCount: Int

    /// The statement that took longest, which may be the one that ended the transaction.
    public let slowestStatement: Statement?

    /// The error that the access has thrown. Unlike the rest of the report, its description may show values:
    /// see ``Configuration/publicStatementArguments``.
    public let error: (any Error)?
}
