internal import CSQLCipher
internal import Dispatch
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The dispatch queue that the current thread works for.
package enum CurrentQueue {
    /// Whether it is one of those on which Swift's default executor runs tasks, as far as their labels tell.
    ///
    /// Neither the labels nor anything else that tells it are documented; a label that is not known is that of another queue.
    package static var runsTasks: Bool {
        #if canImport(Darwin)
        let label = String(cString: unsafe __dispatch_queue_get_label(nil))
        return label.hasPrefix("com.apple.root.") && label.hasSuffix(".cooperative")
        #else
        guard let label = unsafe coffer_dispatch_queue_get_label(nil) else { return false }
        return unsafe strcmp(label, "Swift global concurrent queue") == 0
        #endif
    }
}
