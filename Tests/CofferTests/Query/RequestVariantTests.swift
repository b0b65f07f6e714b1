import Coffer
import CofferTestSupport
import Testing

/// A record of a league player with only the ID and the name.
private struct Named: Codable, FetchableRecord, MutablePersistableRecord, Hashable {
    enum Columns {
        static let id = Column(CodingKeys.id)
        static let name = Column(CodingKeys.name)
    }

    static let databaseTableName = "team"
    static var databaseSelection: [any SQLSelectable] { [Columns.id, Columns.name] }

    var id: Int64
    var name: String
}

@Suite("Variants of requests")
struct RequestVariantTests {
    private let reds = Named(id: 1, name: "Reds")
    private let blues = Named(id: 2, name: "Blues")
    private let nobodies = Named(id: 3, name: "Nobodies")

    @Test("select the results of closures, SQL and literals, as values of a type")
    func selecting() throws {
        try makeLeague().read { (db) throws in
            let request = Named.filter { $0.id < 3 }
            #expect(try request.select([Column("id")], as: Int.self).fetchAll(db) == [1, 2])
            #expect(try request.select({ [$0.id + 1, $0.name] }, as: Row.self).fetchOne(db)?[0] as Int? == 2)
            #expect(try request.select({ $0.id * 2 }, as: Int.self).fetchAll(db) == [2, 4])
            #expect(
                try request.select(sql: "id + ?", arguments: [10], as: Int.self).fetchAll(db) == [11, 12])
            #expect(try request.select(literal: "id + \(20)", as: Int.self).fetchAll(db) == [21, 22])
            #expect(try Int.fetchAll(db, request.select { [$0.id, $0.name] }) == [1, 2])
            #expect(try Int.fetchAll(db, request.select(sql: "id * 3")) == [3, 6])
            #expect(try Int.fetchAll(db, request.select(literal: "id * \(4)")) == [4, 8])
        }
    }

    @Test("sort by SQL and literals, replacing any earlier order")
    func ordering() throws {
        try makeLeague().read { (db) throws in
            let request = Named.order(Column("id"))
            #expect(
                try request.order(sql: "id % ? , id DESC", arguments: [2]).fetchAll(db) == [
                    blues, nobodies, reds,
                ])
            #expect(try request.order(literal: "id = \(2) DESC, id").fetchAll(db) == [blues, reds, nobodies])
            #expect(try request.order { [$0.name] }.reversed().fetchAll(db) == [reds, nobodies, blues])
            #expect(try request.reversed().unordered().fetchCount(db) == 3)
            // A new order discards the reversal, and a request without an order stays unordered when
            // reversed.
            #expect(try request.reversed().order(\.id).fetchAll(db) == [reds, blues, nobodies])
            let statement = try Named.all().reversed().makePreparedRequest(db).statement
            #expect(statement.sql == #"SELECT "id", "name" FROM "team""#)
        }
    }

    @Test("filter by keys in dictionaries, and by aliases of records")
    func keysAndAliases() throws {
        try makeLeague().read { (db) throws in
            let keys: [[String: (any DatabaseValueConvertible)?]] = [["id": 1], ["ID": 3], ["id": nil]]
            #expect(try Named.order(\.id).filter(keys: keys).fetchAll(db) == [reds, nobodies])
            let alias = TableAlias<Named>(name: "t")
            #expect(
                try Named.filter { $0.id == 2 }.aliased(alias).filter(alias.name == "Blues").fetchAll(db) == [
                    blues
                ])
            let other = TableAlias<Named>(name: "t")
            #expect(alias == alias && alias != other && Set([alias, other, alias]).count == 2)
        }
    }

    @Test("keep the query, its region and its count when erased or adapted")
    func erased() throws {
        try makeLeague().read { (db) throws in
            let request = Named.filter { $0.id > 1 }
            let any = AnyFetchRequest(request)
            let adapted = request.adapted { _ in ColumnMapping(["id": "id", "name": "name"]) }
            #expect(try any.fetchSet(db) == [blues, nobodies] && adapted.fetchSet(db) == [blues, nobodies])
            #expect(try any.databaseRegion(db) == request.databaseRegion(db))
            #expect(try adapted.databaseRegion(db) == request.databaseRegion(db))
            // Both are usable as subqueries, like the request itself.
            let ids = Named.select(Column("id")).filter { $0.id > 1 }
            #expect(try Named.filter { AnyFetchRequest(ids).contains($0.id) }.fetchCount(db) == 2)
            #expect(
                try Named.filter { ids.adapted { _ in EmptyRowAdapter() }.contains($0.id) }.fetchCount(db)
                    == 2)
        }
    }

    @Test("read common table expressions defined by SQL, literals and requests")
    func commonTableExpressions() throws {
        try makeLeague().read { (db) throws in
            let literal = CommonTableExpression<Named>(
                named: "cte", literal: "SELECT id, name FROM team WHERE id > \(1)")
            let sql = CommonTableExpression<Named>(
                named: "cte", sql: "SELECT id, name FROM team WHERE id > ?", arguments: [1])
            let request = CommonTableExpression<Named>(
                named: "cte", columns: ["id", "name"], request: Named.filter { $0.id > 1 })
            for cte in [literal, sql, request] {
                #expect(cte.tableName == "cte")
                #expect(try cte.all().with(cte).order(Column("id")).fetchAll(db) == [blues, nobodies])
                #expect(
                    try Named.all().with(cte).filter(sql: "id IN (SELECT id FROM cte)").fetchCount(db) == 2)
            }
            let counting = CommonTableExpression<Int>(
                recursive: true, named: "n", columns: ["n"],
                literal: "VALUES(1) UNION ALL SELECT n + 1 FROM n WHERE n < \(4)")
            #expect(try counting.all().with(counting).fetchAll(db) == [1, 2, 3, 4])
        }
    }

    @Test("can be written as SQL literals with interpolated table names")
    func interpolation() throws {
        try makeLeague().read { (db) throws in
            let known: SQLRequest<Named> =
                "SELECT \(columnsOf: Named.self) FROM \(tableOf: reds) WHERE id = \(2)"
            #expect(try known.fetchAll(db) == [blues])
            let erased: any TableRecord = reds
            #expect(
                try SQLRequest<Named>("SELECT * FROM \(tableOf: erased) WHERE id = 3").fetchAll(db) == [
                    nobodies
                ])
            let literal: SQL = "SELECT * FROM \(Named.self) ORDER BY id"
            let request = SQLRequest<Named>(literal: literal, adapter: nil, cached: true)
            #expect(try request.fetchAll(db) == [reds, blues, nobodies])
            #expect(try request.fetchCount(db) == 3 && request.adapter == nil)
        }
    }

    @Test("are upserted and fetched as other records")
    func upsert() throws {
        struct Shout: FetchableRecord, TableRecord, Equatable {
            static let databaseTableName = "team"
            static var databaseSelection: [any SQLSelectable] { [Column("id"), SQL("upper(name) AS shout")] }
            var text: String
            init(row: Row) { text = row["shout"] }
            init(_ text: String) { self.text = text }
        }
        try makeLeague().write { (db) throws in
            var team = Named(id: 2, name: "Greens")
            #expect(try team.upsertAndFetch(db, as: Shout.self) == Shout("GREENS"))
            #expect(
                try team.upsertAndFetch(
                    db, as: Shout.self, onConflict: ["id"], updating: .noColumnUnlessSpecified,
                    doUpdate: {
                        [Column("name").set(to: [Column("name"), $0["name"]].joined(operator: .concat))]
                    })
                    == Shout("GREENSGREENS"))
            team.id = 9
            #expect(try team.upsertAndFetch(db, as: Shout.self) == Shout("GREENS"))
            #expect(try Named.fetchCount(db) == 4)
        }
    }

    @Test("are sorted and grouped by the primary key")
    func groups() throws {
        try makeLeague().read { (db) throws in
            let groups = Named.select { [$0.id, count($0.id)] }.groupByPrimaryKey().orderByPrimaryKey()
                .reversed()
            #expect(
                try Row.fetchAll(db, groups).map { [$0[0] as Int, $0[1]] } == [[3, 1], [2, 1], [1, 1]])
            #expect(try groups.fetchCount(db) == 3)
        }
    }
}
