public import Foundation
internal import Synchronization

extension Database {
    /// A notification that makes connections take no new locks on their files. Post it before the system
    /// suspends the program.
    ///
    /// It has an immediate effect on queues and pools with ``Configuration/observesSuspensionNotifications``:
    ///
    /// - The running statement of a queue, or of the writer of a pool, is interrupted (`SQLITE_INTERRUPT`).
    /// - An open transaction can still be committed, with the changes that it has made so far. Its next write
    ///   rolls it back and throws `SQLITE_ABORT`. A transaction that outlives its access is rolled back
    ///   immediately.
    /// - Later writes throw `SQLITE_ABORT`. So do reads, unless the database is in WAL mode, in which reads
    ///   do not block other connections.
    /// - An observation of values continues: it fetches its value again after the suspension.
    public static let suspendNotification = Notification.Name("Coffer.Database.Suspend")

    /// A notification that ends the suspension begun by ``suspendNotification``.
    public static let resumeNotification = Notification.Name("Coffer.Database.Resume")
}

extension Database {
    /// Throws an error if a statement would take or keep locks while the database is suspended.
    func checkSuspension(of statement: Statement) throws {
        switch statement.facts.transactionStep {
        // Statements that release locks are always allowed.
        case .commit, .rollback, .releaseSavepoint, .rollbackToSavepoint: return
        case .begin, .beginSavepoint, nil: break
        }
        if statement.isReadonly, try journalMode() == "wal" { return }
        rollBackForSuspension()
        throw statement.error(
            .SQLITE_ABORT, "Database is suspended", statement.arguments, messageIsOurs: true)
    }

    /// Rolls back the open transaction if the database is suspended.
    func rollBackForSuspension() {
        guard isInsideTransaction, sharedState.isSuspended.load(ordering: .relaxed) else { return }
        // The caller's statement throws its own error in any case.
        transactions.uncancellably { try? rollback() }
    }
}

/// Observes the suspension notifications for one connection.
// @unchecked: the tokens are created in `init`, and only used again in `deinit`.
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
