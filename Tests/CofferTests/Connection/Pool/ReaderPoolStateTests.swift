import CofferTestSupport
import Testing

@testable import Coffer

@Suite("ReaderPoolState")
struct ReaderPoolStateTests {
    private typealias State = ReaderPoolState<Int>

    @Test("readers are opened on demand, up to the maximum, and the one that was used last is used first")
    func readers() throws {
        var state = State(maximumReaderCount: 2)
        #expect(try state.requestReader().grant.isNewReader)
        #expect(try state.requestReader().grant.isNewReader)
        let third = try state.requestReader()
        #expect(third.grant == nil && state.waitingRequestCount == 1)
        let granted = state.release(7, generation: 0)
        #expect(granted.map(\.0) == [third.id] && granted.first?.1.reader == 7)
        _ = state.release(7, generation: 0)
        _ = state.release(8, generation: 0)
        #expect(state.idleReaders == [7, 8])
        #expect(try state.requestReader().grant.flatMap(\.reader) == 8)
    }

    @Test("if a reader cannot be opened, the next request may open one")
    func failedOpening() throws {
        var state = State(maximumReaderCount: 1)
        #expect(try state.requestReader().grant.isNewReader)
        let second = try state.requestReader()
        let granted = state.didFailToOpenReader()
        #expect(granted.map(\.0) == [second.id] && (granted.first?.1).isNewReader)
    }

    @Test("a barrier waits for the accesses before it, and those after it wait for the barrier")
    func barrier() throws {
        var state = State(maximumReaderCount: 4)
        _ = try state.requestReader()
        let barrier = try state.requestBarrier()
        let later = [try state.requestReader(), try state.requestReader()]
        #expect(barrier.grant == nil && later.allSatisfy { $0.grant == nil })
        #expect(state.takeReaderNow() == nil && state.takeIdleReader() == nil)
        let granted = state.release(1, generation: 0)
        #expect(granted.map(\.0) == [barrier.id] && state.isBarrierActive)
        #expect(state.endBarrier().map(\.0) == later.map(\.id))
    }

    @Test("withdrawing a barrier lets the accesses after it proceed")
    func cancelledBarrier() throws {
        var state = State(maximumReaderCount: 4)
        _ = try state.requestReader()
        let barrier = try state.requestBarrier()
        let later = [try state.requestReader(), try state.requestReader()]
        let result = state.cancel(barrier.id)
        #expect(result.wasWaiting && result.granted.map(\.0) == later.map(\.id))
        let again = state.cancel(barrier.id)
        #expect(!again.wasWaiting && again.granted.isEmpty)
    }

    @Test("a request that was granted cannot be taken back")
    func cancelledTooLate() throws {
        var state = State(maximumReaderCount: 1)
        let first = try state.requestReader()
        let second = try state.requestReader()
        #expect(!state.cancel(first.id).wasWaiting)
        _ = state.release(1, generation: 0)
        #expect(!state.cancel(second.id).wasWaiting)
    }

    @Test("readers that were invalidated are not used again")
    func invalidation() throws {
        var state = State(maximumReaderCount: 2)
        _ = try state.requestReader()
        _ = try state.requestReader()
        _ = state.release(1, generation: 0)
        #expect(state.invalidate() == [1])
        _ = state.release(2, generation: 0)
        #expect(state.idleReaders.isEmpty && state.busyCount == 0)
        #expect(try state.requestReader().grant.isNewReader)
    }

    @Test("readers do not starve a barrier, and barriers do not starve a reader")
    func fairness() throws {
        // In both cases, the other kind is requested again at every opportunity.
        var state = State(maximumReaderCount: 2)
        _ = try state.requestReader()
        _ = try state.requestReader()
        let barrier = try state.requestBarrier()
        var grants = 0
        var wasServed = false
        while !wasServed, grants < 10 {
            _ = try state.requestReader()
            grants += 1
            wasServed = state.release(1, generation: 0).contains { $0.0 == barrier.id }
        }
        #expect(wasServed && grants == 2, "the barrier has to wait for the two readers before it only")

        state = State(maximumReaderCount: 2)
        _ = try state.requestBarrier()
        _ = try state.requestBarrier()
        let reader = try state.requestReader()
        grants = 0
        wasServed = false
        while !wasServed, grants < 10 {
            _ = try state.requestBarrier()
            grants += 1
            wasServed = state.endBarrier().contains { $0.0 == reader.id }
        }
        #expect(wasServed && grants == 2, "the reader has to wait for the two barriers before it only")
    }

