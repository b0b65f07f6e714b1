internal import KeyMaterial
internal import SQLCipherBridge

extension DatabaseKey {
    /// The memory in which Coffer holds keys and what it has derived from them.
    ///
    /// The system locks as much memory as `RLIMIT_MEMLOCK` allows (`ulimit -l`, or `LimitMEMLOCK=` of a unit
    /// of systemd). Beyond that, databases open all the same, and their keys may get into the swap space.
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

        /// The bytes that the system has refused to lock, in whole pages.
        public var unlockedByteCount: Int
    }

    /// The memory for keys that this process uses now. Can be read on any thread.
    public static var memoryUse: KeyMemory {
        let (secrets, provider) = (SecretArena.shared.use, PageProvider.memoryUse)
        return KeyMemory(
            lockedByteCount: secrets.lockedByteCount + provider.locked,
            unlockedByteCount: secrets.unlockedByteCount + provider.unlocked)
    }

    /// About as many bytes as a pool has locked, with its writer: SQLCipher locks some 40 kB of its heap, the
    /// memo of pages has 12 kB, and the states of each connection have 8 kB. Keys themselves share a page.
    package static let lockedByteCountOfPool = 64 * 1024
}
