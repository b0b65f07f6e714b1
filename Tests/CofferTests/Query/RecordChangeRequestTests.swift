import Coffer
import CofferTestSupport
import Testing

/// A player with only some of the table's columns selected.
private struct Scorer: Codable, FetchableRecord, PersistableRecord, Hashable {
    enum Columns {
        static let id = Column(CodingKeys.id)
        static let name = Column(CodingKeys.name)
        static let score = Column(CodingKeys.score)
    }

    static let databaseTableName = "scorer"
    static var databaseSelection: [any SQLSelectable] { [Columns.id, Columns.name, Columns.score] }
    static let persistenceConflictPolicy = PersistenceConflictPolicy(insert: .fail, update: .ignore)

    var id: Int64
    var name: String
    var score: Int
}

@Suite("Requests that change rows and return records")
struct RecordChangeRequestTests {
    private static let creation =
        "CREATE TABLE scorer (id INTEGER PRIMARY KEY, name TEXT UNIQUE, score INTEGER, secret TEXT DEFAULT 'x')"
    private static let scorers = [
        Scorer(id: 1, name: "Ada", score: 10), Scorer(id: 2, name: "Bob", score: 0),
        Scorer(id: 3, name: "Eve", score: -5),
    ]

    /// Runs a change on a new table. Checks the SQL, and compares the remaining rows with those that the
    /// stock shell leaves after the same change in handwritten SQL.
    @discardableResult
    private func change<T>(
        _ sql: String, same handwritten: String, sourceLocation: SourceLocation = #_sourceLocation,
        _ change: (Database) throws -> T
    ) throws -> T {
        try withTestDirectory { directory in
            let queue = try directory.makeQueue()
            let recorder = SQLRecorder()
            let selection = "SELECT id, name, score, secret FROM scorer ORDER BY id"
            let (result, rows) = try queue.writeWithoutTransaction { db in
                try db.execute(sql: Self.creation)
                for scorer in Self.scorers { try scorer.insert(db) }
                recorder.record(db)
                let result = try change(db)
                #expect(recorder.statements == [sql], sourceLocation: sourceLocation)
                db.trace(nil)
                return (
                    result,
                    try Row.fetchAll(db, sql: selection).map {
                        $0.databaseValues.map(Self.text).joined(separator: "|")
                    }
                )
            }
            if SQLCipherShell.isAvailable {
                let other = try directory.makeQueue("b.db")
                try other.write { (db) throws in
                    try db.execute(sql: Self.creation)
                    for scorer in Self.scorers { try scorer.insert(db) }
                }
                try other.close()
                let judgement = try SQLCipherShell(path: directory.path("b.db")).run(
                    "\(handwritten);\n\(selection);")
                #expect(judgement.suffix(rows.count) == rows[...], sourceLocation: sourceLocation)
            }
            return result
        }
    }

    private static func text(_ value: DatabaseValue) -> String {
        switch value.storage {
        case .int64(let value): "\(value)"
        case .string(let value): value
        default: ""
        }
    }

    // MARK: - Deleting

    @Test("delete and return records, as an array, a set and a cursor")
    func delete() throws {
        let sql = #"DELETE FROM "scorer" WHERE "score" <= ? RETURNING "id", "name", "score""#
        let handwritten = "DELETE FROM scorer WHERE score <= 0"
        let all = try change(sql, same: handwritten) {
            try Scorer.filter { $0.score <= 0 }.deleteAndFetchAll($0)
        }
        #expect(all.sorted { $0.id < $1.id } == Array(Self.scorers[1...]))
        let set = try change(sql, same: handwritten) {
            try Scorer.filter { $0.score <= 0 }.deleteAndFetchSet($0)
        }
        #expect(set == Set(Self.scorers[1...]))
        let cursor = try change(sql, same: handwritten) {
            try Array(Scorer.filter { $0.score <= 0 }.deleteAndFetchCursor($0))
        }
        #expect(Set(cursor) == Set(Self.scorers[1...]))
        let none = try change(
            #"DELETE FROM "scorer" WHERE 0 RETURNING "id", "name", "score""#, same: "SELECT 1 WHERE 0"
        ) {
            try Scorer.none().deleteAndFetchAll($0)
        }
        #expect(none.isEmpty)
    }

    @Test("a table deletes rows and returns them as its record type")
    func deleteWithLimit() throws {
        let worst = try change(
            #"DELETE FROM "scorer" RETURNING "id", "name", "score" ORDER BY "score" LIMIT 1"#,
            same: "DELETE FROM scorer WHERE id = 3"
        ) {
            try Table<Scorer>("scorer").order(\.score).limit(1).deleteAndFetchAll($0)
        }
        #expect(worst == [Self.scorers[2]])
    }

