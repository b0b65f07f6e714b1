import Coffer
import CofferTestSupport
import Testing

@Suite("Impossible requests")
struct RequestErrorTests {
    private func message(_ request: some FetchRequest) throws -> String {
        let error = #expect(throws: DatabaseError.self) {
            try makeLeague().read { _ = try Row.fetchAll($0, request) }
        }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        return error?.message ?? ""
    }

    @Test("explain a wrong key")
    func keys() throws {
        #expect(try message(Citizenship.filter(key: 1)).contains("citizenId, countryCode"))
        #expect(try message(Citizenship.filter(keys: [1, 2])).contains("several columns"))
        #expect(
            try message(Player.filter(key: ["name": "Arthur"])).contains("no unique key on the columns: name")
        )
        #expect(try message(Player.filter(key: ["score": 1, "name": "Arthur"])).contains("name, score"))
        #expect(try message(Citizenship.filter(key: ["citizenId": 1])).contains("no unique key"))
        #expect(throws: DatabaseError.self) {
            try makeLeague().read { try Table("nothing").filter(key: 1).fetchAll($0) }
        }
        #expect(throws: DatabaseError.self) {
            try makeLeague().read { try Table("coach").filter(key: 1).fetchAll($0) }
        }
    }

    @Test("explain a wrong alias")
    func aliases() throws {
        let alias = TableAlias()
        #expect(try message(Player.filter(alias[Column("id")] == 1)).contains("aliased(_:)"))
        #expect(try message(Player.filter(TableAlias(name: "x").exists)).contains("aliased(_:)"))
        let twice = Player.aliased(TableAlias(name: "a")).aliased(TableAlias(name: "b"))
        #expect(try message(twice).contains("several aliases"))
        // Without a name, the alias would refer to the inner player, not the outer one.
        let hidden = Player.aliased(alias).filter(
            Player.filter { $0.coachId == alias[Column("id")] }.exists())
        #expect(try message(hidden).contains("TableAlias(name:)"))
        let shout = Player.aliased(alias).filter(
            Table("PLAYER").filter(Column("coachId") == alias[Column("id")]).exists())
        #expect(try message(shout).contains("TableAlias(name:)"))
    }

    @Test("refuse to reverse an order that is written in SQL")
    func reversedSQL() throws {
        #expect(try message(Player.order(sql: "name").reversed()).contains("cannot be reversed"))
        let alias = TableAlias(name: "p")
        #expect(
            try message(Player.aliased(alias).order(alias[SQL("name").sqlOrdering]).reversed()).contains(
                "cannot be reversed"))
    }

    @Test("need a known table to exclude columns from")
    func unknownTables() throws {
        let request: SQLRequest<Row> = "SELECT \(AllColumnsExcluding(["a"])) FROM player"
        #expect(try message(request).contains("allColumns(excluding:)"))
    }

    @Test("pass on SQLite's errors")
    func sqliteErrors() throws {
        let error = #expect(throws: DatabaseError.self) {
            try makeLeague().read { _ = try Table("nothing").fetchAll($0) }
        }
        #expect(error?.message == "no such table: nothing")
        #expect(throws: DatabaseError.self) {
            try makeLeague().read { _ = try Row.fetchAll($0, Player.select([])) }
        }
        #expect(throws: DatabaseError.self) {
            try makeLeague().read { _ = try Row.fetchAll($0, Player.filter(Column("nothing") == 1)) }
        }
    }
}
