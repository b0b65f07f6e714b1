/// Determines how transactions end, from the reports of SQLite's hooks during statements and from the results
/// of statements. Makes decisions only (invariant "Pure state machines").
///
/// SQLite does not call the commit hook for transactions without writes, and may call it for a commit that
/// fails afterwards. The rollback hook is always called.
struct TransactionTracker {
    /// The event to report to observers after the statement has ended.
    enum Ending {
        /// The transaction has been committed.
        case commit

        /// The transaction has ended without any write, so observers have not been asked yet.
        case emptyCommit

        /// A statement outside a transaction has failed, and its changes have been undone. Only observers
        /// that were notified of the changes need this, because the program knows of no transaction.
        case failedStatement

        /// The transaction has been rolled back, by an observer if there is a refusal.
        case rollback(refusal: (any Error)?)
    }

    private enum HookReport {
        case nothing
        case allowedCommit
        case refusedCommit(any Error)
        case rollback
        /// A commit that observers allowed, but that failed afterwards.
        case failedCommit
    }

    private var report = HookReport.nothing

    /// True if a transaction was open after the last statement.
    private var isOpen = false

    /// True if that transaction began while the connection could only read. Observers are not notified of its
    /// end.
    private var isReadOnly = false

    mutating func commitHookDidAllow() {
        report = .allowedCommit
    }

    mutating func commitHookDidRefuse(_ error: any Error) {
        report = .refusedCommit(error)
    }

    mutating func rollbackHookDidRun() {
        // This rollback is the consequence of the refusal.
        switch report {
        case .refusedCommit: return
        case .allowedCommit, .failedCommit: report = .failedCommit
        case .nothing, .rollback: report = .rollback
        }
    }

    /// True if a hook has reported the end of a transaction, and no statement has ended since.
    var hasReport: Bool {
        if case .nothing = report { return false }
        return true
    }

    /// True if a hook has reported a rollback, and no statement has ended since.
    var hasRollbackReport: Bool {
        switch report {
        case .nothing, .allowedCommit: false
        case .refusedCommit, .rollback, .failedCommit: true
        }
    }

    /// Records that a statement has ended, and returns its effect on the transaction.
    ///
    /// - Parameters:
    ///   - step: the effect on transactions according to the compilation.
    ///   - isInsideTransaction: true if a transaction is open now.
    ///   - isReadOnly: true if the connection can only read now.
    mutating func statementDidEnd(
        successfully: Bool, step: StatementFacts.TransactionStep?, isInsideTransaction: Bool, isReadOnly: Bool
    ) -> Ending? {
        let report = report
        let wasOpen = isOpen
        let wasReadOnly = wasOpen && self.isReadOnly
        self.report = .nothing
        isOpen = isInsideTransaction
        if isInsideTransaction && !wasOpen {
            self.isReadOnly = isReadOnly
        }

        switch report {
        case .refusedCommit(let error):
            return .rollback(refusal: error)
        case .rollback:
            // A statement that fails outside a transaction undoes only its own changes.
            guard wasOpen else { return .failedStatement }
            return wasReadOnly ? nil : .rollback(refusal: nil)
        case .failedCommit:
            return wasReadOnly ? nil : .rollback(refusal: nil)
        case .allowedCommit:
            // A failed commit that can be retried leaves the transaction open.
            return isInsideTransaction ? nil : .commit
        case .nothing:
            switch step {
            case .commit where successfully && !isInsideTransaction,
                .releaseSavepoint where successfully && !isInsideTransaction:
                return wasReadOnly ? nil : .emptyCommit
            default:
                return nil
            }
        }
    }
}
