internal import CSQLCipher

/// What is written to a file reaches the disk some time later, or when a thread waits for it.
package enum FileWriteback {
    /// Has the system begin to bring bytes of a file to the disk, so that less is left for who waits. It is
    /// only a hint.
    package static func begin(_ descriptor: CInt, at offset: Int64, count: Int) {
        coffer_begin_synchronizing(descriptor, off_t(offset), off_t(count))
    }
}
