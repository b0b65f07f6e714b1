internal import Synchronization

/// What a line that a person types does, from its first statement to its last: Ctrl-C ends all of it.
///
/// The thread that receives signals asks for the end, and the thread of the shell looks at it.
final class LineWork: Sendable {
    private let value = Atomic<Bool>(false)

    var isStopped: Bool { value.load(ordering: .acquiring) }

    func stop() { value.store(true, ordering: .releasing) }

    /// Before a line is typed, and not when it begins to run: the key is a signal as soon as the line is
    /// complete.
    func begin() { value.store(false, ordering: .releasing) }
}
