import Testing

@testable import Coffer

@Suite("PoolsState")
struct PoolsStateTests {
    private typealias State = PoolsState<String, Int, Int>
    private struct Failure: Error {}

    @Test("a database is opened once for all requests, and is leased to each of them")
    func opening() throws {
        var state = State(slotCount: 2, maximumOpeningCount: 2)
        #expect(try state.request("a", 1, within: .none).actions.openings == ["a"])
        #expect(try state.request("a", 2, within: .none).actions.openings == [])
        let opened = state.didOpen("a", 7)
        #expect(opened.answers.map(\.waiter) == [1, 2])
        #expect(opened.answers.allSatisfy { (try? $0.result.get()) == 7 })
        #expect(state.openCounts == (1, 1))
        #expect(state.takeNow("a") == 7 && state.takeNow("b") == nil)
        for _ in 0..<3 { #expect(state.release("a").closings.isEmpty) }
        #expect(state.openCounts == (1, 0))
    }

    @Test("the database that was used least recently is closed when a slot is needed")
    func eviction() throws {
        var state = State(slotCount: 3, maximumOpeningCount: 3)
        for (number, name) in ["a", "b", "c"].enumerated() {
            _ = try state.request(name, number, within: .none)
            _ = state.didOpen(name, number)
        }
        for name in ["b", "a", "c"] { _ = state.release(name) }
        #expect(state.takeNow("b") == 1)
        _ = state.release("b")
        let first = try state.request("d", 9, within: .none).actions
        #expect(first.closings.map(\.name) == ["a"] && first.openings.isEmpty)
        // The slot is free only when the file is closed.
        let second = try state.request("e", 10, within: .none).actions
        #expect(second.closings.map(\.name) == ["c"] && second.openings.isEmpty)
        #expect(state.didClose("a").openings == ["d"])
        #expect(state.didClose("c").openings == ["e"])
        #expect(state.usedSlotCount == 3)
    }

    @Test("a leased database is never closed, and requests wait for the end of a lease")
    func leases() throws {
        var state = State(slotCount: 1, maximumOpeningCount: 1)
        _ = try state.request("a", 1, within: .none)
        _ = state.didOpen("a", 7)
        #expect(state.takeNow("a") == 7)
        let waiting = try state.request("b", 2, within: .none).actions
        #expect(waiting.closings.isEmpty && waiting.openings.isEmpty)
        #expect(state.release("a").closings.isEmpty)
        #expect(state.release("a").closings.map(\.pool) == [7])
        #expect(state.takeNow("a") == nil)
        #expect(state.didClose("a").openings == ["b"])
    }

    @Test("a database that is requested while it closes is opened again")
    func reopening() throws {
        var state = State(slotCount: 1, maximumOpeningCount: 1)
        _ = try state.request("a", 1, within: .none)
        _ = state.didOpen("a", 7)
        _ = state.release("a")
        _ = try state.request("b", 2, within: .none)
        #expect(try state.request("a", 3, within: .none).actions.openings.isEmpty)
        #expect(state.didClose("a").openings == ["b"])
        #expect(state.didOpen("b", 8).answers.map(\.waiter) == [2])
        #expect(state.release("b").closings.map(\.name) == ["b"])
        #expect(state.didClose("b").openings == ["a"])
        #expect(state.didOpen("a", 9).answers.map(\.waiter) == [3])
    }

    @Test("a failed opening fails all its requests, and frees the slot")
    func failedOpening() throws {
        var state = State(slotCount: 1, maximumOpeningCount: 1)
        _ = try state.request("a", 1, within: .none)
        _ = try state.request("a", 2, within: .none)
        _ = try state.request("b", 3, within: .none)
        let failed = state.didFailToOpen("a", Failure())
        #expect(failed.answers.map(\.waiter) == [1, 2] && failed.openings == ["b"])
        for answer in failed.answers { #expect(throws: Failure.self) { try answer.result.get() } }
        #expect(try state.request("a", 4, within: .none).actions.openings.isEmpty)
        #expect(state.waitingRequestCount == 2)
    }

    @Test("an opening that is overdue does not keep others from beginning, up to the limit of all openings")
    func overdue() throws {
        var state = State(slotCount: 9, maximumOpeningCount: 3, maximumPromptCount: 1)
        let begun = try ["a", "b", "c", "d", "e"].map { name in
            try state.request(name, 0, within: .none).actions.openings
        }
        #expect(begun == [["a"], [], [], [], []])
        #expect(state.didBecomeOverdue("a").openings == ["b"])
        #expect(state.didBecomeOverdue("a").openings == [] && state.didBecomeOverdue("e").openings == [])
        #expect(state.didBecomeOverdue("b").openings == ["c"])
        #expect(state.didBecomeOverdue("c").openings == [])
        #expect(state.didOpen("c", 1).openings == ["d"])
        // One is overdue, and `d` is not.
        #expect(state.didFailToOpen("b", Failure()).openings == [])
        #expect(state.didOpen("d", 2).openings == ["e"])
        #expect(state.didBecomeOverdue("d").openings == [] && state.isOpen("d"))
        let isCreating = try state.claimNow("f", for: .creation)
        #expect(!isCreating)
        _ = state.didBecomeOverdue("e")
        let isCreatingNow = try state.claimNow("f", for: .creation)
        #expect(isCreatingNow)
        #expect(try state.request("g", 0, within: .none).actions.openings == [])
        #expect(state.didBecomeOverdue("f").openings == [], "three are being opened or created")
        #expect(state.didEndClaim("f").openings == ["g"])
    }

    @Test("no more databases are closed than can be opened at the same time, unless a closing is overdue")
    func boundedEviction() throws {
        var state = State(slotCount: 6, maximumOpeningCount: 6, maximumPromptCount: 2)
        for number in 0..<6 {
            _ = try state.request("\(number)", number, within: .none)
            _ = state.didOpen("\(number)", number)
            _ = state.release("\(number)")
        }
        let closings = try ["a", "b", "c", "d"].map { name in
            try state.request(name, 9, within: .none).actions.closings.map(\.name)
        }
        #expect(closings == [["0"], ["1"], [], []])
        #expect(state.takeNow("2") == 2)
        let next = state.didClose("0")
        #expect(next.openings == ["a"] && next.closings.map(\.name) == ["3"])
        #expect(state.didBecomeOverdue("1").closings.map(\.name) == ["4"])
        #expect(state.didBecomeOverdue("1").closings.isEmpty)
        let late = state.didClose("1")
        #expect(late.openings == ["b"] && late.closings.isEmpty)
        #expect(state.didBecomeOverdue("a").openings.isEmpty, "no slot is free")
        #expect(state.didClose("3").openings == ["c"])
    }

    @Test("a database without a lease can be closed, and is opened again for the next request")
    func closingOfIdle() throws {
        var state = State(slotCount: 2, maximumOpeningCount: 1)
        _ = try state.request("a", 1, within: .none)
        #expect(state.closeIdle("a").closings.isEmpty && state.idlePool("a") == nil)
        _ = state.didOpen("a", 7)
        #expect(state.closeIdle("a").closings.isEmpty && state.idlePool("a") == nil && state.isOpen("a"))
        #expect(state.takeLeased("a") == 7)
        for _ in 0..<2 { _ = state.release("a") }
        #expect(state.takeLeased("a") == nil && state.idlePool("a") == 7)
        #expect(state.closeIdle("a").closings.map(\.pool) == [7])
        #expect(state.takeNow("a") == nil && !state.isOpen("a") && !state.isAwaited("a"))
        #expect(try state.request("a", 2, within: .none).actions.openings.isEmpty)
        #expect(state.didClose("a").openings == ["a"])
    }

    @Test("a creation has a slot like an opening, and leases of its database wait for it")
    func creation() throws {
        var state = State(slotCount: 1, maximumOpeningCount: 1)
        let isCreating = try state.claimNow("a", for: .creation)
        #expect(isCreating)
        #expect(state.usedSlotCount == 1 && state.openCounts == (0, 0))
        #expect(throws: DatabaseNameTaken.self) { _ = try state.claimNow("a", for: .creation) }
        #expect(state.isAwaited("a") && !state.isAwaited("b"))
        #expect(try state.request("a", 1, within: .none).actions.openings.isEmpty)
        let hasSlot = try state.claimNow("b", for: .creation)
        #expect(!hasSlot)
        #expect(try state.requestClaim("b", for: .creation, 2, within: .none).actions.claims.isEmpty)
        #expect(throws: DatabaseNameTaken.self) {
            _ = try state.requestClaim("b", for: .creation, 3, within: .none)
        }
        let created = state.didEndClaim("a")
        #expect(created.claims.map(\.waiter) == [2] && created.openings.isEmpty)
        #expect(state.didEndClaim("b").openings == ["a"])
        #expect(state.didOpen("a", 7).answers.map(\.waiter) == [1])
        #expect(throws: DatabaseNameTaken.self) { _ = try state.claimNow("a", for: .creation) }
    }

    @Test("a creation waits for an opening, runs if the opening fails, and is refused if it succeeds")
    func creationDuringOpening() throws {
        var state = State(slotCount: 1, maximumOpeningCount: 1)
        _ = try state.request("a", 1, within: .none)
        let hasSlot = try state.claimNow("a", for: .creation)
        #expect(!hasSlot)
        _ = try state.requestClaim("a", for: .creation, 2, within: .none)
        let failed = state.didFailToOpen("a", Failure())
        #expect(failed.answers.map(\.waiter) == [1] && failed.claims.map(\.waiter) == [2])
        #expect(state.didEndClaim("a").openings.isEmpty && state.usedSlotCount == 0)
        _ = try state.request("a", 3, within: .none)
        _ = try state.requestClaim("a", for: .creation, 4, within: .none)
        let opened = state.didOpen("a", 7)
        #expect(opened.answers.map(\.waiter) == [3, 4] && state.openCounts == (1, 1))
        #expect(throws: DatabaseNameTaken.self) { try opened.answers[1].result.get() }
        #expect(state.waitingRequestCount == 0)
    }

    @Test("a creation closes a database that is not in use, keeps to its bounds, and can be withdrawn")
    func waitingCreation() throws {
        var state = State(slotCount: 1, maximumOpeningCount: 1)
        _ = try state.request("a", 1, within: .none)
        _ = state.didOpen("a", 7)
        #expect(throws: DatabaseWaitError.timedOut(.openDatabase, waited: 0)) {
            _ = try state.requestClaim("b", for: .creation, 2, within: WaitBounds(timeout: 0))
        }
        let start = ContinuousClock.now
        _ = try state.requestClaim("b", for: .creation, 3, within: WaitBounds(timeout: 1)) { start }
        #expect(state.expire(at: start + .seconds(1)).answers.map(\.waiter) == [3])
        let id = try state.requestClaim("b", for: .creation, 4, within: .none).id
        #expect(state.release("a").closings.map(\.pool) == [7])
        let isWithdrawn = state.cancel(id)
        #expect(isWithdrawn)
        #expect(state.didClose("a").claims.isEmpty && state.usedSlotCount == 0)
        let isCreating = try state.claimNow("b", for: .creation)
        #expect(isCreating)
        _ = try state.request("b", 5, within: .none)
        #expect(state.close(Failure()).answers.map(\.waiter) == [5])
        #expect(state.didEndClaim("b").openings.isEmpty && state.usedSlotCount == 0)
    }

