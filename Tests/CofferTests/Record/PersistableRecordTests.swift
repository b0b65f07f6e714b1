import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Writing records")
struct PersistableRecordTests {
    private func withTables(_ access: Access = .queue, _ body: (any DatabaseWriter) throws -> Void) throws {
        try withTestDirectory { directory in
            let database = try directory.make(access)
            try database.write { db in
                try Athlete.createTable(db)
                try Nation.createTable(db)
                try Passport.createTable(db)
            }
            try body(database)
        }
    }

    @Test("an inserted record gets its ID, and is found by it", arguments: Access.allCases)
    func insert(access: Access) throws {
        try withTables(access) { database in
            try database.write { db in
                var athlete = Athlete(name: "Ada", score: 1)
                try athlete.insert(db)
                #expect(athlete.id == 1)
                let other = try Athlete(name: "Bob", score: 2).inserted(db)
                #expect(other.id == 2)
                try Nation(code: "FR", name: "France", population: nil).insert(db)
            }
            try database.read { (db: Database) throws -> Void in
                #expect(try Athlete.fetchOne(db, key: 1) == Athlete(id: 1, name: "Ada", score: 1))
                #expect(try Athlete.fetchOne(db, key: 2)?.name == "Bob")
                #expect(try Athlete.fetchOne(db, key: 3) == nil)
                #expect(try Athlete.fetchOne(db, key: Int?.none) == nil)
                #expect(try Athlete.find(db, key: 1).name == "Ada")
                #expect(try Nation.fetchOne(db, id: "FR")?.name == "France")
                #expect(try Nation.find(db, id: "FR").population == nil)
                #expect(throws: RecordError.self) { try Nation.find(db, id: "XX") }
            }
        }
    }