    @Test("a deletion that fails changes nothing")
    func failedDeletion() throws {
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: Self.creation)
            try db.execute(
                sql:
                    "CREATE TABLE fan (scorerId REFERENCES scorer (id)); INSERT INTO scorer (id, name) VALUES (1, 'Ada'), (2, 'Bob')"
            )
            try db.execute(sql: "INSERT INTO fan VALUES (2)")
            #expect(throws: DatabaseError.self) {
                try Scorer.all().select(Column("id"), as: Int.self).deleteAll(db)
            }
            #expect(throws: DatabaseError.self) {
                try Scorer.all().deleteAndFetchStatement(db, selection: [Column("id")]).execute()
            }
            #expect(try Scorer.fetchCount(db) == 2)
        }
    }

    // MARK: - Updating

    @Test("update and return the changed records, as an array, a set and a cursor")
    func update() throws {
        let sql =
            #"UPDATE OR IGNORE "scorer" SET "score" = "score" + ? WHERE "id" < ? RETURNING "id", "name", "score""#
        let handwritten = "UPDATE scorer SET score = score + 5 WHERE id < 3"
        let expected: Set = [Scorer(id: 1, name: "Ada", score: 15), Scorer(id: 2, name: "Bob", score: 5)]
        let request = Scorer.filter { $0.id < 3 }
        #expect(
            try Set(
                change(sql, same: handwritten) { try request.updateAndFetchAll($0, [Column("score") += 5]) })
                == expected)
        #expect(
            try Set(change(sql, same: handwritten) { try request.updateAndFetchAll($0) { [$0.score += 5] } })
                == expected)
        #expect(
            try change(sql, same: handwritten) { try request.updateAndFetchSet($0, [Column("score") += 5]) }
                == expected)
        #expect(
            try change(sql, same: handwritten) { try request.updateAndFetchSet($0) { [$0.score += 5] } }
                == expected)
        let cursor = try change(sql, same: handwritten) {
            try Array(request.updateAndFetchCursor($0, [Column("score") += 5]))
        }
        #expect(Set(cursor) == expected)
        let closure = try change(sql, same: handwritten) {
            try Array(request.updateAndFetchCursor($0) { [$0.score += 5] })
        }
        #expect(Set(closure) == expected)
    }

    @Test("use the conflict policy of the record type, unless the call has one")
    func conflicts() throws {
        let ignoring = #"UPDATE OR IGNORE "scorer" SET "name" = ?"#
        let taken = "UPDATE OR IGNORE scorer SET name = 'Ada'"
        #expect(
            try change(ignoring, same: taken) { try Scorer.updateAll($0, Column("name").set(to: "Ada")) } == 1
        )
        #expect(
            try change(ignoring, same: taken) { try Scorer.updateAll($0) { $0.name.set(to: "Ada") } } == 1)
        #expect(
            try change(ignoring, same: taken) { try Scorer.updateAll($0) { [$0.name.set(to: "Ada")] } } == 1)
        #expect(
            try change(ignoring, same: taken) { try Scorer.updateAll($0, [Column("name").set(to: "Ada")]) }
                == 1)
        #expect(
            try change(ignoring, same: taken) { try Scorer.all().updateAll($0) { $0.name.set(to: "Ada") } }
                == 1)
        #expect(
            try change(ignoring, same: taken) {
                try Table<Scorer>("scorer").updateAll($0) { $0.name.set(to: "Ada") }
            } == 1)
        let returned = try change(ignoring + #" RETURNING "id", "name", "score""#, same: taken) {
            try Scorer.all().updateAndFetchAll($0, [Column("name").set(to: "Ada")])
        }
        #expect(returned == [Self.scorers[0]])
        // An updated row replaces the row that it conflicts with.
        let replacing = try change(
            #"UPDATE OR REPLACE "scorer" SET "name" = ? WHERE "id" = ? RETURNING "id", "name", "score""#,
            same: "UPDATE OR REPLACE scorer SET name = 'Ada' WHERE id = 3"
        ) {
            try Scorer.filter(key: 3).updateAndFetchAll(
                $0, onConflict: .replace, [Column("name").set(to: "Ada")])
        }
        #expect(replacing == [Scorer(id: 3, name: "Ada", score: -5)])
        // A table of rows has no conflict policy.
        #expect(throws: DatabaseError.self) {
            try change(#"UPDATE "scorer" SET "name" = ?"#, same: "") {
                try Table("scorer").updateAll($0, Column("name").set(to: "Ada"))
            }
        }
    }

    @Test("an update and a deletion through a cursor are complete when it has ended")
    func cursors() throws {
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: Self.creation)
            for scorer in Self.scorers { try scorer.insert(db) }
            let updated = try Scorer.all().updateAndFetchCursor(db, [Column("score").set(to: 1)])
            while try updated.next() != nil {}
            #expect(try Scorer.select(sum(Column("score")), as: Int.self).fetchOne(db) == 3)
            let deleted: RecordCursor<Scorer> = try Scorer.all().deleteAndFetchCursor(db)
            while try deleted.next() != nil {}
            #expect(try Scorer.fetchCount(db) == 0)
        }
    }

    // MARK: - Tables of records

    @Test("tables fetch records of all columns", arguments: Access.allCases)
    func tables(access: Access) throws {
        try withTestDirectory { directory in
            let database = try directory.make(access)
            try database.write { (db) throws in
                try db.execute(sql: Self.creation)
                for scorer in Self.scorers { try scorer.insert(db) }
            }
            let recorder = SQLRecorder()
            try database.read { (db: Database) throws -> Void in
                let table = Table<Scorer>("scorer")
                recorder.record(db)
                #expect(try table.fetchAll(db) == Self.scorers)
                #expect(try table.fetchSet(db) == Set(Self.scorers))
                #expect(try table.fetchOne(db) == Self.scorers[0])
                let cursor: RecordCursor<Scorer> = try table.fetchCursor(db)
                #expect(try Array(cursor) == Self.scorers)
                db.trace(nil)
            }
            let sql = #"SELECT * FROM "scorer""#
            #expect(recorder.statements == [sql, sql, sql + " LIMIT 1", sql])
        }
    }
}
