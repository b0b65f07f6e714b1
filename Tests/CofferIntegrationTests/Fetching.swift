import Coffer

extension DatabaseReader {
    /// The first integer of a query.
    func int(_ sql: String) throws -> Int? { try read { try Int.fetchOne($0, sql: sql) } }

    /// The first column of a query.
    func strings(_ sql: String) throws -> [String] { try read { try String.fetchAll($0, sql: sql) } }

    /// What SQLite finds wrong in the structure of the file, and SQLCipher in its pages.
    func problems() throws -> [String] {
        try strings("PRAGMA integrity_check").filter { $0 != "ok" } + strings("PRAGMA cipher_integrity_check")
    }
}

/// The database error that `body` throws, or nil.
func databaseError<T>(_ body: () throws -> T) -> DatabaseError? {
    do {
        _ = try body()
        return nil
    } catch {
        return error as? DatabaseError
    }
}
