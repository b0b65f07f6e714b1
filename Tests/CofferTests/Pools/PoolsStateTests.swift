import CofferTestSupport
import Testing

@testable import Coffer

@Suite("PoolsState")
struct PoolsStateTests {
    private typealias State = PoolsState<Int, Int>
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

    @Test("an error is the answer to all requests, and frees the slot")
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

    @Test("a creation waits for an opening, which fails, and is refused if it succeeds")
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

    @Test("a database that nobody waits for any more is kept open")
    func cancelledOpening() throws {
        var state = State(slotCount: 1, maximumOpeningCount: 1)
        let id = try state.request("a", 1, within: .none).id
        let isWithdrawn = state.cancel(id)
        #expect(isWithdrawn)
        #expect(state.didOpen("a", 7).answers.isEmpty)
        #expect(state.openCounts == (1, 0) && state.takeNow("a") == 7)
    }

    @Test("requests are refused without a wait, and expire")
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

    @Test("closing answers what waits, and closes each database after its last lease")
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

    // MARK: - Against a model

    /// The facts that must hold in each schedule, kept in their simplest form.
    private struct Model {
        let slotCount: Int
        let maximumOpeningCount: Int
        let maximumPromptCount: Int
        var opening: Set<String> = []
        var overdueOpenings: Set<String> = []
        var overdueClosings: Set<String> = []
        var closing: Set<String> = []
        /// The databases on whose files there is work.
        var working: Set<String> = []
        /// The leases of each open database.
        var open: [String: Int] = [:]
        /// The open databases, the most recently used one last.
        var order: [String] = []
        var waiting: [(id: UInt64, waiter: Int, name: String, isWork: Bool, end: Int?)] = []

        var used: Int { opening.count + closing.count + open.count + working.count }

        func hasWork(_ name: String) -> Bool { waiting.contains { $0.name == name && $0.isWork } }

        mutating func use(_ name: String) {
            order.removeAll { $0 == name }
            order.append(name)
        }

        mutating func endClosing(_ name: String) {
            closing.remove(name)
            overdueClosings.remove(name)
        }

        mutating func take(_ actions: State.Actions, expected: [Int]) {
            #expect(actions.answers.map(\.waiter) == expected)
            waiting.removeAll { waiter in expected.contains(waiter.waiter) }
            for name in actions.openings {
                #expect(!opening.contains(name) && !closing.contains(name) && open[name] == nil)
                #expect(waiting.contains { $0.name == name }, "nobody waits for \(name)")
                #expect(!hasWork(name) && !working.contains(name))
                opening.insert(name)
            }
            for (name, _, waiter) in actions.claims {
                #expect(waiting.first { $0.name == name && $0.isWork }?.waiter == waiter)
                #expect(!opening.contains(name) && !closing.contains(name) && open[name] == nil)
                #expect(working.insert(name).inserted)
                waiting.removeAll { $0.waiter == waiter }
            }
            for (name, _) in actions.closings {
                #expect(open[name] == 0, "\(name) has a lease, or is not open")
                let isOldest = order.first { open[$0] == 0 } == name
                #expect(isOldest || hasWork(name), "another was used less recently")
                open[name] = nil
                order.removeAll { $0 == name }
                closing.insert(name)
            }
            #expect(used <= slotCount && opening.count <= maximumOpeningCount)
            #expect(opening.count - overdueOpenings.count <= maximumPromptCount)
        }

        /// The names that need a slot.
        var needy: Set<String> {
            Set(waiting.filter { !$0.isWork || open[$0.name] == nil }.map(\.name)).filter {
                !opening.contains($0) && !closing.contains($0) && !working.contains($0)
            }
        }

