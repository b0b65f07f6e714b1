import Foundation
import Synchronization

/// Calls a function repeatedly on another thread, for events that must hit a moment that is not observable
/// from outside.
final class Repeater: Sendable {
    private let isStopped = Atomic<Bool>(false)
    private let hasEnded = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () -> Void) {
        let thread = Thread { [self] in
            while !isStopped.load(ordering: .relaxed) {
                body()
                sched_yield()
            }
            hasEnded.signal()
        }
        thread.start()
    }

    func stop() {
        isStopped.store(true, ordering: .relaxed)
        hasEnded.wait()
    }
}