    @Test("find throws an error that names the table and the key")
    func recordNotFound() throws {
        try withTables { database in
            try database.write { db in
                #expect {
                    try Athlete.find(db, key: 12)
                } throws: { error in
                    guard case RecordError.recordNotFound("athlete", let key) = error,
                        key == ["id": 12.databaseValue]
                    else { return false }
                    return "\(error)" == "Key not found in table athlete: [id:12]"
                }
                #expect {
                    try Athlete.find(db, key: ["name": "Ada"])
                } throws: { error in
                    if case RecordError.recordNotFound("athlete", let key) = error {
                        key == ["name": "Ada".databaseValue]
                    } else {
                        false
                    }
                }
                #expect {
                    try Athlete(id: 3, name: "x").update(db)
                } throws: { error in
                    if case RecordError.recordNotFound("athlete", let key) = error {
                        key == ["id": 3.databaseValue]
                    } else {
                        false
                    }
                }
                #expect {
                    try Athlete(name: "x").update(db)
                } throws: { error in
                    if case RecordError.recordNotFound("athlete", let key) = error {
                        key == ["id": .null]
                    } else {
                        false
                    }
                }
            }
        }
    }

    @Test("the SQL of operations is minimal")
    func sql() throws {
        let recorder = SQLRecorder()
        let database = try DatabaseQueue(configuration: recorder.recording(Configuration()))
        try database.write { db in
            try Athlete.createTable(db)
            try Passport.createTable(db)
            recorder.clear()
            var athlete = Athlete(name: "Ada")
            try athlete.insert(db)
            try athlete.insertAndFetchIgnoring(db)
            try athlete.update(db)
            try athlete.update(db, columns: ["SCORE"])
            try athlete.updateChanges(db) { $0.score = 4 }
            _ = try athlete.exists(db)
            _ = try Athlete.fetchOne(db, key: 1)
            try athlete.delete(db)
            try Passport(citizenId: 1, countryCode: "FR", since: 2).update(db)
        } orHandle: { error in
            #expect(error is RecordError)
        }
        #expect(
            recorder.statements == [
                #"INSERT INTO "athlete" ("id", "name", "score") VALUES (?,?,?)"#,
                #"INSERT OR IGNORE INTO "athlete" ("id", "name", "score") VALUES (?,?,?) RETURNING *"#,
                #"UPDATE "athlete" SET "name"=?, "score"=? WHERE "id"=?"#,
                #"UPDATE "athlete" SET "score"=? WHERE "id"=?"#,
                #"UPDATE "athlete" SET "score"=? WHERE "id"=?"#,
                #"SELECT EXISTS (SELECT 1 FROM "athlete" WHERE "id"=?)"#,
                #"SELECT * FROM "athlete" WHERE "id" = ?"#,
                #"DELETE FROM "athlete" WHERE "id"=?"#,
                #"UPDATE "passport" SET "since"=? WHERE "citizenId"=? AND "countryCode"=?"#,
                "ROLLBACK TRANSACTION",
            ])
    }

    @Test("an update changes all columns, some, or those that differ", arguments: Access.allCases)
    func update(access: Access) throws {
        try withTables(access) { database in
            try database.write { db in
                var athlete = try Athlete(name: "Ada", score: 1).inserted(db)
                let old = athlete
                athlete.name = "Eve"
                athlete.score = 9
                try athlete.update(db, columns: ["score"])
                #expect(try Athlete.fetchOne(db) == Athlete(id: 1, name: "Ada", score: 9))
                try athlete.update(db, columns: [Athlete.Columns.name])
                #expect(try Athlete.fetchOne(db) == athlete)
                try old.update(db)
                #expect(try Athlete.fetchOne(db) == old)
                try athlete.update(
                    db, columns: [Athlete.Columns.name, Athlete.Columns.id] as [any ColumnExpression])
                try athlete.update(db, columns: ["NaMe", "unknown"])
                #expect(try Athlete.fetchOne(db)?.score == 1)

                #expect(try athlete.updateChanges(db, from: old))
                #expect(try Athlete.fetchOne(db) == athlete)
                #expect(try !athlete.updateChanges(db, from: athlete))
                #expect(try athlete.updateChanges(db) { $0.score += 1 })
                #expect(try !athlete.updateChanges(db) { $0.score += 0 })
                #expect(try Athlete.fetchOne(db)?.score == 10)
                // Only the key: the update checks whether the row exists.
                try Athlete(id: 1, name: "x").update(db, columns: ["id"])
                #expect(throws: RecordError.self) {
                    try Athlete(id: 2, name: "x").update(db, columns: ["id"])
                }
            }
        }
    }

    @Test("save updates a row with the key, and inserts otherwise")
    func save() throws {
        try withTables { database in
            try database.write { db in
                var athlete = Athlete(name: "Ada", score: 1)
                try athlete.save(db)
                #expect(athlete.id == 1)
                athlete.score = 2
                try athlete.save(db)
                #expect(try Athlete.fetchAll(db) == [athlete])
                let other = try Athlete(id: 8, name: "Bob", score: 3).saved(db)
                #expect(try Athlete.fetchSet(db) == [athlete, other])
                let fetched = try Athlete(id: 8, name: "Bob", score: 4).saveAndFetch(db)
                #expect(fetched.score == 4)
                let score = try athlete.saveAndFetch(db, selection: [Column("score")]) {
                    try Int.fetchOne($0)
                }
                #expect(score == 2)
                #expect(try athlete.saveAndFetch(db, as: Athlete.self) == athlete)
                let nation = Nation(code: "FR", name: "France", population: 1)
                try nation.save(db)
                try Nation(code: "FR", name: "Gaul", population: nil).save(db)
                #expect(try Nation.fetchAll(db) == [Nation(code: "FR", name: "Gaul", population: nil)])
                #expect(try nation.saveAndFetch(db, as: Nation.self) == nation)
                let name = try nation.saveAndFetch(db, selection: [Column("name")]) {
                    try String.fetchOne($0)
                }
                #expect(name == "France")
            }
        }
    }

    @Test("upsert updates the conflicting row, and returns its row ID")
    func upsert() throws {
        try withTables { database in
            try database.write { db in
                var athlete = Athlete(name: "Ada", score: 1)
                try athlete.upsert(db)
                #expect(athlete.id == 1)
                var same = Athlete(name: "Ada", score: 5)
                try db.execute(sql: "INSERT INTO athlete (name) VALUES ('last')")
                try same.upsert(db)
                #expect(same.id == 1)
                #expect(try Athlete.fetchOne(db, key: 1)?.score == 5)

                var again = Athlete(name: "Ada", score: 10)
                let sum = try again.upsertAndFetch(
                    db, onConflict: ["name"],
                    doUpdate: { excluded in
                        [Column("score").set(to: Column("score") + excluded["score"])]
                    })
                #expect(sum == Athlete(id: 1, name: "Ada", score: 15))
                #expect(again.id == 1)
                let kept = try again.upsertAndFetch(db, doUpdate: { _ in [Column("score").noOverwrite] })
                #expect(kept.score == 15)
                let unspecified = try again.upsertAndFetch(db, updating: .noColumnUnlessSpecified)
                #expect(unspecified.score == 15)

                try Nation(code: "FR", name: "France", population: 1).upsert(db)
                let nation = Nation(code: "FR", name: "Gaul", population: 2)
                try nation.upsert(db)
                #expect(try Nation.fetchAll(db) == [nation])
                #expect(try nation.upsertAndFetch(db) == nation)
                #expect(try nation.upsertAndFetch(db, as: Nation.self, onConflict: ["code"]) == nation)
            }
        }
    }

    @Test("upsert writes the SQL that the documentation shows")
    func upsertSQL() throws {
        let recorder = SQLRecorder()
        let database = try DatabaseQueue(configuration: recorder.recording(Configuration()))
        try database.write { db in
            try Nation.createTable(db)
            recorder.clear()
            let nation = Nation(code: "FR", name: "France", population: 1)
            try nation.upsert(db)
            _ = try nation.upsertAndFetch(
                db, onConflict: ["code"],
                doUpdate: { _ in [Column("population") += 1, Column("name").noOverwrite] })
        }
        #expect(
            Array(recorder.statements.prefix(2)) == [
                #"INSERT INTO "nation" ("code", "name", "population") VALUES (?,?,?) ON CONFLICT DO UPDATE SET "name" = "excluded"."name", "population" = "excluded"."population""#,
                #"INSERT INTO "nation" ("code", "name", "population") VALUES (?,?,?) ON CONFLICT("code") DO UPDATE SET "population" = "population" + ? RETURNING *"#,
            ])
    }

    @Test("fetching variants return the row with default and generated values")
    func andFetch() throws {
        struct PartialAthlete: Encodable, PersistableRecord {
            static let databaseTableName = "athlete"
            typealias Columns = Athlete.Columns
            var name: String
        }
        struct Doubled: Codable, FetchableRecord, TableRecord, Equatable {
            static let databaseTableName = "athlete"
            static var databaseSelection: [any SQLSelectable] { [Column("double")] }
            var double: Int
        }
        try withTables { database in
            try database.write { db in
                let athlete = try PartialAthlete(name: "Ada").insertAndFetch(db, as: Athlete.self)
                #expect(athlete == Athlete(id: 1, name: "Ada", score: 7))
                let score = try PartialAthlete(name: "Bob").insertAndFetch(db) {
                    try Int.fetchOne($0)
                } select: {
                    [$0.score]
                }
                #expect(score == 7)
                let id = try PartialAthlete(name: "Eve").insertAndFetch(db, selection: [Column("id")]) {
                    try Int.fetchOne($0)
                }
                #expect(id == 3)
                var new = Athlete(name: "Fay", score: 4)
                #expect(try new.insertAndFetch(db).id == 4)
                #expect(new.id == nil)
                new.name = "Gus"
                #expect(try new.insertAndFetch(db, as: Doubled.self) == Doubled(double: 8))
                #expect(new.id == 5)
                new = Athlete(name: "Hal")
                #expect(try new.insertAndFetch(db, selection: [Column("id")]) { try Int.fetchOne($0) } == 6)
                new = Athlete(name: "Ida")
                #expect(try new.insertAndFetch(db, fetch: { try Int.fetchOne($0) }, select: { [$0.id] }) == 7)

                #expect(try new.updateAndFetch(db) == new)
                new.score = 6
                #expect(try new.updateAndFetch(db, as: Doubled.self) == Doubled(double: 12))
                #expect(
                    try new.updateAndFetch(db, selection: [Column("score")]) { try Int.fetchOne($0) } == 6)
                new.score = 3
                let columns = [Column("score")]
                #expect(
                    try new.updateAndFetch(db, columns: columns, selection: columns) { try Int.fetchOne($0) }
                        == 3)
                #expect(
                    try new.updateAndFetch(db, columns: ["score"], selection: columns) {
                        try Int.fetchOne($0)
                    } == 3)
                #expect(try new.updateChangesAndFetch(db) { $0.score = 3 } == nil)
                #expect(try new.updateChangesAndFetch(db) { $0.score = 2 } == new)
                #expect(
                    try new.updateChangesAndFetch(db, as: Doubled.self) { $0.score = 1 } == Doubled(double: 2)
                )
                let fetched = try new.updateChangesAndFetch(
                    db, selection: columns, fetch: { try Int.fetchOne($0) }, modify: { $0.score = 0 })
                #expect(fetched == 0)
                #expect(throws: RecordError.self) { try Athlete(id: 99, name: "x").updateAndFetch(db) }
                #expect(throws: RecordError.self) {
                    try Athlete(name: "Ida").insertAndFetch(db, onConflict: .ignore)
                }
            }
        }
    }

    @Test("delete and exists return whether the row exists")
    func deleteAndExists() throws {
        try withTables { database in
            try database.write { db in
                let athlete = try Athlete(name: "Ada").inserted(db)
                #expect(try athlete.exists(db))
                #expect(try !Athlete(name: "Ada").exists(db))
                #expect(try athlete.delete(db))
                #expect(try !athlete.delete(db))
                #expect(try !Athlete(name: "Ada").delete(db))
                #expect(try !athlete.exists(db))
            }
        }
    }

    @Test("keys of several columns, unique keys, and lists of keys", arguments: Access.allCases)
    func keys(access: Access) throws {
        try withTables(access) { database in
            try database.write { db in
                for name in ["a", "b", "c"] { _ = try Athlete(name: name).inserted(db) }
                for code in ["FR", "DE"] { try Nation(code: code, name: code, population: 1).insert(db) }
                let passport = Passport(citizenId: 1, countryCode: "FR", since: 1)
                try passport.insert(db)
                try Passport(citizenId: 1, countryCode: "FR", since: 2).update(db)
                #expect(try Passport.fetchOne(db, key: ["citizenId": 1, "COUNTRYCODE": "FR"])?.since == 2)
                #expect(try Passport.find(db, key: ["citizenId": 1, "countryCode": "FR"]).since == 2)
                #expect(try Passport.fetchOne(db, key: nil) == nil)
                #expect {
                    try Passport.fetchOne(db, key: 1)
                } throws: { error in
                    (error as? DatabaseError)?.resultCode == .SQLITE_MISUSE
                }
                // NULL does not identify a row.
                try Passport(citizenId: 2, countryCode: nil, since: 1).insert(db)
                #expect(throws: RecordError.self) {
                    try Passport(citizenId: 2, countryCode: nil, since: 2).update(db)
                }
                #expect(try !Passport(citizenId: 2, countryCode: nil, since: 2).delete(db))
                #expect(try passport.delete(db))
            }
            try database.read { (db: Database) throws -> Void in
                #expect(try Athlete.fetchOne(db, key: ["name": "b"])?.id == 2)
                #expect(try Athlete.fetchAll(db, keys: [1, 3, 9]).map(\.name).sorted() == ["a", "c"])
                #expect(try Athlete.fetchSet(db, keys: [1, 3]).count == 2)
                #expect(try Array(Athlete.fetchCursor(db, keys: [2])).map(\.name) == ["b"])
                #expect(try Athlete.fetchAll(db, keys: [["name": "a"], ["name": "b"]]).count == 2)
                #expect(try Athlete.fetchSet(db, keys: [["name": "a"]]).count == 1)
                #expect(try Array(Athlete.fetchCursor(db, keys: [["name": "a"]])).count == 1)
                #expect(try Athlete.fetchAll(db, keys: [Int]()).isEmpty)
                #expect(try Nation.fetchAll(db, ids: ["FR", "DE"]).count == 2)
                #expect(try Nation.fetchSet(db, ids: ["FR", "XX"]).map(\.code) == ["FR"])
                #expect(try Array(Nation.fetchCursor(db, ids: ["FR"])).map(\.code) == ["FR"])
                #expect(try Array(Nation.fetchCursor(db)).count == 2)
            }
        }
    }

    @Test("errors of constraints have the SQL, and the arguments only where they are public")
    func constraintErrors() throws {
        try withTables { database in
            try database.write { db in
                _ = try Athlete(name: "Ada").inserted(db)
                #expect {
                    try Athlete(name: "Ada").inserted(db)
                } throws: { error in
                    guard let error = error as? DatabaseError else { return false }
                    return error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE
                        && error.sql?.hasPrefix("INSERT INTO") == true
                        && !"\(error)".contains("Ada")
                }
                _ = try Athlete(name: "Bob").inserted(db)
                #expect(try Athlete.fetchCount(db) == 2)
            }
        }
    }
}

extension Athlete {
    /// Checks an insertion that a conflict makes SQLite ignore.
    fileprivate func insertAndFetchIgnoring(_ db: Database) throws {
        #expect(throws: RecordError.self) { try insertAndFetch(db, onConflict: .ignore) }
    }
}

extension DatabaseQueue {
    fileprivate func write(_ updates: (Database) throws -> Void, orHandle handle: (any Error) -> Void) throws
    {
        do { try write(updates) } catch { handle(error) }
    }
}
