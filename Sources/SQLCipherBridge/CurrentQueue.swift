internal import CSQLCipher
internal import Dispatch
internal import Glibc

/// The dispatch queue that the current thread works for.
package enum CurrentQueue {
    /// True if Swift's default executor runs tasks on the queue, according to its label.
    ///
    /// The label is not documented, but there is no documented alternative. A queue with an unknown label is
    /// treated as another queue.
    package static var runsTasks: Bool {
        guard let label = unsafe coffer_dispatch_queue_get_label(nil) else { return false }
        return unsafe strcmp(label, "Swift global concurrent queue") == 0
    }
}
