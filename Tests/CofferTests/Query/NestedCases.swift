import Coffer

private let all = "SELECT * FROM player"

/// Returns cases with aliases, subqueries and common table expressions.
func nestedCases() -> [RequestCase] {
    let team = TableAlias<Team>()
    let players = Player.filter { $0.teamId == team.id }
    let coach = TableAlias<Player>(name: "coach")
    let coached = Player.filter { $0.coachId == coach.id }
    let untyped = TableAlias(name: "p")
    let unnamed = TableAlias()
    let averageScore = Player.select { average($0.score) }
    let sqlPlayers: SQLRequest<Row> = "SELECT * FROM player WHERE coachId = \(coach.id)"
    return [
        RequestCase(
            Team.aliased(team).filter(players.exists()),
            #"SELECT * FROM "team" WHERE EXISTS (SELECT * FROM "player" WHERE "teamId" = "team"."id")"#,
            same: "SELECT * FROM team WHERE id < 3"),
        RequestCase(
            Team.aliased(team).filter(!players.exists()),
            #"SELECT * FROM "team" WHERE NOT EXISTS (SELECT * FROM "player" WHERE "teamId" = "team"."id")"#,
            same: "SELECT * FROM team WHERE id = 3"),
        RequestCase(
            Player.aliased(coach).filter(coached.exists()),
            #"SELECT "coach".* FROM "player" "coach" WHERE EXISTS (SELECT * FROM "player" WHERE "coachId" = "coach"."id")"#,
            same: all + " WHERE id IN (1, 3)"),
        RequestCase(
            Player.aliased(coach).filter(sqlPlayers.exists()).order(\.name.desc),
            #"SELECT "coach".* FROM "player" "coach" WHERE EXISTS (SELECT * FROM player WHERE coachId = "coach"."id") ORDER BY "coach"."name" DESC"#,
            same: all + " WHERE id IN (1, 3) ORDER BY name DESC"),
        RequestCase(
            Player.aliased(untyped).filter(untyped[Column("score")] > 100).select(
                untyped["name"], untyped[.allColumns]
            )
            .order(untyped[Column("score").desc], untyped[Column("id")]),
            #"SELECT "p"."name", "p".* FROM "player" "p" WHERE "p"."score" > ? ORDER BY "p"."score" DESC, "p"."id""#,
            [100],
            same: "SELECT name, * FROM player WHERE score > 100 ORDER BY score DESC, id"),
        RequestCase(
            Player.aliased(unnamed).filter(unnamed[Column("score") > 100]).select(unnamed["name"]),
            #"SELECT "name" FROM "player" WHERE "score" > ?"#, [100],
            same: "SELECT name FROM player WHERE score > 100"),
        RequestCase(
            Player.aliased(TableAlias<Player>()).aliased(untyped).select(
                .allColumns(excluding: ["email", "teamId", "coachId", "bonus"])),
            #"SELECT "p"."id", "p"."name", "p"."score" FROM "player" "p""#,
            same: "SELECT id, name, score FROM player"),
        RequestCase(
            Player.aliased(untyped).filter(sql: "p.score > 100").filter(key: 1),
            #"SELECT "p".* FROM "player" "p" WHERE (p.score > 100) AND ("p"."id" = ?)"#,
            [1], same: all + " WHERE id = 1"),
        RequestCase(
            Player.aliased(unnamed).filter(unnamed.exists), #"SELECT * FROM "player" WHERE "id" IS NOT NULL"#,
            same: all),
        RequestCase(
            Country.aliased(untyped).filter(!untyped.exists),
            #"SELECT "p".* FROM "country" "p" WHERE "p"."isoCode" IS NULL"#,
            same: "SELECT * FROM country WHERE 0"),
        RequestCase(
            Table("coach").select(Column("id")).aliased(TableAlias(name: "c")).filter(Column("id") > 1),
            #"SELECT "c"."id" FROM "coach" "c" WHERE "c"."id" > ?"#, [1],
            same: "SELECT id FROM coach WHERE id > 1"),
        RequestCase(
            Player.filter { $0.score >= averageScore },
            #"SELECT * FROM "player" WHERE "score" >= (SELECT AVG("score") FROM "player")"#,
            same: all + " WHERE score >= 380.5"),
        RequestCase(
            Team.aliased(team).annotated(with: players.select { max($0.score) }.forKey("best")),
            #"SELECT *, (SELECT MAX("score") FROM "player" WHERE "teamId" = "team"."id") AS "best" FROM "team""#,
            same: "SELECT *, CASE id WHEN 3 THEN NULL ELSE 1000 END FROM team"),
        // Three nested queries, of which the innermost refers to both outer ones.
        RequestCase(
            Team.aliased(team).filter(
                Player.aliased(coach).filter { $0.teamId == team.id }
                    .filter(Player.filter { $0.coachId == coach.id && $0.teamId == team.id }.exists())
                    .exists()),
            #"SELECT * FROM "team" WHERE EXISTS (SELECT "coach".* FROM "player" "coach" WHERE ("coach"."teamId" = "team"."id") AND "#
                + #"EXISTS (SELECT * FROM "player" WHERE ("coachId" = "coach"."id") AND ("teamId" = "team"."id")))"#,
            same: "SELECT * FROM team WHERE id IN (1, 2)"),
    ]
}

