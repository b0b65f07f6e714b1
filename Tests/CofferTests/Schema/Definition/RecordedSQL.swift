import Coffer
import CofferTestSupport

/// The statements that `body` executes on a database in memory, without those that SQLite runs by itself.
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

/// The error that `body` must throw.
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
