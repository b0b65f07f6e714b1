internal import CSQLCipher

/// The kernel's answer to the question whether a file is open: it grants a write lease only if no other
/// descriptor has the file open.
package enum FileLease {
    /// No other descriptor had the file open at that moment.
    case free
    case inUse
    /// The file cannot be opened, or the file system, the file's owner, or the kernel does not allow a lease.
    case unknown

    /// Checks whether a file is open in this or another process.
    ///
    /// The check has to open a descriptor. A thread that does not share the descriptors of this process does
    /// it, because closing one of them would drop all locks of the process on the file, including locks of a
    /// connection that another thread has just opened.
    package static func ask(_ path: String) -> FileLease {
        switch unsafe coffer_ask_for_lease(path) {
        case 0: .free
        case 1: .inUse
        default: .unknown
        }
    }
}
