internal import Foundation
internal import SQLCipherBridge

/// The end of a time in which something may be waited for. Nobody can move it: the clock that it asks does not follow that of the system, which
/// may be set while a file is locked.
struct Deadline {
    private let start = MonotonicTime.now
    private let nanoseconds: Double

    /// - Parameter time: from now on, in seconds; none for what is not positive, and for ever if it is infinite.
    init(after time: TimeInterval) {
        nanoseconds = time * 1e9
    }

    var isOver: Bool { Double(MonotonicTime.now.since(start)) >= nanoseconds }
}
