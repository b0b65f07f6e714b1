internal import CSQLCipher

/// The use of a connection's page cache.
package struct PageCacheUse: Sendable {
    /// The number of pages that were in the cache.
    package let hitCount: Int
    /// The number of pages that were read from the file and decrypted.
    package let missCount: Int
}

extension ConnectionHandle {
    /// Returns the use of the page cache since the last call, and begins to count again.
    package func takePageCacheUse() -> PageCacheUse {
        PageCacheUse(
            hitCount: takeStatus(SQLITE_DBSTATUS_CACHE_HIT), missCount: takeStatus(SQLITE_DBSTATUS_CACHE_MISS)
        )
    }

    private func takeStatus(_ kind: CInt) -> Int {
        var (current, highest) = (CInt(0), CInt(0))
        let code = unsafe sqlite3_db_status(pointer, kind, &current, &highest, 1)
        return code == SQLITE_OK ? Int(current) : 0
    }
}