func commonTableCases() -> [RequestCase] {
    let name = "O'Brien"
    let literal = CommonTableExpression(named: "chosen", literal: "SELECT \(name)")
    let best = CommonTableExpression<Player>(named: "best", request: Player.filter { $0.score > 500 })
    let pair = CommonTableExpression(named: "pair", columns: ["a", "b"], sql: "SELECT ?, 2", arguments: [1])
    let counter = CommonTableExpression<Int>(
        recursive: true, named: "counter", columns: ["x"],
        sql: "VALUES(1) UNION ALL SELECT x+1 FROM counter WHERE x<5")
    let sqlRequest: SQLRequest<Row> = "SELECT \(1) AS one"
    let rows = CommonTableExpression(named: "ones", request: sqlRequest)
    let coachAlias = TableAlias(name: "c")
    return [
        RequestCase(
            Player.with(literal).filter { $0.name == literal.all() },
            #"WITH "chosen" AS (SELECT ?) SELECT * FROM "player" WHERE "name" = (SELECT * FROM "chosen")"#,
            ["O'Brien"],
            same: all + " WHERE id = 6"),
        RequestCase(
            Player.with(literal).filter { literal.contains($0.name) },
            #"WITH "chosen" AS (SELECT ?) SELECT * FROM "player" WHERE "name" IN "chosen""#,
            ["O'Brien"], same: all + " WHERE id = 6"),
        RequestCase(
            Player.with(literal).filter { !literal.contains($0.name) },
            #"WITH "chosen" AS (SELECT ?) SELECT * FROM "player" WHERE "name" NOT IN "chosen""#, ["O'Brien"],
            same: all + " WHERE name <> 'O''Brien'"),
        RequestCase(
            best.all().with(best).order(Column("id").desc).select(Column("name")),
            #"WITH "best" AS (SELECT * FROM "player" WHERE "score" > ?) SELECT "name" FROM "best" ORDER BY "id" DESC"#,
            [500],
            same: "SELECT name FROM player WHERE score > 500 ORDER BY id DESC"),
        RequestCase(
            pair.all().with(pair), #"WITH "pair"("a", "b") AS (SELECT ?, 2) SELECT * FROM "pair""#, [1],
            same: "SELECT 1 AS a, 2 AS b"),
        RequestCase(
            counter.all().with(counter),
            #"WITH RECURSIVE "counter"("x") AS (VALUES(1) UNION ALL SELECT x+1 FROM counter WHERE x<5) SELECT * FROM "counter""#,
            same: "VALUES (1), (2), (3), (4), (5)"),
        RequestCase(
            rows.all().with(rows), #"WITH "ones" AS (SELECT ? AS one) SELECT * FROM "ones""#, [1],
            same: "SELECT 1"),
        RequestCase(
            Player.with(pair).with(best).with(CommonTableExpression(named: "PAIR", sql: "SELECT 3 AS a"))
                .filter { pair.all().contains($0.id) },
            #"WITH "PAIR" AS (SELECT 3 AS a), "best" AS (SELECT * FROM "player" WHERE "score" > ?) SELECT * FROM "player" WHERE "id" IN (SELECT * FROM "pair")"#,
            [500], same: all + " WHERE id = 3"),
        RequestCase(
            Player.aliased(coachAlias).with(best).filter(
                best.all().filter(Column("coachId") == coachAlias["id"]).exists()),
            #"WITH "best" AS (SELECT * FROM "player" WHERE "score" > ?) SELECT "c".* FROM "player" "c" WHERE EXISTS (SELECT * FROM "best" WHERE "coachId" = "c"."id")"#,
            [500], same: all + " WHERE id = 1"),
        RequestCase(
            SQLRequest<Row>(
                "WITH \(definitionFor: literal) SELECT * FROM player WHERE name = (\(literal.all())) OR name IN \(literal)"
            ),
            #"WITH "chosen" AS (SELECT ?) SELECT * FROM player WHERE name = (SELECT * FROM "chosen") OR name IN "chosen""#,
            ["O'Brien"],
            same: all + " WHERE id = 6"),
        RequestCase(
            SQLRequest<Row>("WITH RECURSIVE \(definitionFor: counter) SELECT x FROM \(counter)"),
            #"WITH RECURSIVE "counter"("x") AS (VALUES(1) UNION ALL SELECT x+1 FROM counter WHERE x<5) SELECT x FROM "counter""#,
            same: "VALUES (1), (2), (3), (4), (5)"),
    ]
}

