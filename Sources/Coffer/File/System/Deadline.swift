internal import Foundation
internal import SQLCipherBridge

/// The end of a waiting time. It uses a monotonic clock: the system clock may be set while a file is locked.
struct Deadline {
    private let start = MonotonicTime.now
    private let nanoseconds: Double

    /// - Parameter time: the waiting time from now on, in seconds. If it is not positive, there is no wait;
    ///   if it is infinite, the wait never ends.
    init(after time: TimeInterval) {
        nanoseconds = time * 1e9
    }

    var isOver: Bool { Double(MonotonicTime.now.since(start)) >= nanoseconds }

    /// Sleeps for a fiftieth of a second. Returns false immediately if the time is over.
    func wait() -> Bool {
        if isOver { return false }
        Thread.sleep(forTimeInterval: 0.02)
        return true
    }

    /// Calls `body` again as long as it throws a busy error and the time is not over.
    func retryingWhileBusy<Result: ~Copyable>(_ body: () throws -> Result) throws -> Result {
        while true {
            do {
                return try body()
            } catch let error as EngineError {
                guard error.primaryCode == EngineCode.busy, wait() else { throw error }
            }
        }
    }
}