    @Test("withdrawing thousands of requests does not search the line for each")
    func manyCancellations() throws {
        var state = State(maximumReaderCount: 1)
        _ = try state.requestReader()
        let ids = try (0..<50_000).map { _ in try state.requestReader().id }
        for id in ids.shuffled() { #expect(state.cancel(id).wasWaiting) }
        #expect(state.waitingRequestCount == 0)
        #expect(state.release(1, generation: 0).isEmpty)
    }

    // MARK: - Against a model

    /// The same decisions in their simplest form: one list, searched from the front.
    private struct Model {
        enum Kind { case reader, barrier }
        let maximum: Int
        var busy = 0
        var isBarrierActive = false
        var line: [(id: UInt64, kind: Kind, end: Int?)] = []

        mutating func serve() -> [UInt64] {
            var granted: [UInt64] = []
            while let head = line.first {
                switch head.kind {
                case .reader where !isBarrierActive && busy < maximum: busy += 1
                case .barrier where !isBarrierActive && busy == 0: isBarrierActive = true
                default: return granted
                }
                granted.append(line.removeFirst().id)
            }
            return granted
        }
    }

    @Test("random operations agree with a simple model", arguments: 0..<200)
    func model(run: Int) {
        var random = SeededRandom(seed: UInt64(run), "reader pool")
        let maximum = Int.random(in: 1...4, using: &random)
        var state = State(maximumReaderCount: maximum)
        var model = Model(maximum: maximum)
        var lent: [(reader: Int, generation: UInt64)] = []
        var opened = 0
        var generation: UInt64 = 0
        let start = ContinuousClock.now
        var now = 0

        /// Requests a reader or a barrier, possibly with bounds.
        func request(_ kind: Model.Kind) {
            let timeout = Bool.random(using: &random) ? nil : Int.random(in: 0...30, using: &random)
            let bounds = WaitBounds(
                timeout: timeout.map { Double($0) / 1000 },
                maximumWaiterCount: Bool.random(using: &random) ? nil : Int.random(in: 0...8, using: &random))
            let time = start + .milliseconds(now)
            let outcome = Result {
                switch kind {
                case .reader: try state.requestReader(within: bounds) { time }
                case .barrier: try state.requestBarrier(within: bounds) { time }
                }
            }
            switch outcome {
            case .success(let request):
                model.line.append((request.id, kind, timeout.map { now + $0 }))
                #expect((request.grant != nil) == (model.serve() == [request.id]))
                if let grant = request.grant { use(grant) }
            case .failure(let error):
                let resource: DatabaseWaitError.Resource = kind == .reader ? .reader : .exclusiveAccess
                let isFull = model.line.count >= bounds.maximumWaiterCount ?? .max
                #expect(timeout == 0 || isFull)
                #expect((error as? DatabaseWaitError)?.resource == resource)
                // It would have had to wait.
                model.line.append((0, kind, nil))
                #expect(model.serve().isEmpty)
                model.line.removeLast()
            }
        }
        func take(_ grants: [(UInt64, State.Grant)], expected: [UInt64]) {
            #expect(grants.map(\.0) == expected)
            for (_, grant) in grants { use(grant) }
        }
        func use(_ grant: State.Grant) {
            switch grant {
            case .reader(let reader):
                #expect(!lent.contains { $0.reader == reader }, "a reader was lent twice")
                lent.append((reader, generation))
            case .newReader:
                opened += 1
                lent.append((opened, generation))
            case .barrier:
                #expect(lent.isEmpty, "a barrier was granted while there were readers")
            }
        }

        for _ in 0..<400 {
            switch Int.random(in: 0..<11, using: &random) {
            case 0...3:
                request(.reader)
            case 4:
                request(.barrier)
            case 5...7 where !lent.isEmpty:
                let end = lent.remove(at: Int.random(in: lent.indices, using: &random))
                model.busy -= 1
                let isDropped = Int.random(in: 0..<10, using: &random) == 0
                let grants =
                    isDropped
                    ? state.didFailToOpenReader() : state.release(end.reader, generation: end.generation)
                take(grants, expected: model.serve())
            case 5...7 where model.isBarrierActive:
                model.isBarrierActive = false
                take(state.endBarrier(), expected: model.serve())
            case 8 where !model.line.isEmpty:
                let index = Int.random(in: model.line.indices, using: &random)
                let result = state.cancel(model.line.remove(at: index).id)
                #expect(result.wasWaiting)
                take(result.granted, expected: model.serve())
            case 9:
                generation += 1
                _ = state.invalidate()
            case 10:
                now += Int.random(in: 0...10, using: &random)
                let result = state.expire(at: start + .milliseconds(now))
                #expect(result.expired.map(\.0) == model.line.filter { ($0.end ?? .max) <= now }.map(\.id))
                model.line.removeAll { ($0.end ?? .max) <= now }
                take(result.granted, expected: model.serve())
            default:
                break
            }
            #expect(state.busyCount == model.busy && state.busyCount == lent.count)
            #expect(state.waitingRequestCount == model.line.count)
            #expect(state.isBarrierActive == model.isBarrierActive)
            #expect(state.busyCount <= maximum && state.idleReaders.count + state.busyCount <= maximum)
            #expect(!(state.isBarrierActive && state.busyCount > 0))
        }
        // Every waiting request is served once the others end, so none is lost.
        while !lent.isEmpty || model.isBarrierActive {
            if model.isBarrierActive {
                model.isBarrierActive = false
                take(state.endBarrier(), expected: model.serve())
            } else {
                let end = lent.removeLast()
                model.busy -= 1
                take(state.release(end.reader, generation: end.generation), expected: model.serve())
            }
        }
        #expect(state.waitingRequestCount == 0 && state.busyCount == 0)
    }
}

extension ReaderPoolState.Grant {
    fileprivate var reader: Reader? {
        if case .reader(let reader) = self { reader } else { nil }
    }
}

extension Optional where Wrapped == ReaderPoolState<Int>.Grant {
    fileprivate var isNewReader: Bool {
        if case .newReader = self { true } else { false }
    }
}