    @Test("work on a file closes its database after the last lease, and precedes the requests that wait")
    func work() throws {
        var state = State(slotCount: 2, maximumOpeningCount: 1)
        _ = try state.request("a", 1, within: .none)
        _ = state.didOpen("a", 7)
        let isClaimed = try state.claimNow("a", for: .work)
        #expect(!isClaimed)
        #expect(try state.requestClaim("a", for: .work, 2, within: .none).actions.closings.isEmpty)
        // A task with a lease may need another one.
        #expect(state.takeNow("a") == 7)
        #expect(state.release("a").closings.isEmpty)
        #expect(state.release("a").closings.map(\.pool) == [7])
        #expect(state.takeNow("a") == nil && state.isAwaited("a"))
        _ = try state.request("a", 3, within: .none)
        #expect(try state.requestClaim("a", for: .work, 4, within: .none).actions.claims.isEmpty)
        #expect(state.didClose("a").claims.map(\.waiter) == [2])
        #expect(state.openCounts == (0, 0) && state.usedSlotCount == 1)
        // It does not count as an opening, however long it takes.
        #expect(try state.request("b", 5, within: .none).actions.openings == ["b"])
        #expect(state.didBecomeOverdue("a").openings.isEmpty)
        #expect(state.didOpen("b", 8).answers.map(\.waiter) == [5])
        let next = state.didEndClaim("a")
        #expect(next.claims.map(\.waiter) == [4] && next.openings.isEmpty)
        #expect(state.didEndClaim("a").openings == ["a"])
        #expect(state.didOpen("a", 9).answers.map(\.waiter) == [3])
    }

