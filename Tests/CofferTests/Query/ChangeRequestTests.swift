@testable import Coffer
import CofferTestSupport
import Testing

@Suite("Requests that change rows")
struct ChangeRequestTests {
    /// Runs a change in a new database. Returns its result, the executed SQL, and the remaining rows.
    private func change<T>(_ change: (Database) throws -> T) throws -> (
        result: T, sql: [String], players: [Row]
    ) {
        let queue = try makeLeague()
        let recorder = SQLRecorder()
        return try queue.writeWithoutTransaction { db throws in
            recorder.record(db)
            let result = try change(db)
            let sql = recorder.statements
            db.trace(nil)
            return (
                result, sql,
                try Row.fetchAll(db, sql: "SELECT id, name, score, bonus, teamId FROM player ORDER BY id")
            )
        }
    }

    private func ids(_ players: [Row]) -> [Int] { players.map { $0["id"] } }
    private func scores(_ players: [Row]) -> [Int] { players.map { $0["score"] } }

    // MARK: - Deleting

    @Test("delete all matching rows")
    func delete() throws {
        let all = try change { db in
            try db.execute(sql: "UPDATE player SET coachId = NULL")
            return try Player.deleteAll(db)
        }
        #expect(all.result == 6)
        #expect(all.sql.last == #"DELETE FROM "player""#)
        #expect(all.players.isEmpty)

        let some = try change { try Player.filter { $0.score <= 0 }.deleteAll($0) }
        #expect(some.result == 2)
        #expect(some.sql == [#"DELETE FROM "player" WHERE "score" <= ?"#])
        #expect(ids(some.players) == [1, 2, 3, 5])
    }

    @Test("delete up to the limit, in order")
    func deleteWithLimit() throws {
        let worst = try change { try Player.order(\.score).limit(2).deleteAll($0) }
        #expect(worst.result == 2)
        #expect(worst.sql == [#"DELETE FROM "player" ORDER BY "score" LIMIT 2"#])
        #expect(ids(worst.players) == [1, 2, 3, 5])
        // SQLite rejects an order without a limit, which would have no effect anyway.
        let unlimited = try change { try Player.filter { $0.score < 0 }.order(\.score).deleteAll($0) }
        #expect(unlimited.sql == [#"DELETE FROM "player" WHERE "score" < ?"#])
        #expect(unlimited.result == 1)
    }

