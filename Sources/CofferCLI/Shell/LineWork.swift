internal import Synchronization

/// The work of one typed line, from its first statement to its last. Ctrl-C ends all of it.
///
/// The thread that receives signals requests the end, and the thread of the shell checks for it.
final class LineWork: Sendable {
    private let value = Atomic<Bool>(false)

    var isStopped: Bool { value.load(ordering: .acquiring) }

    func stop() { value.store(true, ordering: .releasing) }

    /// Clears the flag. Called before a line is typed, not when it begins to run: Ctrl-C raises a signal as
    /// soon as the line is complete.
    func begin() { value.store(false, ordering: .releasing) }
}