    @Test("work on a file begins at once if its database is closed, and a creation waits for it")
    func workOnClosed() throws {
        var state = State(slotCount: 1, maximumOpeningCount: 1)
        let isClaimed = try state.claimNow("a", for: .work)
        #expect(isClaimed)
        let isCreating = try state.claimNow("a", for: .creation)
        #expect(!isCreating)
        _ = try state.requestClaim("a", for: .creation, 1, within: .none)
        _ = try state.requestClaim("a", for: .work, 2, within: .none)
        let withdrawn = try state.requestClaim("a", for: .work, 3, within: .none).id
        let isWithdrawn = state.cancel(withdrawn)
        #expect(isWithdrawn)
        #expect(state.didEndClaim("a").claims.map(\.waiter) == [1])
        #expect(state.didEndClaim("a").claims.map(\.waiter) == [2])
        #expect(state.close(Failure()).answers.isEmpty)
        #expect(state.didEndClaim("a").claims.isEmpty && state.usedSlotCount == 0)
    }

    @Test("work that waits for an opening closes the database if it has no lease")
    func workDuringOpening() throws {
        var state = State(slotCount: 1, maximumOpeningCount: 1)
        let id = try state.request("a", 1, within: .none).id
        _ = try state.requestClaim("a", for: .work, 2, within: .none)
        let isWithdrawn = state.cancel(id)
        #expect(isWithdrawn)
        let opened = state.didOpen("a", 7)
        #expect(opened.answers.isEmpty && opened.closings.map(\.pool) == [7])
        #expect(state.didClose("a").claims.map(\.waiter) == [2])
    }

