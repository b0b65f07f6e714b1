public import Foundation
internal import SQLCipherBridge

extension DatabasePool {
    /// True if the path leads to no file, or to another one than the pool has open.
    var hasLostFile: Bool { factory.keys.hasLostFile(at: path) }

    /// The answer to ``DatabasePool/health(timeout:)``.
    public struct Health: Sendable {
        /// The key with which a pool has opened its file.
        public enum Key: Sendable, Hashable {
            /// The configuration has no key.
            case none
            /// ``Configuration/key``, or the key of the last rotation.
            case current
            /// The key at this position in ``Configuration/previousKeys``. The file is still to be rotated.
            case previous(index: Int)
        }

        /// The error of a read; nil if the database can be read.
        public let readError: (any Error)?

        /// The error of a transaction that began, took the lock for writing, and was rolled back; nil if the
        /// database can be written. It changes nothing, so it does not notice a full disk.
        public let writeError: (any Error)?

        /// The key that opened the file.
        public let usedKey: Key

        /// The size of the write-ahead log's file, in bytes.
        public let logByteCount: Int64

        /// The number of bytes that this user may still write to the file system; nil if it does not report
        /// it.
        public let freeByteCount: Int64?
    }

    /// Checks that the pool can read and write, without blocking a thread while it waits.
    ///
    /// ```swift
    /// let health = await pool.health(timeout: 0.5)
    /// let status = health.readError == nil && health.writeError == nil ? 200 : 503
    /// ```
    ///
    /// - Parameter timeout: the maximum time to wait for a reader, and then for the writer, in seconds. A
    ///   busy pool has a ``DatabaseWaitError`` as its ``Health/readError`` or ``Health/writeError``.
    public func health(timeout: TimeInterval = 1) async -> Health {
        let readError = await error(of: {
            _ = try await read(timeout: timeout) { db in
                try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master")
            }
        })
        let writeError = await error(of: {
            try await writeWithoutTransaction(timeout: timeout) { db in
                // SQLite begins a transaction even so.
                guard !db.handle.isReadOnly(schema: "main") else {
                    throw DatabaseError(resultCode: .SQLITE_READONLY)
                }
                try db.beginTransaction(.immediate)
                try db.rollback()
            }
        })
        let path = path
        let free = try? await BlockingWork.run("Coffer.Health") { _ in
            try SystemFile.availableSpace(SystemFile.directory(of: path))
        }
        return Health(
            readError: readError, writeError: writeError, usedKey: usedKey, logByteCount: logByteCount,
            freeByteCount: free)
    }

    private func error(of body: () async throws -> Void) async -> (any Error)? {
        do {
            try await body()
            return nil
        } catch {
            return error
        }
    }

    private var usedKey: Health.Key {
        guard let ring = factory.keys.configured else { return .none }
        guard let index = ring.usedKeyIndex, index > 0 else { return .current }
        return .previous(index: index - 1)
    }
}
