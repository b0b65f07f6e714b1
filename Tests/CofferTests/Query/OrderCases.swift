import Coffer

private let all = "SELECT * FROM player ORDER BY "
private let sql = #"SELECT * FROM "player" ORDER BY "#

/// Returns cases with orders.
func orderCases() -> [RequestCase] {
    let best = Player.select { [$0.teamId, max($0.score)] }.group(\.teamId)
    return [
        RequestCase(Player.order(\.name), sql + #""name""#, same: all + "name"),
        RequestCase(Player.order(Column("name")), sql + #""name""#, same: all + "name"),
        RequestCase(
            Player.order([Column("score").desc, Column("name")]), sql + #""score" DESC, "name""#,
            same: all + "score DESC, name"),
        RequestCase(
            Player.order { [$0.score.desc, $0.name] }, sql + #""score" DESC, "name""#,
            same: all + "score DESC, name"),
        RequestCase(Player.order(\.score.desc).order(\.name.asc), sql + #""name" ASC"#, same: all + "name"),
        RequestCase(
            Player.order(\.name.ascNullsLast), sql + #""name" ASC NULLS LAST"#,
            same: all + "name IS NULL, name"),
        RequestCase(
            Player.order(\.name.descNullsFirst), sql + #""name" DESC NULLS FIRST"#,
            same: all + "name IS NOT NULL, name DESC"),
        RequestCase(
            Player.order { [$0.name.collating(.nocase), $0.id.desc] },
            sql + #""name" COLLATE NOCASE, "id" DESC"#,
            same: all + "LOWER(name), id DESC"),
        RequestCase(
            Player.order { [$0.score.desc, $0.name] }.reversed(), sql + #""score" ASC, "name" DESC"#,
            same: all + "score, name DESC"),
        RequestCase(Player.order(\.name).reversed().reversed(), sql + #""name""#, same: all + "name"),
        RequestCase(
            Player.order(\.name.ascNullsLast).reversed(), sql + #""name" DESC NULLS FIRST"#,
            same: all + "name IS NOT NULL, name DESC"),
        RequestCase(
            Player.order(\.name.descNullsFirst).reversed(), sql + #""name" ASC NULLS LAST"#,
            same: all + "name IS NULL, name"),
        RequestCase(
            Player.order(\.name).reversed().order { [$0.score, $0.id] }, sql + #""score", "id""#,
            same: all + "score, id"),
        RequestCase(Player.all().reversed(), #"SELECT * FROM "player""#, same: "SELECT * FROM player"),
        RequestCase(
            Player.order(\.name).unordered(), #"SELECT * FROM "player""#, same: "SELECT * FROM player"),
        RequestCase(
            Player.order(sql: "score * ? DESC, id", arguments: [2]), sql + "score * ? DESC, id", [2],
            same: all + "score DESC, id"),
        RequestCase(
            Player.order(literal: "score * \(2) DESC, id"), sql + "score * ? DESC, id", [2],
            same: all + "score DESC, id"),
        RequestCase(
            Player.order {
                let total = SQL("(\($0.score) + \($0.id))").sqlExpression
                return [total.desc, $0.name]
            }.reversed(), sql + #"("score" + "id") ASC, "name" DESC"#,
            same: all + "score + id, name DESC"),
        RequestCase(
            Player.all().orderWhenConnected { db in
                try db.primaryKey("player").columns.map { Column($0).desc }
            }, sql + #""id" DESC"#,
            same: all + "id DESC"),
        RequestCase(Player.orderByPrimaryKey(), sql + #""id""#, same: all + "id"),
        RequestCase(Player.orderByPrimaryKey().reversed(), sql + #""id" DESC"#, same: all + "id DESC"),
        RequestCase(
            Citizenship.orderByPrimaryKey(),
            #"SELECT * FROM "citizenship" ORDER BY "citizenId", "countryCode""#,
            same: "SELECT * FROM citizenship ORDER BY citizenId, countryCode"),
        RequestCase(
            Note.orderByPrimaryKey(), #"SELECT * FROM "note" ORDER BY "rowid""#, same: "SELECT * FROM note"),
        RequestCase(
            Player.select { [($0.score + $0.id).forKey("total"), $0.id] }.order(Column("total").detached),
            #"SELECT "score" + "id" AS "total", "id" FROM "player" ORDER BY "total""#,
            same: "SELECT score + id, id FROM player ORDER BY score + id"),
        RequestCase(Player.all().withStableOrder(), sql + #""id""#, same: all + "id"),
        RequestCase(
            Player.order(\.score).withStableOrder(), sql + #""score", "id""#, same: all + "score, id"),
        RequestCase(
            Player.order(\.score).reversed().withStableOrder(), sql + #""score" DESC, "id" DESC"#,
            same: all + "score DESC, id DESC"),
        RequestCase(
            Note.all().withStableOrder(), #"SELECT * FROM "note" ORDER BY "rowid""#,
            same: "SELECT * FROM note"),
        RequestCase(
            best.withStableOrder(),
            #"SELECT "teamId", MAX("score") FROM "player" GROUP BY "teamId" ORDER BY "teamId""#,
            same: "SELECT teamId, MAX(score) FROM player GROUP BY teamId ORDER BY teamId"),
        RequestCase(
            Player.select { [$0.score, $0.teamId] }.distinct().withStableOrder(),
            #"SELECT DISTINCT "score", "teamId" FROM "player" ORDER BY 1, 2"#,
            same: "SELECT DISTINCT score, teamId FROM player ORDER BY score, teamId"),
        RequestCase(
            Table("coach").select(Column("id"), Column("name")).withStableOrder(),
            #"SELECT "id", "name" FROM "coach" ORDER BY 1, 2"#,
            same: "SELECT id, name FROM coach ORDER BY id, name"),
    ]
}
