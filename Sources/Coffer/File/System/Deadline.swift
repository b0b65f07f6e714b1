internal import Foundation
internal import SQLCipherBridge

/// The end of a time in which something may be waited for. Nobody can move it: the clock that it asks does
/// not follow that of the system, which may be set while a file is locked.
struct Deadline {
    private let start = MonotonicTime.now
    private let nanoseconds: Double

    /// - Parameter time: from now on, in seconds; none for what is not positive, and for ever if it is
    ///   infinite.
    init(after time: TimeInterval) {
        nanoseconds = time * 1e9
    }

    var isOver: Bool { Double(MonotonicTime.now.since(start)) >= nanoseconds }

    /// Lets a fiftieth of a second pass. Returns false, at once, when the time is over.
    func wait() -> Bool {
        if isOver { return false }
        Thread.sleep(forTimeInterval: 0.02)
        return true
    }

    /// Calls `body` again as long as it answers that the file is busy, and the time is not over.
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
