internal import Glibc
internal import SystemCalls

/// The place of a database file that is missing or empty, with the journal and the log next to it.
///
/// The engine deletes both, because such a file has no transaction to roll back or to replay. But they may
/// belong to a database that was moved away, or not be SQLite's files at all.
enum EmptyFilePlace {
    /// Refuses side files whose deletion would lose anything. Only files without bytes, and the journal of a
    /// first transaction, may be deleted.
    ///
    /// - Throws: ``EncryptionFailure/foreignSideFile(path:isFileWhole:)``.
    static func check(_ path: String) throws(DatabaseError) {
        guard Database.isEmptyOrMissing(path) else { return }
        let file = resolved(path) ?? path
        for side in ["\(file)-journal", "\(file)-wal"] where mayBeOfUse(side) {
            // Another process may have created the database since, and the side file may belong to it.
            guard (try? FileStatus(side)) != nil, Database.isEmptyOrMissing(path) else { continue }
            throw DatabaseError(encryptionFailure: .foreignSideFile(path: side, isFileWhole: true))
        }
    }

    /// Returns the path without symbolic links: the engine looks for side files next to the file itself.
    private static func resolved(_ path: String) -> String? {
        let resolved = unsafe realpath(path, nil)
        defer { unsafe free(resolved) }
        return unsafe resolved.flatMap { unsafe String(validatingCString: $0) }
    }

    private static func mayBeOfUse(_ side: String) -> Bool {
        guard let status = try? FileStatus(side) else { return false }
        guard status.isRegular else { return true }
        guard status.size > 0 else { return false }
        // Opening a pipe that has taken the place of the file since does not wait for its other end.
        guard side.ends(inBytesOf: "-journal"),
            let file = try? Descriptor(opening: side, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC),
            let start = try? file.readAll(upTo: 28)
        else { return true }
        return !RollbackJournal.isOfFirstTransaction(start)
    }
}
