import Coffer

extension DatabaseReader {
    /// Returns the first integer of a query.
    func int(_ sql: String) throws -> Int? { try read { try Int.fetchOne($0, sql: sql) } }

    /// Returns the first column of a query.
    func strings(_ sql: String) throws -> [String] { try read { try String.fetchAll($0, sql: sql) } }

    /// Returns the problems that SQLite finds in the structure of the file, and SQLCipher in its pages.
    func problems() throws -> [String] {
        try strings("PRAGMA integrity_check").filter { $0 != "ok" } + strings("PRAGMA cipher_integrity_check")
    }
}

/// Returns the database error that `body` throws, or nil.
func databaseError<T>(_ body: () throws -> T) -> DatabaseError? {
    do {
        _ = try body()
        return nil
    } catch {
        return error as? DatabaseError
    }
}
