import Coffer
import Testing

/// The code block of the article on errors, verbatim: `Scripts/check-docs` compares them.
@Suite("The article on errors")
struct ErrorsArticleTests {
    /// Returns the HTTP status for an error; nil if the client no longer waits.
    private func httpStatus(of error: any Error) -> Int? {
        switch error {
        case is CancellationError: nil
        case is DatabaseWaitError: 503
        case RecordError.recordNotFound: 404
        case DatabaseError.SQLITE_CONSTRAINT: 409
        case DatabaseError.SQLITE_BUSY, DatabaseError.SQLITE_FULL, DatabaseError.SQLITE_CANTOPEN: 503
        case let error as DatabaseError where error.encryptionFailure != nil: 503
        default: 500
        }
    }

    struct Item: Codable, FetchableRecord, PersistableRecord {
        var id: Int64
        var name: String
    }

    /// Returns the error of a write to a table with one item.
    private func error(of updates: (Database) throws -> Void) throws -> any Error {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.create(table: "item") { table in
                table.primaryKey("id", .integer)
                table.column("name", .text).notNull()
            }
            try Item(id: 1, name: "ring").insert(db)
        }
        do {
            try queue.write(updates)
        } catch {
            return error
        }
        Issue.record("the write has succeeded")
        return CancellationError()
    }

    @Test("each error has the status that the article gives it")
    func status() throws {
        #expect(httpStatus(of: CancellationError()) == nil)
        #expect(httpStatus(of: DatabaseError(resultCode: .SQLITE_BUSY)) == 503)
        #expect(httpStatus(of: DatabaseError(resultCode: .SQLITE_FULL)) == 503)

        let missing = try error { db in try Item(id: 2, name: "candle").update(db) }
        #expect(httpStatus(of: missing) == 404)
        let duplicate = try error { db in try Item(id: 1, name: "candle").insert(db) }
        #expect(httpStatus(of: duplicate) == 409)
        let mistake = try error { db in try db.execute(sql: "SELECT * FROM nothing") }
        #expect(httpStatus(of: mistake) == 500)
        let row = try error { db in _ = try Item.fetchAll(db, sql: "SELECT 1 AS id, NULL AS name") }
        #expect(httpStatus(of: row) == 500)
    }
}