        /// Nothing stands still that could go on.
        func checkProgress() {
            #expect(needy.allSatisfy { open[$0] == nil }, "a request waits for an open database")
            #expect(
                open.allSatisfy { $0.value > 0 || !hasWork($0.key) },
                "work waits for a database without a lease")
            guard !needy.isEmpty else { return }
            let mayOpen =
                opening.count < maximumOpeningCount
                && opening.count - overdueOpenings.count < maximumPromptCount
            #expect(used == slotCount || !mayOpen, "a slot is unused")
            let soonFree = slotCount - used + closing.count - overdueClosings.count
            let isEnough = min(needy.count, maximumPromptCount) <= soonFree
            #expect(isEnough || !open.values.contains(0), "a database without a lease keeps its slot")
        }
    }

    @Test(
        "random schedules keep to the limits, lose no request, and never close a leased database",
        arguments: 0..<300)
    func model(run: Int) throws {
        var random = SeededRandom(seed: UInt64(run), "pools")
        var model = Model(
            slotCount: Int.random(in: 1...5, using: &random),
            maximumOpeningCount: Int.random(in: 1...3, using: &random),
            maximumPromptCount: Int.random(in: 1...3, using: &random))
        var state = State(
            slotCount: model.slotCount, maximumOpeningCount: model.maximumOpeningCount,
            maximumPromptCount: model.maximumPromptCount)
        let names = (0..<Int.random(in: 1...9, using: &random)).map { "\($0)" }
        let start = ContinuousClock.now
        var (now, nextWaiter, nextPool) = (0, 0, 0)
        var pools: [String: Int] = [:]

        func request(_ name: String, isWork: Bool) throws {
            if isWork {
                if try state.claimNow(name, for: .work) {
                    #expect(model.working.insert(name).inserted)
                    return
                }
            } else if let pool = state.takeNow(name) {
                #expect(pool == pools[name])
                model.open[name, default: 0] += 1
                return
            }
            #expect(isWork || model.open[name] == nil)
            let timeout = Bool.random(using: &random) ? nil : Int.random(in: 0...20, using: &random)
            let bounds = WaitBounds(timeout: timeout.map { Double($0) / 1000 })
            nextWaiter += 1
            let time = start + .milliseconds(now)
            do {
                let (id, actions) =
                    isWork
                    ? try state.requestClaim(name, for: .work, nextWaiter, within: bounds) { time }
                    : try state.request(name, nextWaiter, within: bounds) { time }
                model.waiting.append((id, nextWaiter, name, isWork, timeout.map { now + $0 }))
                model.take(actions, expected: [])
            } catch let error as DatabaseWaitError {
                #expect(timeout == 0 && error == .timedOut(.openDatabase, waited: 0))
            }
        }
        func endOpening(_ name: String, succeeds: Bool) {
            model.opening.remove(name)
            model.overdueOpenings.remove(name)
            let waiters = model.waiting.filter { $0.name == name && !$0.isWork }.map(\.waiter)
            guard succeeds else {
                return model.take(state.didFailToOpen(name, Failure()), expected: waiters)
            }
            nextPool += 1
            pools[name] = nextPool
            model.open[name] = waiters.count
            model.use(name)
            let actions = state.didOpen(name, nextPool)
            for answer in actions.answers { #expect((try? answer.result.get()) == nextPool) }
            model.take(actions, expected: waiters)
        }
        func release(_ name: String) {
            model.open[name]? -= 1
            model.use(name)
            model.take(state.release(name), expected: [])
        }

        for _ in 0..<400 {
            let (opening, closing) = (model.opening.sorted(), model.closing.sorted())
            let leased = model.open.keys.filter { model.open[$0] != 0 }.sorted()
            let working = model.working.sorted()
            switch Int.random(in: 0..<15, using: &random) {
            case 0...4: try request(names.randomElement(using: &random)!, isWork: false)
            case 13: try request(names.randomElement(using: &random)!, isWork: true)
            case 14 where !working.isEmpty:
                let name = working.randomElement(using: &random)!
                model.working.remove(name)
                model.take(state.didEndClaim(name), expected: [])
            case 5...6 where !opening.isEmpty:
                let succeeds = Int.random(in: 0..<5, using: &random) > 0
                endOpening(opening.randomElement(using: &random)!, succeeds: succeeds)
            case 7...8 where !leased.isEmpty: release(leased.randomElement(using: &random)!)
            case 9 where !closing.isEmpty:
                let name = closing.randomElement(using: &random)!
                model.endClosing(name)
                model.take(state.didClose(name), expected: [])
            case 10 where !model.waiting.isEmpty:
                let index = Int.random(in: model.waiting.indices, using: &random)
                let isWithdrawn = state.cancel(model.waiting.remove(at: index).id)
                #expect(isWithdrawn)
            case 11 where !opening.isEmpty || !closing.isEmpty:
                let name = (opening + closing).randomElement(using: &random)!
                if opening.contains(name) {
                    model.overdueOpenings.insert(name)
                } else {
                    model.overdueClosings.insert(name)
                }
                model.take(state.didBecomeOverdue(name), expected: [])
            case 12:
                now += Int.random(in: 0...10, using: &random)
                let ended = model.waiting.filter { ($0.end ?? .max) <= now }.map(\.waiter)
                model.take(state.expire(at: start + .milliseconds(now)), expected: ended)
            default: break
            }
            model.checkProgress()
            #expect(state.usedSlotCount == model.used && state.waitingRequestCount == model.waiting.count)
            #expect(state.openCounts == (model.open.count, model.open.values.count { $0 > 0 }))
        }
        // Every request is answered once the others end, so none is lost.
        while !model.waiting.isEmpty || model.used > model.open.count
            || model.open.values.contains(where: { $0 > 0 })
        {
            if let name = model.opening.first { endOpening(name, succeeds: true) }
            if let name = model.closing.first {
                model.endClosing(name)
                model.take(state.didClose(name), expected: [])
            }
            if let name = model.open.keys.first(where: { model.open[$0] != 0 }) { release(name) }
            if let name = model.working.popFirst() {
                model.take(state.didEndClaim(name), expected: [])
            }
            model.checkProgress()
        }
    }
}
