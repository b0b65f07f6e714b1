import CofferTestSupport
import Testing

@testable import Coffer

@Suite("TurnState")
struct TurnStateTests {
    private typealias State = TurnState<Int>

    @Test("an ended turn goes to the next waiter, and a newcomer cannot take it first")
    func passing() {
        var state = State()
        #expect(state.takeNow() && !state.takeNow())
        #expect(state.request(1) != nil && state.request(2) != nil)
        #expect(state.end() == 1)
        #expect(!state.takeNow() && state.isTaken)
        #expect(state.end() == 2 && state.end() == nil)
        #expect(!state.isTaken && state.request(3) == nil)
    }

    @Test("a request that may not wait has the turn if it is free", arguments: [0, -1] as [Double])
    func noWait(timeout: Double) throws {
        var state = State()
        let bounds = WaitBounds(timeout: timeout, maximumWaiterCount: 0)
        #expect(try state.request(1, for: .writer, within: bounds) { .now } == nil)
        #expect(throws: DatabaseWaitError.self) {
            try state.request(2, for: .writer, within: bounds) { .now }
        }
        #expect(state.end() == nil)
    }

    // MARK: - Against a model

    /// Accesses of random kinds, one of which closes the connection.
    @Test("random accesses agree with a simple model", arguments: 0..<200)
    func model(run: Int) {
        var random = SeededRandom(seed: UInt64(run), "turns")
        let start = ContinuousClock.now
        var state = State()
        var holder: Int?
        var line: [(id: UInt64, element: Int, end: Int?)] = []
        var (now, last) = (0, 499)
        var ended: [Int: String] = [:]
        // The access that closes the connection waits without bounds.
        let closing = Int.random(in: 100..<300, using: &random)
        var isClosed = false
        var elements = 0

        func begin(_ element: Int) {
            #expect(holder == nil, "two accesses have the turn")
            holder = element
            if element == closing { isClosed = true }
            #expect(isClosed == (element >= closing), "accesses close and begin in another order")
        }
        func end() {
            guard let element = holder else { return }
            holder = nil
            ended[element] = "done"
            let next = state.end()
            let expected = line.isEmpty ? nil : line.removeFirst().element
            #expect(next == expected)
            if let next { begin(next) }
        }

        while elements <= last {
            switch Int.random(in: 0..<8, using: &random) {
            case 0...3:
                let element = elements
                elements += 1
                let hasBounds = element != closing && Bool.random(using: &random)
                let timeout = Int.random(in: 0...30, using: &random)
                let bounds = WaitBounds(
                    timeout: Double(timeout) / 1000,
                    maximumWaiterCount: Int.random(in: 0...10, using: &random))
                let outcome = Result {
                    hasBounds
                        ? try state.request(element, for: .writer, within: bounds) {
                            start + .milliseconds(now)
                        } : state.request(element)
                }
                switch outcome {
                case .success(nil): begin(element)
                case .success(let id?):
                    #expect(holder != nil, "an access waits for a free turn")
                    line.append((id, element, hasBounds ? now + timeout : nil))
                case .failure:
                    #expect(holder != nil && hasBounds)
                    #expect(timeout == 0 || line.count >= bounds.maximumWaiterCount ?? .max)
                    ended[element] = "refused"
                }
            case 4 where !line.isEmpty:
                let index = Int.random(in: line.indices, using: &random)
                guard line[index].element != closing else { break }
                let waiter = line.remove(at: index)
                #expect(state.cancel(waiter.id) == waiter.element)
                #expect(state.cancel(waiter.id) == nil)
                ended[waiter.element] = "cancelled"
            case 5:
                now += Int.random(in: 0...10, using: &random)
                let expired = state.expire(at: start + .milliseconds(now)).map(\.element)
                #expect(expired == line.filter { ($0.end ?? .max) <= now }.map(\.element))
                line.removeAll { ($0.end ?? .max) <= now }
                for element in expired { ended[element] = "expired" }
            default:
                end()
            }
            #expect(state.isTaken == (holder != nil))
            #expect(state.waitingRequestCount == line.count)
        }
        while holder != nil { end() }
        #expect(ended.count == elements, "an access has no end")
        #expect(Set(ended.values) == ["done", "refused", "cancelled", "expired"])
        #expect(isClosed && !state.isTaken && state.waitingRequestCount == 0)
    }
}
