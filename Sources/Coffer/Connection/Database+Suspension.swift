public import Foundation
internal import Synchronization

extension Database {
    /// Post it to have connections take no new lock on their files, before the system stops the program in
    /// the middle of something.
    ///
    /// It has an effect on queues and pools with ``Configuration/observesSuspensionNotifications``, at once:
    ///
    /// - The running statement of a queue, or of the writer of a pool, is interrupted (`SQLITE_INTERRUPT`).
    /// - An open transaction can still be ended, and then has what it has written before. Its next statement
    ///   that writes rolls it back, and throws `SQLITE_ABORT`. A transaction that outlives its access is
    ///   rolled back at once.
    /// - Later writes throw `SQLITE_ABORT`. So do reads, unless the database is in WAL mode, where they lock
    ///   out nobody.
    public static let suspendNotification = Notification.Name("Coffer.Database.Suspend")

    /// Post it to end what ``suspendNotification`` began.
    public static let resumeNotification = Notification.Name("Coffer.Database.Resume")
}

extension Database {
    /// Refuses a statement that would take or keep locks while the database is suspended.
    func checkSuspension(of statement: Statement) throws {
        switch statement.facts.transactionStep {
        // What gives locks back is always welcome.
        case .commit, .rollback, .releaseSavepoint, .rollbackToSavepoint: return
        case .begin, .beginSavepoint, nil: break
        }
        if statement.isReadonly, try journalMode() == "wal" { return }
        rollBackForSuspension()
        throw DatabaseError(
            resultCode: .SQLITE_ABORT, message: "Database is suspended", sql: statement.sql,
            arguments: statement.arguments,
            publicStatementArguments: configuration.publicStatementArguments)
    }

    /// Ends a transaction that outlives its access, or that the next statement finds in the way of a
    /// suspension.
    func rollBackForSuspension() {
        guard isInsideTransaction, sharedState.isSuspended.load(ordering: .relaxed) else { return }
        // The statement that asks gets its error in any case.
        transactions.uncancellably { try? rollback() }
    }
}

/// Listens to the notifications of suspension for one connection, as long as it lives.
// @unchecked: the tokens are made in `init` and used again in `deinit` only.
final class SuspensionListener: @unchecked Sendable {
    private let tokens: [any NSObjectProtocol]

    init(suspend: @escaping @Sendable () -> Void, resume: @escaping @Sendable () -> Void) {
        let center = NotificationCenter.default
        tokens = [
            center.addObserver(forName: Database.suspendNotification, object: nil, queue: nil) { _ in
                suspend()
            },
            center.addObserver(forName: Database.resumeNotification, object: nil, queue: nil) { _ in resume()
            },
        ]
    }

    deinit {
        for token in tokens { NotificationCenter.default.removeObserver(token) }
    }
}
