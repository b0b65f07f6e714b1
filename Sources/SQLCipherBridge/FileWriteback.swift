internal import CSQLCipher

/// The write-back of file data to disk, which otherwise happens later, or when a thread waits for it.
package enum FileWriteback {
    /// Makes the system begin to write bytes of a file to disk, so that a later sync takes less time. It is
    /// only a hint.
    package static func begin(_ descriptor: CInt, at offset: Int64, count: Int) {
        coffer_begin_synchronizing(descriptor, off_t(offset), off_t(count))
    }
}
