import Coffer

private let all = "SELECT * FROM player"

/// Returns cases with conditions on rows and groups.
func filterCases() -> [RequestCase] {
    let maximumScore = Player.select { max($0.score) }
    let teamIds = Team.filter { $0.color != nil }.select(\.id)
    return [
        RequestCase(
            Player.filter(Column("name") == "Arthur"), #"SELECT * FROM "player" WHERE "name" = ?"#,
            ["Arthur"],
            same: all + " WHERE name = 'Arthur'"),
        RequestCase(
            Player.filter { $0.name == nil }, #"SELECT * FROM "player" WHERE "name" IS NULL"#,
            same: all + " WHERE name IS NULL"),
        RequestCase(
            Player.filter { $0.name != nil && $0.score > 20 },
            #"SELECT * FROM "player" WHERE ("name" IS NOT NULL) AND ("score" > ?)"#,
            [20],
            same: all + " WHERE name IS NOT NULL AND score > 20"),
        RequestCase(
            Player.filter { $0.name != nil }.filter { $0.score > 20 }.filter(Column("bonus") === nil),
            #"SELECT * FROM "player" WHERE ("name" IS NOT NULL) AND ("score" > ?) AND ("bonus" IS NULL)"#,
            [20],
            same: all + " WHERE name IS NOT NULL AND score > 20 AND bonus IS NULL"),
        RequestCase(
            Player.filter { $0.score > 20 || $0.bonus > 3 }.filter { $0.id != 1 },
            #"SELECT * FROM "player" WHERE (("score" > ?) OR ("bonus" > ?)) AND ("id" <> ?)"#, [20, 3, 1],
            same: all + " WHERE (score > 20 OR bonus > 3) AND id <> 1"),
        RequestCase(
            Player.filter { [1, 2, 3].contains($0.id) }, #"SELECT * FROM "player" WHERE "id" IN (?, ?, ?)"#,
            [1, 2, 3],
            same: all + " WHERE id IN (1, 2, 3)"),
        RequestCase(
            Player.filter { (0...250).contains($0.score) },
            #"SELECT * FROM "player" WHERE "score" BETWEEN ? AND ?"#, [0, 250],
            same: all + " WHERE score BETWEEN 0 AND 250"),
        RequestCase(
            Player.filter { ("A"..<"C").contains($0.name) },
            #"SELECT * FROM "player" WHERE ("name" >= ?) AND ("name" < ?)"#, ["A", "C"],
            same: all + " WHERE name >= 'A' AND name < 'C'"),
        RequestCase(
            Player.filter { $0.score == maximumScore },
            #"SELECT * FROM "player" WHERE "score" = (SELECT MAX("score") FROM "player")"#,
            same: all + " WHERE score = 1000"),
        RequestCase(
            Player.filter { teamIds.contains($0.teamId) },
            #"SELECT * FROM "player" WHERE "teamId" IN (SELECT "id" FROM "team" WHERE "color" IS NOT NULL)"#,
            same: all + " WHERE teamId IN (1, 2)"),
        RequestCase(
            Player.filter { !teamIds.contains($0.teamId) },
            #"SELECT * FROM "player" WHERE "teamId" NOT IN (SELECT "id" FROM "team" WHERE "color" IS NOT NULL)"#,
            same: all + " WHERE teamId NOT IN (1, 2)"),
        RequestCase(
            Player.filter(sql: "score >= 1000"), #"SELECT * FROM "player" WHERE score >= 1000"#,
            same: all + " WHERE score >= 1000"),
        RequestCase(
            Player.filter(sql: "score >= ?", arguments: [1000]), #"SELECT * FROM "player" WHERE score >= ?"#,
            [1000],
            same: all + " WHERE score >= 1000"),
        RequestCase(
            Player.filter(literal: "score >= \(1000)"), #"SELECT * FROM "player" WHERE score >= ?"#, [1000],
            same: all + " WHERE score >= 1000"),
        RequestCase(
            Player.filter {
                let condition: SQL = "\($0.score) >= \(1000)"
                return condition && $0.teamId == 2
            }, #"SELECT * FROM "player" WHERE ("score" >= ?) AND ("teamId" = ?)"#, [1000, 2],
            same: all + " WHERE score >= 1000 AND teamId = 2"),
        RequestCase(
            Player.all().filterWhenConnected { db in
                try db.tableExists("team") ? Column("teamId") == 1 : Column("teamId") == 2
            },
            #"SELECT * FROM "player" WHERE "teamId" = ?"#, [1], same: all + " WHERE teamId = 1"),
        RequestCase(
            Player.filter { cast($0.score, as: .text) == "250" },
            #"SELECT * FROM "player" WHERE CAST("score" AS TEXT) = ?"#, ["250"],
            same: all + " WHERE score = 250"),
        RequestCase(
            Player.filter { $0.name.collating(.nocase) == "ARTHUR" },
            #"SELECT * FROM "player" WHERE "name" = ? COLLATE NOCASE"#,
            ["ARTHUR"],
            same: all + " WHERE name COLLATE NOCASE = 'arthur'"),
        RequestCase(
            Player.filter { $0.email.like("%@example.com") && !$0.name.like("a%") },
            #"SELECT * FROM "player" WHERE ("email" LIKE ?) AND ("name" NOT LIKE ?)"#,
            ["%@example.com", "a%"],
            same: all + " WHERE email LIKE '%@example.com' AND name NOT LIKE 'a%'"),
        RequestCase(
            Player.filter {
                SQL("CASE WHEN \($0.score) > \(500) THEN \("high") ELSE \("low") END").sqlExpression == "high"
            },
            #"SELECT * FROM "player" WHERE (CASE WHEN "score" > ? THEN ? ELSE ? END) = ?"#,
            [500, "high", "low", "high"],
            same: all + " WHERE score > 500"),
    ]
}

/// Returns cases with conditions on keys, which come from the schema.
func keyCases() -> [RequestCase] {
    let none: Int64? = nil
    return [
        RequestCase(
            Player.filter(id: 1), #"SELECT * FROM "player" WHERE "id" = ?"#, [1], same: all + " WHERE id = 1"),
        RequestCase(
            Player.filter(ids: [3, 1]), #"SELECT * FROM "player" WHERE "id" IN (?, ?)"#, [3, 1],
            same: all + " WHERE id IN (1, 3)"),
        RequestCase(
            Player.filter(ids: [3]), #"SELECT * FROM "player" WHERE "id" = ?"#, [3],
            same: all + " WHERE id = 3"),
        RequestCase(Player.filter(ids: []), #"SELECT * FROM "player" WHERE 0"#, same: all + " WHERE 0"),
        RequestCase(
            Player.filter(key: 1), #"SELECT * FROM "player" WHERE "id" = ?"#, [1], same: all + " WHERE id = 1"
        ),
        RequestCase(Player.filter(key: none), #"SELECT * FROM "player" WHERE 0"#, same: all + " WHERE 0"),
        RequestCase(Player.filter(key: nil), #"SELECT * FROM "player" WHERE 0"#, same: all + " WHERE 0"),
        RequestCase(
            Player.filter(keys: [1, none, 2]), #"SELECT * FROM "player" WHERE "id" IN (?, ?)"#, [1, 2],
            same: all + " WHERE id IN (1, 2)"),
        RequestCase(
            Country.filter(ids: ["FR", "US"]), #"SELECT * FROM "country" WHERE "isoCode" IN (?, ?)"#,
            ["FR", "US"],
            same: "SELECT * FROM country WHERE isoCode <> 'DE'"),
        RequestCase(
            Country.filter(keys: ["FR"] as Set), #"SELECT * FROM "country" WHERE "isoCode" = ?"#, ["FR"],
            same: "SELECT * FROM country WHERE isoCode = 'FR'"),
        RequestCase(
            Note.filter(key: 2), #"SELECT * FROM "note" WHERE "rowid" = ?"#, [2],
            same: "SELECT * FROM note WHERE rowid = 2"),
        RequestCase(
            Citizenship.filter(key: ["countryCode": "FR", "citizenId": 1]),
            #"SELECT * FROM "citizenship" WHERE ("citizenId" = ?) AND ("countryCode" = ?)"#, [1, "FR"],
            same: "SELECT * FROM citizenship WHERE citizenId = 1 AND countryCode = 'FR'"),
        RequestCase(
            Citizenship.filter(keys: [
                ["countryCode": "FR", "citizenId": 1], ["CITIZENID": 3, "CountryCode": "DE"],
            ]),
            #"SELECT * FROM "citizenship" WHERE (("citizenId" = ?) AND ("countryCode" = ?)) OR (("citizenId" = ?) AND ("countryCode" = ?))"#,
            [1, "FR", 3, "DE"], same: "SELECT * FROM citizenship WHERE rowid IN (1, 4)"),
        RequestCase(
            Player.filter(key: ["email": "arthur@example.com"]), #"SELECT * FROM "player" WHERE "email" = ?"#,
            ["arthur@example.com"],
            same: all + " WHERE id = 1"),
        RequestCase(
            Player.filter(key: ["email": nil]), #"SELECT * FROM "player" WHERE "email" IS NULL"#,
            same: all + " WHERE email IS NULL"),
        RequestCase(
            Player.filter(key: ["rowid": 2]), #"SELECT * FROM "player" WHERE "rowid" = ?"#, [2],
            same: all + " WHERE id = 2"),
        RequestCase(
            Player.filter(keys: [] as [[String: (any DatabaseValueConvertible)?]]),
            #"SELECT * FROM "player" WHERE 0"#,
            same: all + " WHERE 0"),
        RequestCase(
            Player.filter { $0.score > 0 }.filter(key: 1).filter(keys: [1, 2]).filter(id: 1).filter(ids: [1]),
            #"SELECT * FROM "player" WHERE ("score" > ?) AND ("id" = ?) AND ("id" IN (?, ?)) AND ("id" = ?) AND ("id" = ?)"#,
            [0, 1, 1, 2, 1, 1], same: all + " WHERE id = 1"),
    ]
}

/// Returns cases with groups and their conditions.
func groupCases() -> [RequestCase] {
    let best = "SELECT teamId, MAX(score) FROM player GROUP BY teamId"
    let request = Player.select { [$0.teamId, max($0.score)] }
    let sql = #"SELECT "teamId", MAX("score") FROM "player" GROUP BY "#
    return [
        RequestCase(request.group(\.teamId), sql + #""teamId""#, same: best),
        RequestCase(request.group { [$0.teamId] }, sql + #""teamId""#, same: best),
        RequestCase(request.group(Column("teamId")), sql + #""teamId""#, same: best),
        RequestCase(
            request.group([Column("name")]).group([Column("teamId")]), sql + #""teamId""#, same: best),
        RequestCase(request.group(sql: "teamId + ?", arguments: [0]), sql + "teamId + ?", [0], same: best),
        RequestCase(request.group(literal: "teamId + \(0)"), sql + "teamId + ?", [0], same: best),
        RequestCase(
            request.group { [$0.teamId, $0.score] }, sql + #""teamId", "score""#,
            same: "SELECT teamId, MAX(score) FROM player GROUP BY teamId, score"),
        RequestCase(
            request.group(\.teamId).having { min($0.score) >= 0 },
            sql + #""teamId" HAVING MIN("score") >= ?"#, [0],
            same: best + " HAVING MIN(score) >= 0"),
        RequestCase(
            request.group(\.teamId).having(min(Column("score")) >= 0).having(Column("teamId") != nil),
            sql + #""teamId" HAVING (MIN("score") >= ?) AND ("teamId" IS NOT NULL)"#, [0],
            same: best + " HAVING MIN(score) >= 0 AND teamId IS NOT NULL"),
        RequestCase(
            request.group(\.teamId).having(sql: "MIN(score) >= ?", arguments: [0]),
            sql + #""teamId" HAVING MIN(score) >= ?"#, [0],
            same: best + " HAVING MIN(score) >= 0"),
        RequestCase(
            request.group(\.teamId).having(literal: "MIN(score) >= \(0)"),
            sql + #""teamId" HAVING MIN(score) >= ?"#, [0],
            same: best + " HAVING MIN(score) >= 0"),
        RequestCase(
            request.groupWhenConnected { db in [Column(try db.tableExists("team") ? "teamId" : "name")] }
                .havingWhenConnected { db in Column(try db.primaryKey("player").columns[0]) > 1 },
            sql + #""teamId" HAVING "id" > ?"#, [1], same: best + " HAVING id > 1"),
        RequestCase(
            Citizenship.all().groupByPrimaryKey(), #"SELECT * FROM "citizenship" GROUP BY "rowid""#,
            same: "SELECT * FROM citizenship"),
        RequestCase(
            Country.all().groupByPrimaryKey(), #"SELECT * FROM "country" GROUP BY "isoCode""#,
            same: "SELECT * FROM country ORDER BY isoCode"),
        RequestCase(Player.all().groupByPrimaryKey(), #"SELECT * FROM "player" GROUP BY "id""#, same: all),
        RequestCase(
            request.group(\.teamId).limit(1, offset: 1), sql + #""teamId" LIMIT 1 OFFSET 1"#,
            same: best + " LIMIT 1 OFFSET 1"),
    ]
}
