import CofferTestSupport
import Testing

@testable import Coffer

@Suite("WaitingLine")
struct WaitingLineTests {
    private typealias Line = WaitingLine<Int>

    private let start = ContinuousClock.now

    private func time(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

    @Test("requests leave in the order of their arrival")
    func order() {
        var line = Line()
        for element in 1...5 { line.append(element) }
        #expect((1...6).map { _ in line.removeFirst() } == [1, 2, 3, 4, 5, nil])
    }

    @Test("a request leaves once: it is withdrawn, expires, or is served")
    func once() throws {
        var line = Line()
        let first = try line.append(1, for: .writer, within: WaitBounds(timeout: 1)) { start }
        let second = try line.append(2, for: .writer, within: WaitBounds(timeout: 2)) { start }
        let third = line.append(3)
        #expect(line.expire(at: time(1000)).map(\.id) == [first])
        #expect(line.remove(first) == nil)
        #expect(line.remove(second) == 2)
        #expect(line.remove(second) == nil && line.expire(at: time(2000)).isEmpty)
        #expect(line.removeFirst() == 3)
        #expect(line.remove(third) == nil && line.first == nil)
    }

    @Test("an expired request says what it waited for, and how long")
    func error() throws {
        var line = Line()
        _ = try line.append(1, for: .reader, within: WaitBounds(timeout: 0.5)) { start }
        #expect(line.expire(at: time(499)).isEmpty)
        #expect(line.expire(at: time(750)).map(\.error) == [.timedOut(.reader, waited: 0.75)])
    }

    @Test(
        "a request that may not wait leaves the line unchanged",
        arguments: [0, -1, -.infinity, .nan] as [Double])
    func noWait(timeout: Double) {
        var line = Line()
        let bounds = WaitBounds(timeout: timeout, maximumWaiterCount: 0)
        #expect(throws: DatabaseWaitError.timedOut(.writer, waited: 0)) {
            try line.append(1, for: .writer, within: bounds) { start }
        }
        #expect(line.count == 0 && line.takeAlarm() == nil)
    }

    @Test("a line that is full refuses a request, and admits one when another has left")
    func full() throws {
        var line = Line()
        let bounds = WaitBounds(maximumWaiterCount: 2)
        let first = try line.append(1, for: .connection, within: bounds) { start }
        line.append(2)
        #expect(throws: DatabaseWaitError.overloaded(.connection, waiterCount: 2)) {
            try line.append(3, for: .connection, within: bounds) { start }
        }
        _ = line.remove(first)
        _ = try line.append(4, for: .connection, within: bounds) { start }
        #expect([line.removeFirst(), line.removeFirst(), line.removeFirst()] == [2, 4, nil])
    }

    @Test("a wait of any length can be asked for", arguments: [1e9, 1e300, .infinity] as [Double])
    func longWaits(timeout: Double) throws {
        var line = Line()
        _ = try line.append(1, for: .writer, within: WaitBounds(timeout: timeout)) { start }
        #expect(line.expire(at: time(1 << 40)).isEmpty && line.removeFirst() == 1)
    }

    @Test("withdrawing thousands of requests does not search for each, and frees their memory")
    func manyCancellations() {
        var line = Line()
        line.append(0)
        let ids = (1...50_000).map { line.append($0) }
        for id in ids.shuffled() { #expect(line.remove(id) != nil) }
        #expect(line.count == 1 && line.storedCount <= 32 && line.removeFirst() == 0)
    }

    @Test("requests with many different deadlines need few alarms")
    func fewAlarms() throws {
        var line = Line()
        var alarms: [ContinuousClock.Instant] = []
        for number in 0..<10_000 {
            let bounds = WaitBounds(timeout: 1 + Double(number) * 1e-6)
            _ = try line.append(number, for: .writer, within: bounds) { start }
            if let alarm = line.takeAlarm() { alarms.append(alarm) }
        }
        #expect(alarms == [time(1000)])
        var count = 0
        while line.count > 0 {
            _ = line.expire(at: try #require(alarms.last))
            if let alarm = line.takeAlarm() { alarms.append(alarm) }
            count += 1
        }
        #expect(count <= 12, "10,000 deadlines within 10 ms need no more alarms than that")
    }

    // MARK: - Against a model

    @Test("random operations agree with a list, and every deadline has an alarm", arguments: 0..<200)
    func model(run: Int) throws {
        var random = SeededRandom(seed: UInt64(run), "waiting line")
        var line = Line()
        var model: [(id: UInt64, element: Int, began: Int, end: Int?)] = []
        var alarms: [ContinuousClock.Instant] = []
        var (now, lastExpiry) = (0, Int.min / 2)

        for element in 0..<500 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0, 1:
                model.append((line.append(element), element, now, nil))
            case 2...4:
                let timeout = Int.random(in: -1...40, using: &random)
                let maximum = Int.random(in: 0...20, using: &random)
                let bounds = WaitBounds(timeout: Double(timeout) / 1000, maximumWaiterCount: maximum)
                let outcome = Result {
                    try line.append(element, for: .reader, within: bounds) { time(now) }
                }
                switch outcome {
                case .success(let id):
                    #expect(timeout > 0 && model.count < maximum)
                    model.append((id, element, now, now + timeout))
                case .failure(let error):
                    let isTooSoon = timeout <= 0
                    #expect(isTooSoon || model.count >= maximum)
                    #expect(
                        error as? DatabaseWaitError
                            == (isTooSoon
                                ? .timedOut(.reader, waited: 0)
                                : .overloaded(.reader, waiterCount: model.count)))
                }
            case 5 where !model.isEmpty:
                let index = Int.random(in: model.indices, using: &random)
                let waiter = model.remove(at: index)
                #expect(line.remove(waiter.id) == waiter.element)
                #expect(line.remove(waiter.id) == nil)
            case 6 where !model.isEmpty:
                #expect(line.first?.id == model.first?.id)
                #expect(line.removeFirst() == model.removeFirst().element)
            case 7...9:
                now += Int.random(in: 0...10, using: &random)
                guard alarms.contains(where: { $0 <= time(now) }) else { break }
                alarms.removeAll { $0 <= time(now) }
                let expired = line.expire(at: time(now))
                let expected = model.filter { ($0.end ?? .max) <= now }
                #expect(expired.map(\.id) == expected.map(\.id))
                for (request, waiter) in zip(expired, expected) {
                    let waited = Duration.milliseconds(now - waiter.began).inSeconds
                    #expect(request.error == .timedOut(.reader, waited: waited))
                }
                model.removeAll { ($0.end ?? .max) <= now }
                lastExpiry = now
            default:
                break
            }
            if let alarm = line.takeAlarm() { alarms.append(alarm) }
            #expect(line.count == model.count)
            if let end = model.compactMap(\.end).min() {
                let latest = max(time(end), time(lastExpiry) + Line.alarmInterval)
                #expect(try #require(alarms.min()) <= latest)
            }
        }
        #expect(model.map(\.element) == model.map { _ in line.removeFirst() })
        #expect(line.count == 0 && line.first == nil)
    }
}
