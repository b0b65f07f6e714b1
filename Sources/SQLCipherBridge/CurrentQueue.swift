internal import CSQLCipher
internal import Dispatch
internal import Glibc

/// The dispatch queue that the current thread works for.
package enum CurrentQueue {
    /// Whether it is one of those on which Swift's default executor runs tasks, as far as their labels show.
    ///
    /// Neither the labels nor anything else that shows it are documented; a label that is not known is that
    /// of another queue.
    package static var runsTasks: Bool {
        guard let label = unsafe coffer_dispatch_queue_get_label(nil) else { return false }
        return unsafe strcmp(label, "Swift global concurrent queue") == 0
    }
}
