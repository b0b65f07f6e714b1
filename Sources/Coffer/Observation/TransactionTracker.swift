/// Finds out how transactions end, from what SQLite's hooks report in the middle of statements and from how
/// statements end. Decisions only (I9).
///
/// SQLite's commit hook is not called for transactions without writes, and it may be called for a commit that
/// fails afterwards. The rollback hook is always called.
struct TransactionTracker {
    /// What observers are to be notified of, once the statement has ended.
    enum Ending {
        /// The transaction has been committed.
        case commit

        /// The transaction has ended without any write, so that nobody was asked before.
        case emptyCommit

        /// A statement outside of a transaction has failed, and its changes are undone: of interest only to
        /// those who were notified of them, as the program knows of no transaction.
        case failedStatement

        /// The transaction has been rolled back, by an observer if there is a refusal.
        case rollback(refusal: (any Error)?)
    }

    private enum HookReport {
        case nothing
        case allowedCommit
        case refusedCommit(any Error)
        case rollback
        /// A commit that observers were asked for, and that failed afterwards.
        case failedCommit
    }

    private var report = HookReport.nothing

    /// Whether a transaction was open after the last statement.
    private var isOpen = false

    /// Whether that transaction began while the connection could only read. Its end is of no interest to
    /// observers.
    private var isReadOnly = false

    mutating func commitHookDidAllow() {
        report = .allowedCommit
    }

    mutating func commitHookDidRefuse(_ error: any Error) {
        report = .refusedCommit(error)
    }

    mutating func rollbackHookDidRun() {
        // The rollback that follows a refusal is the consequence of it.
        switch report {
        case .refusedCommit: return
        case .allowedCommit, .failedCommit: report = .failedCommit
        case .nothing, .rollback: report = .rollback
        }
    }

    /// Whether a hook has reported the end of a transaction, and no statement has ended since.
    var hasReport: Bool {
        if case .nothing = report { return false }
        return true
    }

    /// Whether a hook has reported a rollback, and no statement has ended since.
    var hasRollbackReport: Bool {
        switch report {
        case .nothing, .allowedCommit: false
        case .refusedCommit, .rollback, .failedCommit: true
        }
    }

    /// Takes note of a statement that has ended, and returns what it did to the transaction.
    ///
    /// - Parameters:
    ///   - step: what the statement does to transactions, as it was compiled.
    ///   - isInsideTransaction: whether a transaction is open now.
    ///   - isReadOnly: whether the connection can only read now.
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
            // A statement that fails outside of a transaction takes back only what it did itself.
            guard wasOpen else { return .failedStatement }
            return wasReadOnly ? nil : .rollback(refusal: nil)
        case .failedCommit:
            return wasReadOnly ? nil : .rollback(refusal: nil)
        case .allowedCommit:
            // A commit that failed and can be tried again leaves the transaction open.
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
