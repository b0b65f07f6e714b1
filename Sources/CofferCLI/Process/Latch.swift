internal import Synchronization

/// Something that is false at first and may become true, seen by all threads.
final class Latch: Sendable {
    private let value = Atomic<Bool>(false)

    var isSet: Bool { value.load(ordering: .acquiring) }

    func set() { value.store(true, ordering: .releasing) }
}
