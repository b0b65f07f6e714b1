internal import Foundation

/// The limits within which an access may wait for its turn.
struct WaitBounds: Sendable {
    /// The longest wait in seconds. Nil means forever; zero, a negative number and NaN mean no wait at all.
    var timeout: TimeInterval?

    /// The maximum number of accesses that wait for the same resource.
    var maximumWaiterCount: Int?

    static var none: WaitBounds { WaitBounds() }

    /// Returns the same limits with another timeout, unless it is nil.
    func with(timeout: TimeInterval?) -> WaitBounds {
        guard let timeout else { return self }
        return WaitBounds(timeout: timeout, maximumWaiterCount: maximumWaiterCount)
    }

    /// True if an access may wait for some time.
    var allowsWaiting: Bool { timeout.map { $0 > 0 } ?? true }

    /// The longest wait, or nil for a wait without end. A time of more than thirty years counts as such,
    /// because clocks cannot represent the end of any number of seconds. It has whole nanoseconds, as clocks
    /// do.
    var duration: Duration? {
        timeout.flatMap { $0 < 1e9 ? .nanoseconds(Int64(($0 * 1e9).rounded())) : nil }
    }
}

extension WaitBounds {
    init(_ configuration: Configuration) {
        self.init(
            timeout: configuration.maximumWait, maximumWaiterCount: configuration.maximumWaiterCount)
    }

    /// The limits of the second wait of an access, which is already admitted and has used some of its time.
    func remaining(after elapsed: Duration) -> WaitBounds {
        WaitBounds(timeout: timeout.map { $0 - elapsed.inSeconds })
    }
}

extension Duration {
    var inSeconds: TimeInterval {
        TimeInterval(components.seconds) + TimeInterval(components.attoseconds) / 1e18
    }

    /// The duration as a limit in seconds, at least zero. Nil, for no limit, if it is more than thirty years,
    /// because clocks cannot represent the end of any number of seconds.
    var limitInSeconds: TimeInterval? {
        let seconds = max(.zero, self).inSeconds
        return seconds < 1e9 ? seconds : nil
    }
}