    @Test("delete groups by their keys")
    func deleteGroups() throws {
        let groups = try change {
            try Player.filter { $0.teamId == nil }.group(\.id).having { min($0.score) < 0 }.deleteAll($0)
        }
        #expect(
            groups.sql == [
                #"DELETE FROM "player" WHERE "id" IN "#
                    + #"(SELECT "id" FROM "player" WHERE "teamId" IS NULL GROUP BY "id" HAVING MIN("score") < ?)"#
            ])
        #expect(ids(groups.players) == [1, 2, 3, 4, 5])
        let composite = try change { db in
            try db.execute(
                sql:
                    "CREATE TABLE pair (a, b, c, PRIMARY KEY (a, b)) WITHOUT ROWID; INSERT INTO pair VALUES (1, 1, 1), (1, 2, 2)"
            )
            let deleted = try Table("pair").all().group(Column("b"), Column("a")).having(Column("c") > 1)
                .deleteAll(db)
            return (deleted, try Row.fetchAll(db, sql: "SELECT * FROM pair"))
        }
        #expect(composite.result == (1, [["a": 1, "b": 1, "c": 1]]))
        let sql =
            #"DELETE FROM "pair" WHERE ("a", "b") IN (SELECT "a", "b" FROM "pair" GROUP BY "b", "a" HAVING "c" > ?)"#
        #expect(composite.sql[2] == sql)
    }

    @Test("refuse to delete or update groups of several rows")
    func ambiguousGroups() throws {
        let changes: [(Database) throws -> Int] = [
            { try Player.all().group(\.name).deleteAll($0) },
            { try Player.all().group { [$0.name, $0.teamId] }.having { min($0.score) < 0 }.deleteAll($0) },
            { try Player.all().group(Column("id") + 1).deleteAll($0) },
            { try Player.all().group(\.name).updateAll($0) { $0.score.set(to: 0) } },
        ]
        for body in changes {
            let error = #expect(throws: DatabaseError.self) { try change(body) }
            #expect(error?.resultCode == .SQLITE_MISUSE)
        }
    }

    @Test("delete rows by aliases and common table expressions")
    func deleteNested() throws {
        let alias = TableAlias<Player>(name: "p")
        let coached = Player.filter { $0.coachId == alias.id }
        let nested = try change {
            try Player.aliased(alias).filter { _ in !coached.exists() && alias.score < 0 }.deleteAll($0)
        }
        #expect(
            nested.sql == [
                #"DELETE FROM "player" AS "p" WHERE (NOT EXISTS (SELECT * FROM "player" WHERE "coachId" = "p"."id")) AND ("p"."score" < ?)"#
            ])
        #expect(ids(nested.players) == [1, 2, 3, 4, 5])
        let cte = CommonTableExpression(named: "chosen", literal: "SELECT \("O'Brien")")
        let common = try change { try Player.with(cte).filter { $0.name == cte.all() }.deleteAll($0) }
        #expect(
            common.sql == [
                #"WITH "chosen" AS (SELECT ?) DELETE FROM "player" WHERE "name" = (SELECT * FROM "chosen")"#
            ])
        #expect(ids(common.players) == [1, 2, 3, 4, 5])
    }

    @Test("delete rows by key, and return whether there was one")
    func deleteByKey() throws {
        #expect(try change { try Player.deleteOne($0, id: 6) }.result)
        #expect(try change { try Player.deleteOne($0, key: 6) }.result)
        #expect(try change { try Player.deleteOne($0, key: ["email": "o'brien@example.com"]) }.result)
        #expect(try !change { try Player.deleteOne($0, key: 7) }.result)
        #expect(try change { try Player.deleteAll($0, ids: [2, 6, 7]) }.result == 2)
        #expect(try change { try Player.deleteAll($0, keys: [2, 6, 7]) }.result == 2)
        #expect(try change { try Player.deleteAll($0, keys: [["id": 2], ["id": 7]]) }.result == 1)
        let table = Table("player")
        let players = Table<Player>("player")
        #expect(try change { try players.deleteOne($0, id: 6) }.result)
        #expect(try change { try table.deleteOne($0, key: 6) }.result)
        #expect(try change { try table.deleteOne($0, key: ["email": "o'brien@example.com"]) }.result)
        #expect(try change { try players.deleteAll($0, ids: [2, 6, 7]) }.result == 2)
        #expect(try change { try table.deleteAll($0, keys: [2, 6, 7]) }.result == 2)
        #expect(try change { try table.deleteAll($0, keys: [["id": 2], ["id": 7]]) }.result == 1)
        let empty = try change { db in
            try Player.deleteAll(db, ids: []) + Player.deleteAll(db, keys: [Int]())
                + table.deleteAll(db, keys: [Int]())
                + Player.deleteAll(db, keys: [[String: (any DatabaseValueConvertible)?]]())
        }
        #expect(empty.result == 0 && empty.sql.isEmpty)
        #expect(
            try change { db in
                try db.execute(sql: "UPDATE player SET coachId = NULL")
                return try table.deleteAll(db)
            }.result == 6)
    }

    @Test("delete rows and return the selected values")
    func deleteReturning() throws {
        let scores = try change { db in
            let statement = try Player.filter { $0.score <= 0 }.deleteAndFetchStatement(
                db, selection: [Column("score")])
            return try Int.fetchSet(statement)
        }
        #expect(scores.result == [0, -7])
        #expect(scores.sql == [#"DELETE FROM "player" WHERE "score" <= ? RETURNING "score""#])
        #expect(ids(scores.players) == [1, 2, 3, 5])
        let names = try change { db in
            try String.fetchAll(
                Player.order(\.score).limit(1).deleteAndFetchStatement(db) { [$0.name, $0.id] })
        }
        #expect(names.result == ["O'Brien"])
        #expect(names.sql == [#"DELETE FROM "player" RETURNING "name", "id" ORDER BY "score" LIMIT 1"#])
        let deleted = try change {
            try Player.aliased(TableAlias(name: "p")).filter { $0.score <= 0 }.deleteAndFetchIds($0)
        }
        #expect(deleted.result == [4, 6])
        #expect(deleted.sql == [#"DELETE FROM "player" AS "p" WHERE "p"."score" <= ? RETURNING "id""#])
    }

    @Test("select the keys of the rows if SQLite does not support LIMIT in UPDATE and DELETE")
    func changesWithoutLimitSupport() throws {
        let queue = try makeLeague()
        try queue.write { db throws in
            let relation = Player.order(\.score).limit(2, offset: 1).relation
            var delete = SQLWriter(db)
            try relation.writeDelete(
                to: &delete, returning: [Column("id").sqlSelection], limitIsSupported: false)
            #expect(
                delete.sql
                    == #"DELETE FROM "player" WHERE "id" IN (SELECT "id" FROM "player" ORDER BY "score" LIMIT 2 OFFSET 1) RETURNING "id""#
            )
            var update = SQLWriter(db)
            try relation.writeUpdate(
                to: &update, onConflict: nil, [Column("score").set(to: 5)], returning: [],
                limitIsSupported: false)
            #expect(
                update.sql
                    == #"UPDATE "player" SET "score" = ? WHERE "id" IN (SELECT "id" FROM "player" ORDER BY "score" LIMIT 2 OFFSET 1)"#
            )
            try db.execute(sql: update.sql, arguments: update.arguments)
            #expect(try Int64.fetchSet(db, sql: "SELECT id FROM player WHERE score = 5") == [4, 5])
        }
    }

    // MARK: - Updating

    @Test("update all matching rows")
    func update() throws {
        let all = try change {
            try Player.updateAll($0) { [$0.score.set(to: 0), $0.bonus.set(to: nil), $0.name.set(to: true)] }
        }
        #expect(all.result == 6)
        #expect(all.sql == [#"UPDATE "player" SET "score" = ?, "bonus" = NULL, "name" = ?"#])
        #expect(scores(all.players) == [0, 0, 0, 0, 0, 0])
        let some = try change {
            try Player.filter { $0.teamId == 1 }.updateAll($0) { $0.score.set(to: $0.score + $0.id * 2) }
        }
        #expect(some.result == 2)
        #expect(some.sql == [#"UPDATE "player" SET "score" = "score" + ("id" * ?) WHERE "teamId" = ?"#])
        #expect(scores(some.players) == [1002, 254, 1000, 0, 40, -7])
        let best = try change {
            try Player.order { [$0.score.desc, $0.id] }.limit(1).updateAll($0, Column("score") += 1)
        }
        #expect(
            best.sql == [#"UPDATE "player" SET "score" = "score" + ? ORDER BY "score" DESC, "id" LIMIT 1"#])
        #expect(scores(best.players) == [1001, 250, 1000, 0, 40, -7])
        let key = try change {
            try Country.filter(id: "FR").updateAll($0, [Country.Columns.population.set(to: 68)])
        }
        #expect(key.result == 1)
        #expect(key.sql == [#"UPDATE "country" SET "population" = ? WHERE "isoCode" = ?"#])
    }

    @Test(
        "assign by operators",
        arguments: [
            (Column("score") += 3, #""score" = "score" + ?"#, 13),
            (Column("score") -= 3, #""score" = "score" - ?"#, 7),
            (Column("score") *= 3, #""score" = "score" * ?"#, 30),
            (Column("score") /= 3, #""score" = "score" / ?"#, 3),
            (Column("score") &= 3, #""score" = "score" & ?"#, 2),
            (Column("score") |= 3, #""score" = "score" | ?"#, 11),
            (Column("score") <<= 3, #""score" = "score" << ?"#, 80),
            (Column("score") >>= 3, #""score" = "score" >> ?"#, 1),
        ])
    func operators(assignment: ColumnAssignment, sql: String, result: Int) throws {
        let update = try change { db in
            try db.execute(sql: "UPDATE player SET score = 10")
            return try Player.updateAll(db, assignment)
        }
        #expect(update.sql.last == #"UPDATE "player" SET "# + sql)
        #expect(Set(scores(update.players)) == [result])
    }

    @Test("update with conflict resolutions, and without any assignment")
    func updateConflicts() throws {
        let ignored = try change { db in
            try Player.updateAll(db, onConflict: .ignore) {
                [$0.email.set(to: "arthur@example.com"), $0.score.set(to: 1)]
            }
        }
        #expect(ignored.sql == [#"UPDATE OR IGNORE "player" SET "email" = ?, "score" = ?"#])
        #expect(scores(ignored.players) == [1, 250, 1000, 0, 40, -7])
        #expect(throws: DatabaseError.self) {
            try change { try Player.updateAll($0, Column("email").set(to: "same")) }
        }
        let nothing = try change {
            try Player.updateAll($0) + Player.updateAll($0, [Column("score").noOverwrite])
        }
        #expect(nothing.result == 0 && nothing.sql.isEmpty)
    }

    @Test("update groups, aliases and common table expressions")
    func updateNested() throws {
        let alias = TableAlias<Player>(name: "p")
        let coached = Player.filter { $0.coachId == alias.id }
        let coaches = try change { db in
            try Player.aliased(alias).filter(coached.exists())
                .updateAll(db) { $0.score.set(to: coached.select { sum($0.score) }) }
        }
        #expect(
            coaches.sql == [
                #"UPDATE "player" AS "p" SET "score" = (SELECT SUM("score") FROM "player" WHERE "coachId" = "p"."id") "#
                    + #"WHERE EXISTS (SELECT * FROM "player" WHERE "coachId" = "p"."id")"#
            ])
        #expect(scores(coaches.players) == [1250, 250, -7, 0, 40, -7])
        let cte = CommonTableExpression(named: "chosen", literal: "SELECT \(99)")
        let common = try change {
            try Player.with(cte).filter(id: 6).updateAll($0) { $0.score.set(to: cte.all()) }
        }
        #expect(
            common.sql == [
                #"WITH "chosen" AS (SELECT ?) UPDATE "player" SET "score" = (SELECT * FROM "chosen") WHERE "id" = ?"#
            ])
        #expect(scores(common.players).last == 99)
        let groups = try change { db in
            try Player.aliased(alias).select(\.teamId).group(\.id).having { max($0.score) >= 250 }
                .updateAll(db, Column("score").set(to: 5))
        }
        #expect(
            groups.sql == [
                #"UPDATE "player" AS "p" SET "score" = ? WHERE "p"."id" IN "#
                    + #"(SELECT "p"."id" FROM "player" "p" GROUP BY "p"."id" HAVING MAX("p"."score") >= ?)"#
            ])
        #expect(groups.result == 3)
    }

    @Test("update rows and return the selected values")
    func updateReturning() throws {
        let selected = try change { db in
            let request = Player.filter { $0.teamId == 1 }
            return try Int.fetchSet(
                request.updateAndFetchStatement(db, [Column("score") += 1], selection: [Column("score")]))
        }
        #expect(selected.result == [1001, 251])
        #expect(
            selected.sql == [
                #"UPDATE "player" SET "score" = "score" + ? WHERE "teamId" = ? RETURNING "score""#
            ])
        let closures = try change { db in
            let request = Player.order(\.score).limit(1)
            let statement = try request.updateAndFetchStatement(
                db, onConflict: .replace, assignments: { [$0.score += 1, $0.bonus.set(to: 0)] },
                select: { [$0.score * 2] })
            return try Int.fetchOne(statement)
        }
        #expect(closures.result == -12)
        #expect(
            closures.sql == [
                #"UPDATE OR REPLACE "player" SET "score" = "score" + ?, "bonus" = ? RETURNING "score" * ? ORDER BY "score" LIMIT 1"#
            ])
    }

    @Test("tables update like record types")
    func updateTables() throws {
        let table = Table("player")
        let players = Table<Player>("player")
        #expect(
            try scores(change { try table.updateAll($0, Column("score").set(to: 1)) }.players) == [
                1, 1, 1, 1, 1, 1,
            ])
        #expect(
            try scores(change { try table.updateAll($0, [Column("score").set(to: 1)]) }.players) == [
                1, 1, 1, 1, 1, 1,
            ])
        #expect(
            try scores(change { try players.updateAll($0) { $0.score.set(to: 1) } }.players) == [
                1, 1, 1, 1, 1, 1,
            ])
        #expect(
            try scores(change { try players.updateAll($0) { [$0.score.set(to: 1)] } }.players) == [
                1, 1, 1, 1, 1, 1,
            ])
        #expect(
            try scores(change { try Player.updateAll($0, [Column("score").set(to: 1)]) }.players) == [
                1, 1, 1, 1, 1, 1,
            ])
        #expect(
            try scores(change { try Player.all().updateAll($0) { [$0.score.set(to: 1)] } }.players) == [
                1, 1, 1, 1, 1, 1,
            ])
    }

    @Test("statements that return rows trap without a selection or an assignment")
    func preconditions() async {
        await #expect(processExitsWith: .failure) {
            try DatabaseQueue().write { db in
                _ = try Table("t").all().deleteAndFetchStatement(db, selection: [])
            }
        }
        await #expect(processExitsWith: .failure) {
            try DatabaseQueue().write { db in
                _ = try Table("t").all().updateAndFetchStatement(db, [Column("a").set(to: 1)], selection: [])
            }
        }
        await #expect(processExitsWith: .failure) {
            try DatabaseQueue().write { db in
                _ = try Table("t").all().updateAndFetchStatement(db, [], selection: [Column("a")])
            }
        }
    }

    private struct Owner: TableRecord {
        static let databaseTableName = "owner"
    }

    private struct Shadowed: TableRecord {
        static let databaseTableName = "shadowed"
        static let owner = belongsTo(Owner.self, using: ForeignKey(["ownerID"], to: ["id"]))
    }

    @Test("a joined change of rows that cannot be identified is refused, and changes nothing")
    func unidentifiableRows() throws {
        try DatabaseQueue().write { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE owner (id INTEGER PRIMARY KEY);
                    CREATE TABLE shadowed (rowid TEXT, oid TEXT, _rowid_ TEXT, ownerID INTEGER, v);
                    INSERT INTO owner VALUES (1), (2);
                    INSERT INTO shadowed VALUES ('a', 'a', 'a', 1, 1), ('a', 'a', 'a', 2, 2);
                    """)
            let request = Shadowed.joining(required: Shadowed.owner.filter(Column("id") == 2))
            let error = #expect(throws: DatabaseError.self) { try request.deleteAll(db) }
            #expect(error?.message?.contains("hide the row ID") == true)
            #expect(throws: DatabaseError.self) { try request.updateAll(db, Column("v").set(to: 0)) }
            #expect(try Int.fetchAll(db, sql: "SELECT v FROM shadowed") == [1, 2])
            #expect(try Shadowed.filter(Column("v") == 2).deleteAll(db) == 1)
        }
    }
}
