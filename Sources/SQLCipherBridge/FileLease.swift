internal import CSQLCipher

/// What the kernel says about who has a file open: it grants a write lease to the only one who has.
package enum FileLease {
    /// No descriptor had it open at that moment.
    case free
    case inUse
    /// It cannot be opened, or the file system, the owner of the file, or the kernel does not allow to ask.
    case unknown

    /// Asks whether anybody has a file open, in this process or another one.
    ///
    /// A descriptor has to be opened for that. A thread does it that has no part in the descriptors of this
    /// process: closing one of those drops all locks that the process has on the file, those of a connection
    /// that another thread has opened just now among them.
    package static func ask(_ path: String) -> FileLease {
        switch unsafe coffer_ask_for_lease(path) {
        case 0: .free
        case 1: .inUse
        default: .unknown
        }
    }
}
