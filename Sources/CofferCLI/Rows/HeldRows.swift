/// Rows that are written together, because a system call for each row would take longer than formatting it.
struct HeldRows {
    private(set) var bytes: [UInt8] = []
    /// The number of rows.
    private(set) var count = 0
    private var lastWrite = ContinuousClock.now

    /// Adds a row, and returns true if it is time to write: at 64 KiB, or after a tenth of a second. A row of
    /// a slow query waits for the next one.
    mutating func add(_ row: [UInt8], at time: ContinuousClock.Instant = .now) -> Bool {
        bytes += row
        count += 1
        return bytes.count >= 1 << 16 || time - lastWrite >= .milliseconds(100)
    }

    mutating func removeAll() { self = HeldRows() }
}
