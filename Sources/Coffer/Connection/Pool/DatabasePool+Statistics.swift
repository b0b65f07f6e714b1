public import Foundation
internal import SystemCalls

extension DatabasePool {
    /// The use of a pool's connections at one moment, and its work since it was opened.
    public struct Statistics: Sendable, Hashable {
        /// The durations of the accesses of one kind.
        public struct AccessTimes: Sendable, Hashable {
            /// The times from the requests to the beginnings of the accesses.
            public let waited: DurationHistogram

            /// The times from the beginnings of the accesses to their ends.
            public let ran: DurationHistogram
        }

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

        /// The durations of reads; nil unless ``Configuration/measuresAccesses`` or
        /// ``Configuration/accessObserver`` is set.
        public let reads: AccessTimes?

        /// The durations of writes; nil unless ``Configuration/measuresAccesses`` or
        /// ``Configuration/accessObserver`` is set.
        public let writes: AccessTimes?

        /// The number of times that a page was in the page cache. Zero unless accesses are measured.
        public let cachedPageCount: Int

        /// The number of pages that were read from the file and decrypted. Zero unless accesses are measured.
        public let readPageCount: Int

        /// The size of the write-ahead log's file, in bytes. SQLite uses the file again after a checkpoint
        /// and does not make it smaller.
        public let logByteCount: Int64

        /// The time of the last checkpoint that copied pages into the database file: in WAL mode, nothing
        /// else writes to that file. Nil if there is no file at the path.
        public let lastCheckpoint: Date?

        /// The number of keys that were derived from passphrases for this pool, each of which takes about a
        /// tenth of a second. It starts again after a rotation.
        public let keyDerivationCount: Int

        /// The memory for the keys of all databases of the process. If
        /// ``DatabaseKey/KeyMemory/unlockedByteCount`` is not zero, keys may be swapped out.
        public let keyMemory: DatabaseKey.KeyMemory
    }

    /// The current use of the connections, for metrics and overload protection.
    ///
    ///     print(pool.statistics.waitingWriteCount)
    ///
    /// Each call reads the state of the readers and then that of the writer, under locks that are held
    /// briefly, and the sizes and times of two files. It never waits for an access.
    public var statistics: Statistics {
        let readers = readers.counts
        let writes = writer.turns
        let recorder = factory.recorder
        let file = try? FileStatus(path, followsLinks: true)
        return Statistics(
            openReaderCount: readers.open, busyReaderCount: readers.busy, waitingReadCount: readers.waiting,
            isWriterBusy: writes.isTaken, waitingWriteCount: writes.waiting,
            reads: recorder.map { Statistics.AccessTimes($0.reads) },
            writes: recorder.map { Statistics.AccessTimes($0.writes) },
            cachedPageCount: recorder?.cachedPageCount ?? 0, readPageCount: recorder?.readPageCount ?? 0,
            logByteCount: logByteCount,
            lastCheckpoint: file.map { Date(timeIntervalSince1970: Double($0.modified) / 1e9) },
            keyDerivationCount: factory.keys.configured?.derivationCount ?? 0,
            keyMemory: DatabaseKey.memoryUse)
    }

    /// The size of the write-ahead log's file, in bytes. Zero if there is none.
    var logByteCount: Int64 { (try? FileStatus(path + "-wal", followsLinks: true))?.size ?? 0 }
}

extension DatabasePool.Statistics.AccessTimes {
    fileprivate init(_ durations: AccessRecorder.Durations) {
        self.init(waited: durations.waited.histogram, ran: durations.ran.histogram)
    }
}