/// Returns cases with tables, columns and requests in SQL literals.
func interpolationCases() -> [RequestCase] {
    let record: any TableRecord = Player(id: 1)
    let maximumScore = Player.select { max($0.score) }
    return [
        RequestCase(SQLRequest<Row>("SELECT * FROM \(Player.self)"), #"SELECT * FROM "player""#, same: all),
        RequestCase(
            SQLRequest<Row>("SELECT * FROM \(tableOf: Player(id: 1))"), #"SELECT * FROM "player""#, same: all),
        RequestCase(
            SQLRequest<Row>("SELECT * FROM \(tableOf: record)"), #"SELECT * FROM "player""#, same: all),
        RequestCase(
            SQLRequest<Row>("SELECT * FROM \(Table("player"))"), #"SELECT * FROM "player""#, same: all),
        RequestCase(
            SQLRequest<Row>("SELECT \(columnsOf: Player.self) FROM player"),
            #"SELECT "player".* FROM player"#, same: all),
        RequestCase(
            SQLRequest<Row>("SELECT \(columnsOf: Player.self, tableAlias: "p") FROM player p"),
            #"SELECT "p".* FROM player p"#, same: all),
        RequestCase(
            SQLRequest<Row>("SELECT \(columnsOf: PlayerName.self) FROM player"),
            #"SELECT "player"."id", "player"."name" FROM player"#,
            same: "SELECT id, name FROM player"),
        RequestCase(
            SQLRequest<Row>("SELECT * FROM player WHERE score = (\(maximumScore))"),
            "SELECT * FROM player WHERE score = (SELECT MAX(\"score\") FROM \"player\")",
            same: all + " WHERE score = 1000"),
        RequestCase(
            SQLRequest<Row>(
                "SELECT * FROM player WHERE \(Player.Columns.id) IN \([1, 2]) ORDER BY \(Player.Columns.name.desc)"
            ),
            #"SELECT * FROM player WHERE "id" IN (?,?) ORDER BY "name" DESC"#, [1, 2],
            same: all + " WHERE id IN (1, 2) ORDER BY name DESC"),
        RequestCase(
            SQLRequest<Row>("SELECT name FROM player ORDER BY name COLLATE \(.nocase), \(Column("id"))"),
            #"SELECT name FROM player ORDER BY name COLLATE NOCASE, "id""#,
            same: "SELECT name FROM player ORDER BY LOWER(name), id"),
    ]
}
