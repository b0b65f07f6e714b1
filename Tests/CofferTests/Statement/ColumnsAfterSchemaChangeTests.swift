import Coffer
import CofferTestSupport
import Testing

@Suite("Columns of cached statements after a schema change")
struct ColumnsAfterSchemaChangeTests {
    private struct Player: TableRecord {}

    /// The object whose columns are read first. The others may benefit from the change that it has noticed.
    enum First: CaseIterable {
        case request, statement, preparedRequest
    }

    private func check(_ db: Database, _ columns: [String], _ comment: Comment, _ first: First) throws {
        let start = First.allCases.firstIndex(of: first) ?? 0
        for look in First.allCases[start...] + First.allCases[..<start] {
            switch look {
            case .request: #expect(try Player.numberOfSelectedColumns(db) == columns.count, comment)
            case .statement:
                #expect(try db.cachedStatement(sql: "SELECT * FROM player").columnNames == columns, comment)
                #expect(
                    try db.cachedStatement(sql: "SELECT * FROM player").columnCount == columns.count, comment)
            case .preparedRequest:
                #expect(try Player.all().makePreparedRequest(db).statement.columnNames == columns, comment)
            }
        }
        #expect(try splittingRowAdapters(columnCounts: [Player.numberOfSelectedColumns(db)]).count == 2)
    }

    @Test(
        "a change by the same connection is seen at once, and so is its rollback",
        arguments: First.allCases)
    func own(first: First) throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(
                sql: "CREATE TABLE player (a); CREATE TABLE other (a UNIQUE); INSERT INTO other VALUES (1)")
            try check(db, ["a"], "at first", first)
            try db.execute(sql: "ALTER TABLE player ADD COLUMN b")
            try check(db, ["a", "b"], "altered", first)
            try db.execute(sql: "DROP TABLE player; CREATE TABLE player (x, y, z)")
            try check(db, ["x", "y", "z"], "made anew", first)
            try db.inTransaction {
                try db.execute(sql: "ALTER TABLE player ADD COLUMN t")
                try check(db, ["x", "y", "z", "t"], "in a transaction", first)
                return .rollback
            }
            try check(db, ["x", "y", "z"], "rolled back", first)
            try db.inTransaction {
                try db.inSavepoint {
                    try db.execute(sql: "ALTER TABLE player DROP COLUMN z")
                    try check(db, ["x", "y"], "in a savepoint", first)
                    return .rollback
                }
                try check(db, ["x", "y", "z"], "rolled back to the savepoint", first)
                return .commit
            }
            #expect(throws: (any Error).self) {
                try db.inTransaction {
                    try db.execute(sql: "ALTER TABLE player RENAME COLUMN x TO w")
                    try check(db, ["w", "y", "z"], "renamed", first)
                    try db.execute(sql: "INSERT OR ROLLBACK INTO other VALUES (1)")
                    return .commit
                }
            }
            try check(db, ["x", "y", "z"], "after a failure", first)
        }
    }

    // A prepared request is recompiled when it is executed. Until then, its columns match the schema for
    // which it was compiled.
    @Test(
        "a change by another connection is seen in the next access", arguments: Access.allCases,
        [First.request, First.statement])
    func others(access: Access, first: First) throws {
        try withTestDirectory { directory in
            let writer = try directory.make(access)
            let other = try directory.makeQueue()
            try writer.write { try $0.execute(sql: "CREATE TABLE player (a)") }
            try writer.read { try check($0, ["a"], "at first", first) }
            try other.write { try $0.execute(sql: "ALTER TABLE player ADD COLUMN b") }
            try writer.read { try check($0, ["a", "b"], "altered", first) }
            try writer.write { try $0.execute(sql: "ALTER TABLE player ADD COLUMN c") }
            try writer.read { try check($0, ["a", "b", "c"], "altered again", first) }
            try other.read { try check($0, ["a", "b", "c"], "seen by the other", first) }
        }
    }
}
