internal import KeyMaterial
internal import SQLCipherBridge

extension DatabaseKey {
    /// The memory in which Coffer holds keys and values derived from them.
    ///
    /// The system locks as much memory as `RLIMIT_MEMLOCK` allows (`ulimit -l`, or `LimitMEMLOCK=` of a
    /// systemd unit). Beyond that, databases still open, but their keys may be swapped out.
    ///
    /// ```swift
    /// if DatabaseKey.memoryUse.unlockedByteCount > 0 {
    ///     print("Keys may be swapped out. Raise RLIMIT_MEMLOCK, or encrypt the swap space.")
    /// }
    /// ```
    ///
    /// SQLCipher's own copies are not counted: see <doc:SecurityModel>.
    public struct KeyMemory: Sendable, Hashable {
        /// The bytes that are locked, in whole pages.
        public var lockedByteCount: Int

        /// The bytes that the system refused to lock, in whole pages.
        public var unlockedByteCount: Int
    }

    /// The memory that this process currently uses for keys. It can be read on any thread.
    public static var memoryUse: KeyMemory {
        let (secrets, provider) = (SecretArena.shared.use, PageProvider.memoryUse)
        return KeyMemory(
            lockedByteCount: secrets.lockedByteCount + provider.locked,
            unlockedByteCount: secrets.unlockedByteCount + provider.unlocked)
    }

    /// The approximate number of bytes that a pool locks, including its writer: SQLCipher locks about 40 kB
    /// of its heap, the page memo has 12 kB, and the states of each connection have 8 kB. The keys themselves
    /// share one page.
    package static let lockedByteCountOfPool = 64 * 1024
}
