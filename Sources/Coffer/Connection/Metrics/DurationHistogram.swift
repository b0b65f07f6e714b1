internal import Synchronization

/// Numbers of durations, counted in fixed ranges: see ``DatabasePool/Statistics``.
///
/// The upper bounds are 1 microsecond, 2, 4, 8, and so on, up to 16.8 seconds, and the last range has no
/// upper bound. The counts only grow. To know the durations of a period, take the difference of two
/// histograms.
///
/// ```swift
/// if let waits = pool.statistics.reads?.waited {
///     print("99 % of the reads waited for at most \(waits.quantile(0.99))")
/// }
/// ```
public struct DurationHistogram: Sendable, Hashable {
    /// The number of ranges.
    public static let rangeCount = 26

    /// The number of durations in each range, without those in lower ranges.
    public let counts: [Int]

    /// The sum of all durations.
    public let sum: Duration

    /// The number of durations.
    public var count: Int { counts.reduce(0, +) }

    /// Returns the highest duration of a range, which belongs to the range; nil for the last one.
    public static func upperBound(of range: Int) -> Duration? {
        precondition((0..<rangeCount).contains(range), "There are \(rangeCount) ranges.")
        return range == rangeCount - 1 ? nil : .microseconds(1 << range)
    }

    /// Returns the duration that a fraction of all durations did not exceed, rounded up to the upper bound of
    /// its range. Returns the highest bound for durations in the last range, and zero if there are no
    /// durations.
    ///
    /// - Parameter fraction: from 0 to 1.
    public func quantile(_ fraction: Double) -> Duration {
        let total = count
        guard total > 0 else { return .zero }
        let wanted = max(1, (fraction * Double(total)).rounded(.up))
        var sum = 0
        for (range, count) in counts.enumerated() {
            sum += count
            if Double(sum) >= wanted, let bound = Self.upperBound(of: range) { return bound }
        }
        return .microseconds(1 << (Self.rangeCount - 2))
    }

    /// Returns the durations of `later` without those of `earlier`, an older histogram of the same accesses.
    ///
    ///     let lastMinute = now - before
    public static func - (later: Self, earlier: Self) -> Self {
        Self(counts: zip(later.counts, earlier.counts).map { $0 - $1 }, sum: later.sum - earlier.sum)
    }

    /// Returns the range of a duration.
    static func range(ofNanoseconds nanoseconds: Int64) -> Int {
        guard nanoseconds > 1000 else { return 0 }
        let microseconds = (nanoseconds - 1) / 1000 + 1
        return min(rangeCount - 1, Int64.bitWidth - (microseconds - 1).leadingZeroBitCount)
    }
}

/// A histogram that any number of threads adds to without a lock.
final class DurationCounts: Sendable {
    private let counts = InlineArray<26, Atomic<Int>> { _ in Atomic(0) }
    private let nanoseconds = Atomic<Int64>(0)

    func add(nanoseconds duration: Int64) {
        counts[DurationHistogram.range(ofNanoseconds: duration)].add(1, ordering: .relaxed)
        nanoseconds.add(max(0, duration), ordering: .relaxed)
    }

    /// The current counts. A duration that is being added may be in one part only.
    var histogram: DurationHistogram {
        DurationHistogram(
            counts: counts.indices.map { counts[$0].load(ordering: .relaxed) },
            sum: .nanoseconds(nanoseconds.load(ordering: .relaxed)))
    }
}
