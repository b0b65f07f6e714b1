internal import Glibc

/// A time of the system's monotonic clock, which is cheaper to read than the clocks of the standard library.
package struct MonotonicTime: Sendable {
    private let nanoseconds: Int64

    package static let distantPast = MonotonicTime(nanoseconds: .min / 2)

    package static var now: MonotonicTime {
        var time = timespec()
        guard unsafe clock_gettime(CLOCK_MONOTONIC, &time) == 0 else { return distantPast }
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
    }

    /// Returns the time from an earlier moment to this one, in nanoseconds.
    package func since(_ other: MonotonicTime) -> Int64 { nanoseconds &- other.nanoseconds }
}
