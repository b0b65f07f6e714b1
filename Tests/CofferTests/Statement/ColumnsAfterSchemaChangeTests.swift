import Coffer
import CofferTestSupport
import Testing

@Suite("Columns of kept statements after a change of the schema")
struct ColumnsAfterSchemaChangeTests {
    private struct Player: TableRecord {}

    private func check(_ db: Database, _ columns: [String], _ comment: Comment) throws {
        #expect(try Player.numberOfSelectedColumns(db) == columns.count, comment)
        #expect(try db.cachedStatement(sql: "SELECT * FROM player").columnNames == columns, comment)
        #expect(try db.cachedStatement(sql: "SELECT * FROM player").columnCount == columns.count, comment)
        #expect(try splittingRowAdapters(columnCounts: [Player.numberOfSelectedColumns(db)]).count == 2)
    }

    @Test("a change by the same connection is seen at once, also one that is taken back")
    func own() throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: "CREATE TABLE player (a)")
            try check(db, ["a"], "at first")
            try db.execute(sql: "ALTER TABLE player ADD COLUMN b")
            try check(db, ["a", "b"], "altered")
            try db.execute(sql: "DROP TABLE player; CREATE TABLE player (x, y, z)")
            try check(db, ["x", "y", "z"], "made anew")
            try db.inTransaction {
                try db.execute(sql: "ALTER TABLE player ADD COLUMN t")
                try check(db, ["x", "y", "z", "t"], "in a transaction")
                return .rollback
            }
            try check(db, ["x", "y", "z"], "rolled back")
            try db.inTransaction {
                try db.inSavepoint {
                    try db.execute(sql: "ALTER TABLE player DROP COLUMN z")
                    try check(db, ["x", "y"], "in a savepoint")
                    return .rollback
                }
                try check(db, ["x", "y", "z"], "rolled back to the savepoint")
                return .commit
            }
            #expect(throws: (any Error).self) {
                try db.inTransaction {
                    try db.execute(sql: "ALTER TABLE player RENAME COLUMN x TO w")
                    try check(db, ["w", "y", "z"], "renamed")
                    try db.execute(sql: "INSERT OR ROLLBACK INTO player SELECT 1, 2, RAISE(ROLLBACK, 'no')")
                    return .commit
                }
            }
            try check(db, ["x", "y", "z"], "after a failure")
        }
    }

    @Test("a change by another connection is seen in the next access", arguments: Access.allCases)
    func others(access: Access) throws {
        try withTestDirectory { directory in
            let writer = try directory.make(access)
            let other = try directory.makeQueue()
            try writer.write { try $0.execute(sql: "CREATE TABLE player (a)") }
            try writer.read { try check($0, ["a"], "at first") }
            try other.write { try $0.execute(sql: "ALTER TABLE player ADD COLUMN b") }
            try writer.read { try check($0, ["a", "b"], "altered") }
            try writer.write { try $0.execute(sql: "ALTER TABLE player ADD COLUMN c") }
            try writer.read { try check($0, ["a", "b", "c"], "altered again") }
            try other.read { try check($0, ["a", "b", "c"], "seen by the other") }
        }
    }
}
