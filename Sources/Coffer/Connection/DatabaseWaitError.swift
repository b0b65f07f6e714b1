public import Foundation

/// The error of an access that could not begin: it has waited too long, or too many accesses were waiting.
///
///     do {
///         try await pool.write(timeout: 0.2) { db in _ = try Share.deleteAll(db) }
///         return 200
///     } catch is DatabaseWaitError {
///         return 503  // the HTTP status "service unavailable"
///     }
///
/// The closure of the access was not called, and nothing was read or written. The access can be repeated
/// later.
///
/// The error is not a ``DatabaseError`` with a code of SQLite, because code that handles `SQLITE_BUSY` must
/// not mistake it for a lock of the file by another process. An access throws it only if
/// ``Configuration/maximumWait`` or ``Configuration/maximumWaiterCount`` is set, or if a timeout was passed.
/// ``DatabasePool/close(within:grace:)`` throws it if an access prevents the pool from being closed.
public enum DatabaseWaitError: Error, Sendable, Hashable {
    /// The resource was not available in time: see ``Configuration/maximumWait``.
    ///
    /// `waited` is the time from the request to the error, in seconds. It is zero if the access could not
    /// wait at all.
    case timedOut(Resource, waited: TimeInterval)

    /// The maximum number of accesses was already waiting for the resource: see
    /// ``Configuration/maximumWaiterCount``.
    case overloaded(Resource, waiterCount: Int)

    /// A resource that accesses wait for.
    public enum Resource: Sendable, Hashable {
        /// The connection that writes, of a pool.
        case writer

        /// One of the ``Configuration/maximumReaderCount`` connections that read, of a pool.
        case reader

        /// The end of the reads that were requested before, for a write that excludes reads:
        /// `barrierWriteWithoutTransaction`.
        case exclusiveAccess

        /// The only connection of a ``DatabaseQueue`` or a ``DatabaseSnapshot``.
        case connection

        /// A database of ``DatabasePools``: it is being opened, or as many databases as are allowed are open
        /// and in use.
        case openDatabase
    }

    /// The resource that the access needed.
    public var resource: Resource {
        switch self {
        case .timedOut(let resource, _), .overloaded(let resource, _): resource
        }
    }
}

extension DatabaseWaitError: CustomStringConvertible, LocalizedError {
    public var errorDescription: String? { description }

    public var description: String {
        switch self {
        case .timedOut(let resource, let waited):
            "\(resource.subject) not available within \(Self.rounded(waited)) s. The access has not begun."
        case .overloaded(let resource, let waiterCount):
            "\(resource.subject) not available, and \(waiterCount) accesses are waiting. "
                + "The access has not begun."
        }
    }

    private static func rounded(_ seconds: TimeInterval) -> Double { (seconds * 1000).rounded() / 1000 }
}

extension DatabaseWaitError.Resource {
    fileprivate var subject: String {
        switch self {
        case .writer: "The writer was"
        case .reader: "A reader was"
        case .exclusiveAccess: "Exclusive access was"
        case .connection: "The connection was"
        case .openDatabase: "The database was"
        }
    }
}
