import Coffer
import CofferTestSupport
import Testing

@Suite("Regions of requests")
struct RequestRegionTests {
    private func check(
        _ request: some FetchRequest, _ expected: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try makeLeague().read { db throws in
            let region = try request.databaseRegion(db)
            #expect(region.description == expected, sourceLocation: sourceLocation)
            // The executed statement reports the same region to observers.
            #expect(
                try request.makePreparedRequest(db, forSingleResult: false).statement.databaseRegion == region
            )
        }
    }

    private let columns = "bonus,coachId,email,id,name,score,teamId"

    @Test("have the columns that are read")
    func columnRegions() throws {
        try check(Player.all(), "player(\(columns))")
        try check(Player.select(\.name), "player(name)")
        try check(Player.select(\.name).filter { $0.score > 1 }.order(\.bonus), "player(bonus,name,score)")
        try check(Player.select(sql: "COUNT(*)"), "player(*)")
        try check(
            Player.filter { Team.select(\.id).contains($0.teamId) }.select(\.name),
            "player(name,teamId),team(id)")
    }

    @Test("have the rows that are asked for by ID")
    func rowRegions() throws {
        try check(Player.filter(id: 1), "player(\(columns))[1]")
        try check(Player.filter { $0.id == 1 }, "player(\(columns))[1]")
        try check(Player.filter { 1 == $0.id }, "player(\(columns))[1]")
        try check(Player.filter(Column.rowID == 1).select(\.name), "player(id,name)[1]")
        try check(Player.filter(Column("ID") == 1).select(\.name), "player(id,name)[1]")
        try check(Player.filter(ids: [1, 2]).select(\.name), "player(id,name)[1,2]")
        try check(Player.filter { $0.id == 1 || $0.id == 2 }.select(\.name), "player(id,name)[1,2]")
        try check(Player.filter { $0.id == 1 && $0.score > 3 }.select(\.name), "player(id,name,score)[1]")
        try check(Player.filter(ids: [1, 2]).filter(ids: [2, 3]).select(\.name), "player(id,name)[2]")
        try check(Player.filter(id: 1).order(\.name).limit(3).select(\.name), "player(id,name)[1]")
        // For a query that reads only row IDs, SQLite reports that it may read any column.
        try check(Player.filter(id: 1).orderByPrimaryKey().selectID(), "player(*)[1]")
        try check(Player.filter(id: 1).filter(sql: "score > 10").select(\.name), "player(id,name,score)[1]")
        try check(Note.filter(key: 3), "note(ROWID,text)[3]")
        let alias = TableAlias<Player>(name: "p")
        try check(Player.aliased(alias).filter { _ in alias.id == 1 }.select(\.name), "player(id,name)[1]")
        try check(Player.none(), "empty")
    }

    @Test("contain all rows if the request may read rows other than those with its IDs")
    func wideRegions() throws {
        try check(Player.filter { $0.id == 1 || $0.score > 3 }.select(\.name), "player(id,name,score)")
        try check(Player.filter { $0.id == $0.score }.select(\.name), "player(id,name,score)")
        try check(Player.filter { $0.id != 1 }.select(\.name), "player(id,name)")
        try check(Player.filter { ![1].contains($0.id) }.select(\.name), "player(id,name)")
        try check(Player.filter(sql: "id = 1").select(\.name), "player(id,name)")
        // SQLite converts these values for the comparison, so Coffer does not guess the result.
        try check(Player.filter { $0.id == "1" }.select(\.name), "player(id,name)")
        try check(Player.filter { $0.id == 1.0 }.select(\.name), "player(id,name)")
        try check(Country.filter(id: "FR").select(sql: "population"), "country(isoCode,population)")
        try check(Citizenship.filter { $0.citizenId == 1 }, "citizenship(citizenId,countryCode)")
        // Queries of the same table within the request.
        let maximum = Player.select { max($0.score) }
        try check(Player.filter { $0.id == 1 && $0.score == maximum }.select(\.name), "player(id,name,score)")
        try check(Player.filter(id: 1).select(maximum), "player(*)")
        try check(Player.filter(id: 1).order(maximum).select(\.name), "player(id,name,score)")
        try check(Player.filter(id: 1).select(\.id).group(\.id).having { max($0.id) > maximum }, "player(*)")
        try check(
            Player.filter(id: 1).filter(sql: "score = (SELECT MAX(score) FROM player)").select(\.name),
            "player(id,name,score)")
        try check(Player.filter(id: 1).select(literal: "(\(maximum))"), "player(*)")
        let cte = CommonTableExpression(named: "best", request: maximum)
        try check(
            Player.with(cte).filter(id: 1).filter { $0.score == cte.all() }.select(\.name),
            "player(id,name,score)")
    }

    @Test("follow the arguments of the statement")
    func changedArguments() throws {
        try makeLeague().read { db throws in
            let request = Player.select(\.name)
            #expect(try request.filter(id: 1).databaseRegion(db).description == "player(id,name)[1]")
            let statement = try request.filter(id: 2).makePreparedRequest(db).statement
            #expect(statement.databaseRegion.description == "player(id,name)[2]")
            statement.arguments = [3]
            #expect(statement.databaseRegion.description == "player(id,name)")
        }
    }

    @Test("cover the whole table if the request is a table")
    func tableRegions() throws {
        try makeLeague().read { db throws in
            #expect(try Table("player").databaseRegion(db).description == "player(*)")
        }
    }
}
