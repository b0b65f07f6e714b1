internal import Synchronization

extension Database {
    private static let hasWarnedOfKeyMemory = Mutex(false)

    /// Logs once in the life of the process that keys are in memory that is not locked, if they are.
    static func warnOfUnlockedKeyMemory() {
        let count = DatabaseKey.memoryUse.unlockedByteCount
        guard count > 0, let log = logError else { return }
        let isFirst = hasWarnedOfKeyMemory.withLock { hasWarned in
            defer { hasWarned = true }
            return !hasWarned
        }
        guard isFirst else { return }
        log(
            .SQLITE_WARNING,
            "\(count) bytes of the memory for keys could not be locked, and may be written to the swap "
                + "space. Raise RLIMIT_MEMLOCK ('ulimit -l', or LimitMEMLOCK= of a unit). "
                + "This is logged once.")
    }
}
