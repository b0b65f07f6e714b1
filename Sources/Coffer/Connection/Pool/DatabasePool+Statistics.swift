extension DatabasePool {
    /// The use of a pool's connections at one moment.
    public struct Statistics: Sendable, Hashable {
        /// The number of open reader connections, at most ``Configuration/maximumReaderCount``.
        public let openReaderCount: Int

        /// The number of reader connections in use.
        public let busyReaderCount: Int

        /// The number of accesses that wait for a reader, and of barriers that wait for readers.
        public let waitingReadCount: Int

        /// True while a write runs.
        public let isWriterBusy: Bool

        /// The number of writes that wait for their turn.
        public let waitingWriteCount: Int
    }

    /// The current use of the connections, for metrics and overload protection.
    ///
    ///     print(pool.statistics.waitingWriteCount)
    ///
    /// Each call reads the state of the readers and then that of the writer, under locks that are held
    /// briefly. It never waits for an access, and accesses do no additional work for it.
    public var statistics: Statistics {
        let readers = readers.counts
        let writes = writer.turns
        return Statistics(
            openReaderCount: readers.open, busyReaderCount: readers.busy, waitingReadCount: readers.waiting,
            isWriterBusy: writes.isTaken, waitingWriteCount: writes.waiting)
    }
}
