import Testing

@testable import Coffer

@Suite struct SavepointLedgerTests {
    @Test("events count when the outermost savepoint is released")
    func nesting() {
        var stack = SavepointLedger<Int>()
        #expect(!stack.isHolding)
        stack.begin("a")
        stack.hold(1)
        stack.begin("b")
        stack.hold(2)
        #expect(stack.release("b") == [])
        stack.hold(3)
        #expect(stack.release("a") == [1, 2, 3])
        #expect(!stack.isHolding)
    }

    @Test("a savepoint that is rolled back loses its events and stays open")
    func rollback() {
        var stack = SavepointLedger<Int>()
        stack.begin("a")
        stack.hold(1)
        stack.begin("b")
        stack.hold(2)
        stack.begin("c")
        stack.hold(3)
        #expect(stack.innermost == "c")
        stack.rollback(to: "B")
        #expect(stack.innermost == "b")
        stack.hold(4)
        #expect(stack.release("c") == [])
        #expect(stack.isHolding)
        #expect(stack.release("a") == [1, 4])
        #expect(stack.innermost == nil)
    }

    @Test("a name refers to the innermost savepoint with that name")
    func sameNames() {
        var stack = SavepointLedger<Int>()
        stack.begin("a")
        stack.hold(1)
        stack.begin("a")
        stack.hold(2)
        stack.rollback(to: "a")
        #expect(stack.release("a") == [])
        #expect(stack.release("a") == [1])
    }

    @Test("a commit takes all events, and a commit that fails leaves the savepoints open")
    func commit() {
        var stack = SavepointLedger<Int>()
        stack.begin("a")
        stack.hold(1)
        stack.begin("b")
        stack.hold(2)
        #expect(stack.takeEvents() == [1, 2])
        stack.hold(3)
        stack.rollback(to: "b")
        stack.hold(4)
        #expect(stack.release("a") == [4])
        stack.begin("c")
        stack.hold(5)
        stack.removeAll()
        #expect(!stack.isHolding)
        #expect(stack.takeEvents() == [])
    }

    @Test("a random sequence agrees with a plain model", arguments: [1, 2, 3, 4, 5] as [UInt64])
    func randomSequences(seed: UInt64) {
        // The model keeps one list of events for each open savepoint.
        var generator = SplitMix(state: seed)
        var stack = SavepointLedger<Int>()
        var model: [(name: String, events: [Int])] = []
        var counted: [Int] = []
        var expected: [Int] = []
        for event in 0..<2000 {
            let name = ["a", "b", "c"][Int.random(in: 0..<3, using: &generator)]
            switch Int.random(in: 0..<5, using: &generator) {
            case 0:
                stack.begin(name)
                model.append((name, []))
            case 1:
                counted += stack.release(name)
                if let index = model.lastIndex(where: { $0.name == name }) {
                    let events = model[index...].flatMap(\.events)
                    model.removeSubrange(index...)
                    if model.isEmpty { expected += events } else { model[model.count - 1].events += events }
                }
            case 2:
                stack.rollback(to: name)
                if let index = model.lastIndex(where: { $0.name == name }) {
                    model.removeSubrange((index + 1)...)
                    model[index].events = []
                }
            default:
                #expect(stack.isHolding == !model.isEmpty, "seed \(seed)")
                if stack.isHolding {
                    stack.hold(event)
                    model[model.count - 1].events.append(event)
                }
            }
        }
        #expect(counted == expected, "seed \(seed)")
        #expect(!expected.isEmpty, "seed \(seed)")
    }
}
