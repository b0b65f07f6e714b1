import Testing

@testable import Coffer

@Suite("ValueObserverState")
struct ValueObserverStateTests {
    @Test("changes during a fetch or a reduction cause one more fetch")
    func coalescing() {
        var state = ValueObserverState()
        let fetches = [
            state.start(), state.willFetchAndChange(), state.databaseDidChange(), state.didFetch(),
            state.databaseDidChange(),
            state.didReduce(), state.fetch(), state.didReduce(), state.databaseDidChange(),
        ]
        #expect(fetches == [true, false, false, false, false, true, false, false, true])
    }

    @Test("changes before a fetch begins are in its value")
    func changesBeforeFetch() {
        var state = ValueObserverState()
        var fetches = [state.start(), state.databaseDidChange(), state.databaseDidChange()]
        state.willFetch()
        fetches += [state.didFetch(), state.didReduce()]
        #expect(fetches == [true, false, false, false, false])
    }

    @Test("with a backlog, fetches continue while values wait to be reduced, up to a maximum")
    func backlog() {
        var state = ValueObserverState(maximumBacklog: 2)
        let fetches = [
            state.start(), state.fetch(), state.databaseDidChange(), state.fetch(), state.databaseDidChange(),
            state.fetch(),
            state.databaseDidChange(), state.didReduce(), state.didReduce(), state.fetch(),
            state.databaseDidChange(),
        ]
        #expect(fetches == [true, false, true, false, true, false, false, true, false, false, true])
    }

    @Test("a postponed fetch is done at the next event")
    func puttingOff() {
        var state = ValueObserverState()
        var fetches = [state.start()]
        state.putOff()
        fetches += [state.fetch(), state.databaseDidChange(), state.fetch(), state.didReduce()]
        state.putOff()
        fetches += [state.databaseDidChange()]
        #expect(fetches == [true, false, true, false, false, true])
    }

    @Test("an ended observer does nothing")
    func end() {
        var state = ValueObserverState()
        let results = [state.start(), state.end(), state.end(), state.hasEnded]
        #expect(results == [true, true, false, true])
        state.putOff()
        let fetches = [state.fetch(), state.databaseDidChange(), state.didReduce()]
        #expect(fetches == [false, false, false])
    }

    // MARK: Every interleaving

    /// A database with a growing number, and an observer of it, with all possible events step by step.
    private struct Model {
        enum Step: CaseIterable {
            case change, begin, read, handOver, endFetch, reduce, putOff, resume, end
        }

        var state: ValueObserverState
        var number = 0
        /// The number of running fetches, which must never exceed one.
        var fetchCount = 0
        var hasBegun = false
        /// The number that the fetch has read, or nil before it reads.
        var read: Int?
        /// The numbers that may be delivered twice, because they were read during a change or because a fetch
        /// was postponed.
        var repeatable: Set<Int> = []
        /// True if the number that was read is waiting to be reduced, although the fetch has not ended. These
        /// two events can happen in either order.
        var isHandedOver = false
        var isPutOff = false
        var backlog: [Int] = []
        var delivered: [Int] = []
        var hasEnded = false

        init(maximumBacklog: Int) {
            state = ValueObserverState(maximumBacklog: maximumBacklog)
            if state.start() { fetchCount = 1 }
        }

        func canDo(_ step: Step) -> Bool {
            switch step {
            case .change: number < 4
            case .begin: fetchCount > 0 && !hasBegun
            case .read: hasBegun && read == nil
            case .handOver: read != nil && !isHandedOver
            case .endFetch: isHandedOver
            case .reduce: !backlog.isEmpty
            case .putOff: fetchCount > 0 && read == nil && !isPutOff && number < 4
            case .resume: isPutOff
            case .end: !hasEnded && number == 2
            }
        }

        mutating func perform(_ step: Step) {
            switch step {
            case .change:
                number += 1
                if hasBegun && read == nil { repeatable.insert(number) }
                note(state.databaseDidChange())
            case .begin:
                hasBegun = true
                state.willFetch()
            case .read:
                read = number
            case .handOver:
                if let read, !hasEnded { backlog.append(read) }
                isHandedOver = true
            case .endFetch:
                read = nil
                hasBegun = false
                isHandedOver = false
                fetchCount -= 1
                if !hasEnded { note(state.didFetch()) }
            case .reduce:
                let value = backlog.removeFirst()
                if !hasEnded {
                    delivered.append(value)
                    note(state.didReduce())
                }
            case .putOff:
                fetchCount -= 1
                hasBegun = false
                isPutOff = true
                state.putOff()
            case .resume:
                isPutOff = false
                repeatable.formUnion(0...4)
                note(state.databaseDidChange())
            case .end:
                hasEnded = true
                _ = state.end()
            }
        }

        private mutating func note(_ shouldFetch: Bool) {
            if shouldFetch { fetchCount += 1 }
        }
    }

    @Test(
        "in every order: one fetch at a time, a bounded backlog, ordered unique values, the latest last",
        arguments: 0...3)
    func everyOrder(maximumBacklog: Int) {
        var seen: Set<String> = []
        var stack = [Model(maximumBacklog: maximumBacklog)]
        var quietEnds = 0
        while let model = stack.popLast() {
            guard seen.insert("\(model)").inserted else { continue }
            let steps = Model.Step.allCases.filter(model.canDo)
            let repeated = zip(model.delivered, model.delivered.dropFirst()).filter {
                $0.0 == $0.1 && !model.repeatable.contains($0.0)
            }
            guard repeated.isEmpty, model.fetchCount <= 1, model.backlog.count <= maximumBacklog + 1,
                model.delivered == model.delivered.sorted()
            else {
                Issue.record("\(model)")
                return
            }
            if model.hasEnded {
                var state = model.state
                let startsAgain = state.start()
                #expect(!startsAgain, "\(model)")
            } else if model.fetchCount == 0, model.backlog.isEmpty, !model.isPutOff {
                // Nothing is running, so the last delivered number must be the current one.
                quietEnds += 1
                guard model.delivered.last == model.number else {
                    Issue.record("The last value is \(model.delivered) instead of \(model.number): \(model)")
                    return
                }
            }
            for step in steps {
                var next = model
                next.perform(step)
                stack.append(next)
            }
        }
        print(
            "ValueObserverState: \(seen.count) states with a backlog of \(maximumBacklog), \(quietEnds) of them quiet"
        )
        #expect(quietEnds > 0)
    }
}

extension ValueObserverState {
    /// Begins and ends a fetch.
    fileprivate mutating func fetch() -> Bool {
        willFetch()
        return didFetch()
    }

    /// Begins a fetch and changes the database before the fetch ends.
    fileprivate mutating func willFetchAndChange() -> Bool {
        willFetch()
        return databaseDidChange()
    }
}
