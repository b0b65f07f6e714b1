internal import CSQLCipher

/// The freed memory that the C library keeps for reuse.
package enum FreeMemory {
    /// Returns free memory to the system if the C library supports it. Takes a few milliseconds, during which
    /// other threads may wait to allocate memory.
    package static func giveBack() {
        coffer_give_back_free_memory()
    }
}
