import Coffer
import CofferTestSupport

/// Returns the statements that `body` executes on an in-memory database, without those that SQLite runs
/// internally.
func recordedSQL(after setup: String = "", _ body: (Database) throws -> Void) throws -> [String] {
    let recorder = SQLRecorder()
    let queue = try DatabaseQueue()
    return try queue.inDatabase { db in
        try db.execute(sql: setup)
        recorder.record(db)
        try body(db)
        return recorder.statements.filter { !$0.hasPrefix("--") }
    }
}

/// Returns the error that `body` throws.
func databaseError(after setup: String = "", _ body: (Database) throws -> Void) throws -> DatabaseError? {
    let queue = try DatabaseQueue()
    return try queue.inDatabase { db in
        try db.execute(sql: setup)
        do {
            try body(db)
            return nil
        } catch let error as DatabaseError {
            return error
        }
    }
}
