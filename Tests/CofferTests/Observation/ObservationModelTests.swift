import Testing

@testable import Coffer

/// Tests every interleaving of a writer and an observer.
@Suite("Observation, in every order of events")
struct ObservationModelTests {
    typealias Transaction = ObservationModel.Transaction

    struct Scenario: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let transactions: [Transaction]
        let reads: @Sendable ([String: Int]) -> Set<String>
    }

    /// Reads `b` only while `a` is even.
    private static let changing: @Sendable ([String: Int]) -> Set<String> = {
        $0["a", default: 0].isMultiple(of: 2) ? ["a", "b"] : ["a"]
    }

    static let scenarios = [
        Scenario(
            testDescription: "one change", transactions: [Transaction(tables: ["a"])], reads: { _ in ["a"] }),
        Scenario(
            testDescription: "changes of something else",
            transactions: [Transaction(tables: ["b"]), Transaction(tables: ["b"])],
            reads: { _ in ["a"] }),
        Scenario(
            testDescription: "a rollback",
            transactions: [Transaction(tables: ["a"], isCommitted: false), Transaction(tables: ["a"])],
            reads: { _ in ["a"] }),
        Scenario(
            testDescription: "a region that grows",
            transactions: [Transaction(tables: ["a"]), Transaction(tables: ["b", "a"])],
            reads: { $0["a"] == 0 ? ["a"] : ["a", "b"] }),
        Scenario(
            testDescription: "a region that grows in a long transaction",
            transactions: [Transaction(tables: ["a"]), Transaction(tables: ["b", "b"])],
            reads: { $0["a"] == 0 ? ["a"] : ["a", "b"] }),
        Scenario(
            testDescription: "a region that comes and goes",
            transactions: [
                Transaction(tables: ["a"]), Transaction(tables: ["b"]), Transaction(tables: ["a", "b"]),
                Transaction(tables: ["b"]),
            ], reads: changing),
        Scenario(
            testDescription: "a region that comes and goes, with a rollback",
            transactions: [
                Transaction(tables: ["a"]), Transaction(tables: ["b", "a"], isCommitted: false),
                Transaction(tables: ["b", "a"]),
            ], reads: changing),
    ]

    @Test(
        "delivered values are actual states in commit order, and the last one is the final state",
        arguments: scenarios)
    func everyOrder(scenario: Scenario) {
        var seen: Set<String> = []
        var stack = [ObservationModel(scenario.transactions, reads: scenario.reads)]
        var endCount = 0
        while let model = stack.popLast() {
            guard seen.insert(model.key).inserted else { continue }
            if model.canWrite {
                var next = model
                next.write()
                stack.append(next)
            }
            if model.canObserve {
                var next = model
                next.observe()
                stack.append(next)
            }
            guard !model.canWrite, !model.canObserve else { continue }
            endCount += 1
            guard model.delivered.last == model.currentValue else {
                Issue.record(
                    "The last value is \(model.delivered.last ?? [:]) instead of \(model.currentValue): \(model.delivered)"
                )
                return
            }
            let numbers = model.delivered.map { $0["a", default: 0] }
            #expect(numbers == numbers.sorted())
        }
        #expect(endCount > 0)
    }

    @Test("without a change there is one fetch; each reported change costs one more")
    func fetchCount() {
        var model = ObservationModel(
            [Transaction(tables: ["b"]), Transaction(tables: ["a"])], reads: { _ in ["a"] })
        while model.canObserve { model.observe() }
        #expect(model.delivered == [["a": 0]])
        while model.canWrite { model.write() }
        while model.canObserve { model.observe() }
        #expect(model.delivered == [["a": 0], ["a": 1]])
    }
}