    @Test("a request that is withdrawn leaves no place in the line")
    func cancellation() throws {
        var state = State(slotCount: 1, maximumOpeningCount: 1)
        _ = try state.request("a", 1, within: .none)
        let ids = try (0..<20_000).map { number in
            try state.request("\(number % 5000)", number, within: .none).id
        }
        let withdrawn = ids.shuffled().map { state.cancel($0) }
        #expect(withdrawn.allSatisfy { $0 })
        #expect(!state.cancel(ids[0]) && state.waitingRequestCount == 1)
        _ = state.didOpen("a", 7)
        let released = state.release("a")
        #expect(released.closings.isEmpty && released.openings.isEmpty)
    }

    @Test("a database whose requests were all withdrawn is kept open")
    func cancelledOpening() throws {
        var state = State(slotCount: 1, maximumOpeningCount: 1)
        let id = try state.request("a", 1, within: .none).id
        let isWithdrawn = state.cancel(id)
        #expect(isWithdrawn)
        #expect(state.didOpen("a", 7).answers.isEmpty)
        #expect(state.openCounts == (1, 0) && state.takeNow("a") == 7)
    }

    @Test("requests that may not wait are refused, and others expire")
    func bounds() throws {
        var state = State(slotCount: 1, maximumOpeningCount: 1)
        let start = ContinuousClock.now
        for timeout in [0, -1, -Double.infinity, .nan] {
            #expect(throws: DatabaseWaitError.timedOut(.openDatabase, waited: 0)) {
                try state.request("a", 1, within: WaitBounds(timeout: timeout)) { start }
            }
        }
        #expect(state.usedSlotCount == 0)
        _ = try state.request("a", 1, within: WaitBounds(timeout: 1)) { start }
        #expect(throws: DatabaseWaitError.overloaded(.openDatabase, waiterCount: 1)) {
            try state.request("a", 2, within: WaitBounds(maximumWaiterCount: 1)) { start }
        }
        _ = try state.request("b", 3, within: WaitBounds(timeout: 2)) { start }
        #expect(state.expire(at: start + .milliseconds(999)).answers.isEmpty)
        let expired = state.expire(at: start + .seconds(1))
        #expect(expired.answers.map(\.waiter) == [1])
        #expect(state.didOpen("a", 7).answers.isEmpty)
        #expect(state.waitingRequestCount == 1)
    }

    @Test("closing fails all waiting requests, and closes each database after its last lease")
    func closing() throws {
        var state = State(slotCount: 4, maximumOpeningCount: 2)
        for name in ["a", "b"] {
            _ = try state.request(name, 0, within: .none)
            _ = state.didOpen(name, 0)
        }
        _ = state.release("a")
        _ = try state.request("c", 1, within: .none)
        _ = try state.request("d", 2, within: .none)
        let closed = state.close(Failure())
        #expect(closed.answers.map(\.waiter) == [1, 2] && closed.closings.map(\.name) == ["a"])
        #expect(state.takeNow("b") == nil)
        #expect(state.didOpen("c", 9).closings.map(\.name) == ["c"])
        #expect(state.didFailToOpen("d", Failure()).closings.isEmpty)
        #expect(state.release("b").closings.map(\.name) == ["b"])
        for name in ["a", "b", "c"] {
            let actions = state.didClose(name)
            #expect(actions.openings.isEmpty && actions.closings.isEmpty)
        }
        #expect(state.usedSlotCount == 0)
    }
}
