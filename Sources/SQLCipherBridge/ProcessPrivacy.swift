internal import CSQLCipher

/// What a process can do to keep its memory to itself.
package enum ProcessPrivacy {
    /// Asks the kernel to write no core dump of this process, not even into a pipe, and to let no debugger
    /// of the same user attach to it.
    @discardableResult
    package static func denyCoreDumps() -> Bool { coffer_deny_core_dumps() == 0 }
}
