import Coffer

private let all = "SELECT * FROM player"

/// Returns cases with selections, `DISTINCT` and limits.
func selectionCases() -> [RequestCase] {
    let total = (Column("score") + Column("bonus")).forKey("total")
    return [
        RequestCase(Player.all(), #"SELECT * FROM "player""#, same: all),
        RequestCase(Player.none(), #"SELECT * FROM "player" WHERE 0"#, same: all + " WHERE 0"),
        RequestCase(
            PlayerName.all(), #"SELECT "id", "name" FROM "player""#, same: "SELECT id, name FROM player"),
        RequestCase(
            Player.select(Column("name"), Column("score")), #"SELECT "name", "score" FROM "player""#,
            same: "SELECT name, score FROM player"
        ),
        RequestCase(
            Player.select([Column("name")]), #"SELECT "name" FROM "player""#, same: "SELECT name FROM player"),
        RequestCase(
            Player.select { [$0.name, max($0.score)] }, #"SELECT "name", MAX("score") FROM "player""#,
            same: "SELECT name, MAX(score) FROM player"),
        RequestCase(
            Player.select { $0.name }, #"SELECT "name" FROM "player""#, same: "SELECT name FROM player"),
        RequestCase(Player.select(\.name), #"SELECT "name" FROM "player""#, same: "SELECT name FROM player"),
        RequestCase(
            Player.select(\.name, as: String.self), #"SELECT "name" FROM "player""#,
            same: "SELECT name FROM player"),
        RequestCase(
            Player.select({ [$0.name] }, as: String.self), #"SELECT "name" FROM "player""#,
            same: "SELECT name FROM player"),
        RequestCase(
            Player.select([Column("name")], as: String.self), #"SELECT "name" FROM "player""#,
            same: "SELECT name FROM player"),
        RequestCase(
            Player.select(Column("name"), as: String.self), #"SELECT "name" FROM "player""#,
            same: "SELECT name FROM player"),
        RequestCase(
            Player.select(.allColumns, .rowID), #"SELECT *, "rowid" FROM "player""#,
            same: "SELECT *, rowid FROM player"),
        RequestCase(Player.select(AllColumns()), #"SELECT * FROM "player""#, same: all),
        RequestCase(
            Player.select(.allColumns(excluding: ["EMAIL", "coachId", "teamId"])),
            #"SELECT "id", "name", "score", "bonus" FROM "player""#,
            same: "SELECT id, name, score, bonus FROM player"),
        RequestCase(
            Country.select(.allColumns(excluding: [Column("name")])),
            #"SELECT "isoCode", "population" FROM "country""#,
            same: "SELECT isoCode, population FROM country"),
        RequestCase(
            Player.select(sql: "IFNULL(name, ?), score", arguments: ["nobody"]),
            #"SELECT IFNULL(name, ?), score FROM "player""#,
            ["nobody"],
            same: "SELECT IFNULL(name, 'nobody'), score FROM player"),
        RequestCase(
            Player.select(literal: "IFNULL(name, \("O'Brien")), score"),
            #"SELECT IFNULL(name, ?), score FROM "player""#, ["O'Brien"],
            same: "SELECT IFNULL(name, 'O''Brien'), score FROM player"),
        RequestCase(
            Player.select(sql: "name", as: String.self), #"SELECT name FROM "player""#,
            same: "SELECT name FROM player"),
        RequestCase(
            Player.select(literal: "\(Column("name"))", as: String.self), #"SELECT "name" FROM "player""#,
            same: "SELECT name FROM player"),
        RequestCase(
            Player.select {
                let displayName: SQL = "IFNULL(\($0.name), \("O'Brien")) AS displayName"
                return [displayName, $0.score]
            }, #"SELECT IFNULL("name", ?) AS displayName, "score" FROM "player""#, ["O'Brien"],
            same: "SELECT IFNULL(name, 'O''Brien') AS displayName, score FROM player"),
        RequestCase(
            Player.annotated(with: total), #"SELECT *, "score" + "bonus" AS "total" FROM "player""#,
            same: "SELECT *, score + bonus AS total FROM player"),
        RequestCase(
            Player.annotated(with: [total]), #"SELECT *, "score" + "bonus" AS "total" FROM "player""#,
            same: "SELECT *, score + bonus AS total FROM player"),
        RequestCase(
            Player.annotated { ($0.score + $0.bonus).forKey("total") },
            #"SELECT *, "score" + "bonus" AS "total" FROM "player""#,
            same: "SELECT *, score + bonus AS total FROM player"),
        RequestCase(
            Player.annotated { [$0.score + 1, -$0.score] }, #"SELECT *, "score" + ?, -"score" FROM "player""#,
            [1],
            same: "SELECT *, score + 1, -score FROM player"),
        RequestCase(
            Player.select(Column("id")).annotated(with: Column("name")).annotated(with: [Column("score")]),
            #"SELECT "id", "name", "score" FROM "player""#, same: "SELECT id, name, score FROM player"),
        RequestCase(
            Player.select(Column("id")).annotated { $0.name }.annotated { [$0.score] },
            #"SELECT "id", "name", "score" FROM "player""#,
            same: "SELECT id, name, score FROM player"),
        RequestCase(
            Player.all().selectWhenConnected { db in
                try db.columns(in: "team").map { Column($0.name) }.dropLast()
            }
            .annotatedWhenConnected { db in [try db.tableExists("team") ? Column("score") : Column("bonus")]
            },
            #"SELECT "id", "name", "score" FROM "player""#, same: "SELECT id, name, score FROM player"),
        RequestCase(
            Player.select(\.score).distinct(), #"SELECT DISTINCT "score" FROM "player""#,
            same: "SELECT DISTINCT score FROM player"),
        RequestCase(
            Player.select { [$0.score, $0.teamId] }.distinct(),
            #"SELECT DISTINCT "score", "teamId" FROM "player""#,
            same: "SELECT DISTINCT score, teamId FROM player"),
        RequestCase(Player.limit(2), #"SELECT * FROM "player" LIMIT 2"#, same: all + " LIMIT 2"),
        RequestCase(
            Player.limit(2, offset: 3), #"SELECT * FROM "player" LIMIT 2 OFFSET 3"#,
            same: all + " LIMIT 2 OFFSET 3"),
        RequestCase(
            Player.limit(2).limit(-1, offset: 1), #"SELECT * FROM "player" LIMIT -1 OFFSET 1"#,
            same: all + " LIMIT -1 OFFSET 1"),
        RequestCase(Player.selectID(), #"SELECT "id" FROM "player""#, same: "SELECT id FROM player"),
        RequestCase(
            Player.filter { $0.name != nil }.selectID(),
            #"SELECT "id" FROM "player" WHERE "name" IS NOT NULL"#,
            same: "SELECT id FROM player WHERE name IS NOT NULL"),
        RequestCase(
            Country.selectPrimaryKey(as: String.self), #"SELECT "isoCode" FROM "country""#,
            same: "SELECT isoCode FROM country"),
        RequestCase(
            Citizenship.selectPrimaryKey(as: Row.self),
            #"SELECT "citizenId", "countryCode" FROM "citizenship""#,
            same: "SELECT citizenId, countryCode FROM citizenship"),
        RequestCase(
            Note.selectPrimaryKey(as: Int64.self), #"SELECT "rowid" FROM "note""#,
            same: "SELECT rowid FROM note"),
        RequestCase(Player.all().asRequest(of: Int.self), #"SELECT * FROM "player""#, same: all),
        RequestCase(
            Player.filter(id: 1).all(), #"SELECT * FROM "player" WHERE "id" = ?"#, [1],
            same: all + " WHERE id = 1"),
    ]
}

/// Returns the same cases for a table without a record type.
func tableCases() -> [RequestCase] {
    let table = Table("player")
    let players = Table<Player>("player")
    let ids = Table<Int64>("player")
    return [
        RequestCase(table.all(), #"SELECT * FROM "player""#, same: all),
        RequestCase(players.all(), #"SELECT * FROM "player""#, same: all),
        RequestCase(table.none(), #"SELECT * FROM "player" WHERE 0"#, same: all + " WHERE 0"),
        RequestCase(
            table.select(Column("name")), #"SELECT "name" FROM "player""#, same: "SELECT name FROM player"),
        RequestCase(
            table.select([Column("name")]), #"SELECT "name" FROM "player""#, same: "SELECT name FROM player"),
        RequestCase(
            table.select(sql: "name || ?", arguments: ["!"]), #"SELECT name || ? FROM "player""#, ["!"],
            same: "SELECT name || '!' FROM player"),
        RequestCase(
            table.select(literal: "name || \("!")"), #"SELECT name || ? FROM "player""#, ["!"],
            same: "SELECT name || '!' FROM player"),
        RequestCase(
            table.select(Column("name"), as: String.self), #"SELECT "name" FROM "player""#,
            same: "SELECT name FROM player"),
        RequestCase(
            table.select([Column("name")], as: String.self), #"SELECT "name" FROM "player""#,
            same: "SELECT name FROM player"),
        RequestCase(
            table.select(sql: "name", as: String.self), #"SELECT name FROM "player""#,
            same: "SELECT name FROM player"),
        RequestCase(
            table.select(literal: "name", as: String.self), #"SELECT name FROM "player""#,
            same: "SELECT name FROM player"),
        RequestCase(
            players.select { $0.name }, #"SELECT "name" FROM "player""#, same: "SELECT name FROM player"),
        RequestCase(
            players.select { [$0.name, $0.id] }, #"SELECT "name", "id" FROM "player""#,
            same: "SELECT name, id FROM player"),
        RequestCase(
            players.select(\.name, as: String.self), #"SELECT "name" FROM "player""#,
            same: "SELECT name FROM player"),
        RequestCase(
            players.select({ [$0.name] }, as: String.self), #"SELECT "name" FROM "player""#,
            same: "SELECT name FROM player"),
        RequestCase(players.selectID(), #"SELECT "id" FROM "player""#, same: "SELECT id FROM player"),
        RequestCase(
            table.selectPrimaryKey(as: Int64.self), #"SELECT "id" FROM "player""#,
            same: "SELECT id FROM player"),
        RequestCase(
            table.annotated(with: Column("id")), #"SELECT *, "id" FROM "player""#,
            same: "SELECT *, id FROM player"),
        RequestCase(
            table.annotated(with: [Column("id")]), #"SELECT *, "id" FROM "player""#,
            same: "SELECT *, id FROM player"),
        RequestCase(
            players.annotated { $0.id }, #"SELECT *, "id" FROM "player""#, same: "SELECT *, id FROM player"),
        RequestCase(
            players.annotated { [$0.id] }, #"SELECT *, "id" FROM "player""#, same: "SELECT *, id FROM player"),
        RequestCase(
            table.filter(Column("score") > 200), #"SELECT * FROM "player" WHERE "score" > ?"#, [200],
            same: all + " WHERE score > 200"),
        RequestCase(
            players.filter { $0.score > 200 }, #"SELECT * FROM "player" WHERE "score" > ?"#, [200],
            same: all + " WHERE score > 200"),
        RequestCase(
            table.filter(sql: "score > ?", arguments: [200]), #"SELECT * FROM "player" WHERE score > ?"#,
            [200],
            same: all + " WHERE score > 200"),
        RequestCase(
            table.filter(literal: "score > \(200)"), #"SELECT * FROM "player" WHERE score > ?"#, [200],
            same: all + " WHERE score > 200"),
        RequestCase(
            table.filter(key: 1), #"SELECT * FROM "player" WHERE "id" = ?"#, [1], same: all + " WHERE id = 1"),
        RequestCase(
            table.filter(keys: [1, 2]), #"SELECT * FROM "player" WHERE "id" IN (?, ?)"#, [1, 2],
            same: all + " WHERE id IN (1, 2)"),
        RequestCase(
            table.filter(key: ["id": 1]), #"SELECT * FROM "player" WHERE "id" = ?"#, [1],
            same: all + " WHERE id = 1"),
        RequestCase(
            table.filter(keys: [["id": 1]]), #"SELECT * FROM "player" WHERE "id" = ?"#, [1],
            same: all + " WHERE id = 1"),
        RequestCase(
            players.filter(id: 1), #"SELECT * FROM "player" WHERE "id" = ?"#, [1], same: all + " WHERE id = 1"
        ),
        RequestCase(
            players.filter(ids: [1, 2]), #"SELECT * FROM "player" WHERE "id" IN (?, ?)"#, [1, 2],
            same: all + " WHERE id IN (1, 2)"),
        RequestCase(
            table.order(Column("name")), #"SELECT * FROM "player" ORDER BY "name""#,
            same: all + " ORDER BY name"),
        RequestCase(
            table.order([Column("name")]), #"SELECT * FROM "player" ORDER BY "name""#,
            same: all + " ORDER BY name"),
        RequestCase(
            players.order(\.name), #"SELECT * FROM "player" ORDER BY "name""#, same: all + " ORDER BY name"),
        RequestCase(
            players.order { [$0.score, $0.id] }, #"SELECT * FROM "player" ORDER BY "score", "id""#,
            same: all + " ORDER BY score, id"),
        RequestCase(
            table.order(sql: "score * ?, id", arguments: [-1]),
            #"SELECT * FROM "player" ORDER BY score * ?, id"#, [-1],
            same: all + " ORDER BY -score, id"),
        RequestCase(
            table.order(literal: "score * \(-1), id"), #"SELECT * FROM "player" ORDER BY score * ?, id"#,
            [-1],
            same: all + " ORDER BY -score, id"),
        RequestCase(
            table.orderByPrimaryKey(), #"SELECT * FROM "player" ORDER BY "id""#, same: all + " ORDER BY id"),
        RequestCase(
            table.limit(1, offset: 2), #"SELECT * FROM "player" LIMIT 1 OFFSET 2"#,
            same: all + " LIMIT 1 OFFSET 2"),
        RequestCase(ids.all(), #"SELECT * FROM "player""#, same: all),
        RequestCase(
            table.aliased(TableAlias(name: "p")).filter(Column("id") == 1),
            #"SELECT "p".* FROM "player" "p" WHERE "p"."id" = ?"#, [1],
            same: all + " WHERE id = 1"),
        RequestCase(
            players.aliased(TableAlias<Player>(name: "p")).select(\.id),
            #"SELECT "p"."id" FROM "player" "p""#,
            same: "SELECT id FROM player"),
        RequestCase(
            table.with(CommonTableExpression(named: "one", sql: "SELECT 1")),
            #"WITH "one" AS (SELECT 1) SELECT * FROM "player""#, same: all
        ),
    ]
}
