import CofferTestSupport
import Dispatch
import Synchronization
import Testing

@testable import Coffer

@Suite("Checks for the files of databases")
struct ExistenceChecksTests {
    /// Checks that wait until they are released, by name.
    private final class Gate: Sendable {
        private let gates: [String: DispatchSemaphore]
        private let running = Mutex((names: [String](), current: 0, most: 0))

        init(_ names: [String]) {
            gates = Dictionary(uniqueKeysWithValues: names.map { ($0, DispatchSemaphore(value: 0)) })
        }

        var begun: [String] { running.withLock { $0.names } }
        var highestCount: Int { running.withLock { $0.most } }

        func pass(_ name: String) {
            running.withLock {
                $0.names.append(name)
                $0.current += 1
                $0.most = max($0.most, $0.current)
            }
            gates[name]?.wait()
            running.withLock { $0.current -= 1 }
        }

        func open(_ name: String) { gates[name]?.signal() }
    }

    private struct Missing: Error, Equatable {
        let name: String
    }

    @Test("requests for many databases use a limited number of threads")
    func threads() async throws {
        let names = (0..<200).map { "\($0)" }
        let gate = Gate(names)
        let checks = ExistenceChecks(maximumThreadCount: 3) { name in
            gate.pass(name)
            if name == "150" { throw Missing(name: name) }
        }
        let requests = names.map { name in Task.immediate { try await checks.check(ExactText(name)) } }
        // Three checks run at any time: when one of them ends, exactly one other begins.
        for ended in names.indices {
            try #require(await eventuallyAwaited { gate.begun.count == min(ended + 3, names.count) })
            gate.open(gate.begun[ended])
        }
        var missing: [String] = []
        for (name, request) in zip(names, requests) {
            do { try await request.value } catch { missing.append(name) }
        }
        #expect(missing == ["150"])
        #expect(gate.begun.count == names.count)
        #expect(gate.highestCount == 3)
    }

    @Test("a check that hangs delays only the requests for its database, which share the next check")
    func hangingCheck() async throws {
        let gate = Gate(["a"])
        let isCreated = Atomic<Bool>(false)
        let checks = ExistenceChecks(maximumThreadCount: 2) { name in
            let wasCreated = isCreated.load(ordering: .relaxed)
            gate.pass(name)
            if name == "a", !wasCreated { throw Missing(name: name) }
        }
        let first = Task { try await checks.check(ExactText("a")) }
        #expect(await eventuallyAwaited { gate.begun == ["a"] })
        isCreated.store(true, ordering: .relaxed)
        let later = (0..<10).map { _ in Task.immediate { try await checks.check(ExactText("a")) } }
        for name in ["b", "c", "b"] { try await checks.check(ExactText(name)) }
        #expect(gate.begun == ["a", "b", "c", "b"])
        gate.open("a")
        await #expect(throws: Missing(name: "a")) { try await first.value }
        gate.open("a")
        for task in later { try await task.value }
        #expect(gate.begun == ["a", "b", "c", "b", "a"])
    }
}
