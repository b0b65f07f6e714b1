import Testing

@testable import Coffer

@Suite("Histograms of durations")
struct DurationHistogramTests {
    private func range(_ duration: Duration) -> Int {
        let (seconds, attoseconds) = duration.components
        return DurationHistogram.range(ofNanoseconds: seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }

    @Test("a duration is in the first range whose upper bound it does not exceed")
    func ranges() throws {
        for range in 0..<DurationHistogram.rangeCount - 1 {
            let bound = try #require(DurationHistogram.upperBound(of: range))
            #expect(self.range(bound) == range)
            #expect(self.range(bound + .nanoseconds(1)) == range + 1)
        }
        #expect(range(.zero) == 0 && range(.nanoseconds(-5)) == 0 && range(.nanoseconds(1)) == 0)
        #expect(DurationHistogram.range(ofNanoseconds: .max) == DurationHistogram.rangeCount - 1)
        #expect(DurationHistogram.range(ofNanoseconds: .min) == 0)
        #expect(DurationHistogram.upperBound(of: DurationHistogram.rangeCount - 1) == nil)
        #expect(DurationHistogram.upperBound(of: 24) == .microseconds(16_777_216))
    }

    @Test("a quantile is the upper bound of the range that has it")
    func quantiles() {
        let counts = DurationCounts()
        #expect(counts.histogram.quantile(0.5) == .zero && counts.histogram.count == 0)
        for _ in 0..<98 { counts.add(nanoseconds: 3000) }
        counts.add(nanoseconds: 100_000)
        counts.add(nanoseconds: .max / 2)
        let histogram = counts.histogram
        #expect(histogram.count == 100 && histogram.counts.count == DurationHistogram.rangeCount)
        #expect(histogram.quantile(0) == .microseconds(4))
        #expect(histogram.quantile(0.98) == .microseconds(4))
        #expect(histogram.quantile(0.99) == .microseconds(128))
        #expect(histogram.quantile(1) == .microseconds(16_777_216))
        #expect(histogram.sum == .nanoseconds(98 * 3000 + 100_000 + Int64.max / 2))
    }

    @Test("the difference of two histograms has the durations added between them")
    func difference() {
        let counts = DurationCounts()
        counts.add(nanoseconds: 3000)
        counts.add(nanoseconds: 100_000)
        let before = counts.histogram
        counts.add(nanoseconds: 3000)
        let now = counts.histogram
        let lastMinute = now - before
        #expect(lastMinute.count == 1 && lastMinute.sum == .nanoseconds(3000))
        #expect(lastMinute.quantile(1) == .microseconds(4))
        #expect((now - now).count == 0)
    }

    @Test("threads add at the same time, and no duration is lost")
    func concurrency() async {
        let counts = DurationCounts()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    for _ in 0..<10_000 { counts.add(nanoseconds: Int64(number) * 1000) }
                }
            }
        }
        #expect(counts.histogram.count == 80_000)
        #expect(counts.histogram.sum == .nanoseconds(28 * 10_000 * 1000))
    }
}
