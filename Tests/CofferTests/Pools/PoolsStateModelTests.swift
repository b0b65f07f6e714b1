import CofferTestSupport
import Testing

@testable import Coffer

@Suite("PoolsState against a model")
struct PoolsStateModelTests {
    private typealias State = PoolsState<String, Int, Int>
    private struct Failure: Error {}

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
