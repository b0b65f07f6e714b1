internal import CSQLCipher

/// What the process has freed, and the C library keeps for later.
package enum FreeMemory {
    /// Gives it back to the system, where the C library can. Takes some milliseconds, in which other threads
    /// may wait for memory.
    package static func giveBack() {
        coffer_give_back_free_memory()
    }
}
