internal import Synchronization

extension Database {
    private static let hasWarnedOfKeyMemory = Mutex(false)

    /// Logs a warning, once per process, if keys are in memory that could not be locked.
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
            "\(count) bytes of key memory could not be locked, and may be written to swap. Raise "
                + "RLIMIT_MEMLOCK ('ulimit -l', or LimitMEMLOCK= in a systemd unit). This is logged once.")
    }
}
