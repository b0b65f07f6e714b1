import Testing

@testable import Coffer

@Suite struct TransactionTrackerTests {
    private struct Refusal: Error {}

    @Test("a commit with writes is reported once the statement has ended")
    func commit() {
        var tracker = TransactionTracker()
        #expect(tracker.end(step: .begin, inside: true) == "nothing")
        tracker.commitHookDidAllow()
        #expect(tracker.hasReport)
        #expect(tracker.end(step: .commit, inside: false) == "commit")
        #expect(!tracker.hasReport)
        #expect(tracker.end(inside: false) == "nothing")
    }

    @Test("a failed commit that leaves the transaction open is not reported, and can be retried")
    func busyCommit() {
        var tracker = TransactionTracker()
        _ = tracker.end(step: .begin, inside: true)
        tracker.commitHookDidAllow()
        #expect(tracker.end(false, step: .commit, inside: true) == "nothing")
        tracker.commitHookDidAllow()
        #expect(tracker.end(step: .commit, inside: false) == "commit")
    }

    @Test("a commit that fails and rolls back is a rollback")
    func failedCommit() {
        var tracker = TransactionTracker()
        tracker.commitHookDidAllow()
        tracker.rollbackHookDidRun()
        #expect(tracker.end(false, inside: false) == "rollback")
    }

    @Test("a statement that fails outside a transaction is not a rollback")
    func failedStatement() {
        var tracker = TransactionTracker()
        tracker.rollbackHookDidRun()
        #expect(tracker.end(false, inside: false) == "failedStatement")
        _ = tracker.end(step: .begin, inside: true)
        tracker.rollbackHookDidRun()
        #expect(tracker.end(false, inside: false) == "rollback")
    }

    @Test("a refused commit is a rollback with its reason")
    func refusedCommit() {
        var tracker = TransactionTracker()
        tracker.commitHookDidRefuse(Refusal())
        tracker.rollbackHookDidRun()
        #expect(tracker.end(false, step: .commit, inside: false) == "refusal")
    }

    @Test("a transaction without writes is an empty commit")
    func emptyCommit() {
        var tracker = TransactionTracker()
        _ = tracker.end(step: .begin, inside: true)
        #expect(tracker.end(step: .commit, inside: false) == "emptyCommit")
        _ = tracker.end(step: .beginSavepoint("a"), inside: true)
        #expect(tracker.end(step: .releaseSavepoint("b"), inside: true) == "nothing")
        #expect(tracker.end(step: .releaseSavepoint("a"), inside: false) == "emptyCommit")
        #expect(tracker.end(false, step: .commit, inside: false) == "nothing")
    }

    @Test("the end of a read-only transaction is not reported, unless it has written")
    func readOnly() {
        var tracker = TransactionTracker()
        _ = tracker.end(step: .begin, inside: true, readOnly: true)
        #expect(tracker.end(step: .commit, inside: false, readOnly: true) == "nothing")
        _ = tracker.end(step: .begin, inside: true, readOnly: true)
        tracker.rollbackHookDidRun()
        #expect(tracker.end(step: .rollback, inside: false, readOnly: true) == "nothing")
        // Read-only in the middle of a transaction that can write.
        _ = tracker.end(step: .begin, inside: true)
        _ = tracker.end(step: .beginSavepoint("a"), inside: true, readOnly: true)
        tracker.rollbackHookDidRun()
        #expect(tracker.end(step: .rollback, inside: false, readOnly: true) == "rollback")
        // The next transaction can write again.
        _ = tracker.end(step: .begin, inside: true)
        #expect(tracker.end(step: .commit, inside: false) == "emptyCommit")
    }
}

extension TransactionTracker {
    fileprivate mutating func end(
        _ successfully: Bool = true, step: StatementFacts.TransactionStep? = nil, inside: Bool,
        readOnly: Bool = false
    ) -> String {
        switch statementDidEnd(
            successfully: successfully, step: step, isInsideTransaction: inside, isReadOnly: readOnly)
        {
        case nil: "nothing"
        case .commit?: "commit"
        case .emptyCommit?: "emptyCommit"
        case .failedStatement?: "failedStatement"
        case .rollback(refusal: nil)?: "rollback"
        case .rollback?: "refusal"
        }
    }
}
