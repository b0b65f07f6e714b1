internal import CSQLCipher

/// The protection of a process's memory against other processes.
package enum ProcessPrivacy {
    /// Asks the kernel to write no core dump of this process, not even into a pipe, and to prevent debuggers
    /// of the same user from attaching to it.
    @discardableResult
    package static func denyCoreDumps() -> Bool { coffer_deny_core_dumps() == 0 }
}
