internal import Coffer

/// Opens a connection that can read even after a crashed process left a hot journal.
enum ReadableQueue {
    static func open(_ path: String, _ configuration: Configuration) throws -> DatabaseQueue {
        do {
            return try DatabaseQueue(path: path, configuration: configuration)
        } catch let error as DatabaseError
            where configuration.readonly && error.resultCode == .SQLITE_READONLY
        {
            // A crashed process left a hot journal, which only a writable connection can roll back.
            var configuration = configuration
            configuration.readonly = false
            configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA query_only = 1") }
            return try DatabaseQueue(path: path, configuration: configuration)
        }
    }
}
