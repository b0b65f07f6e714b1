import Testing

@testable import Coffer

@Suite("Conditions with a collation")
struct CollatedConditionTests {
    private static let name = Column("name")

    static let cases: [(SQLExpression, String, [String])] = {
        var cases: [(SQLExpression, String, [String])] = []
        func add(_ condition: SQLExpression, _ sql: String, _ names: [String]) {
            cases.append((condition.collating(.nocase), sql, names))
        }
        add(name == "ann", #""name" = ? COLLATE NOCASE"#, ["ANN"])
        add(name != "ann", #""name" <> ? COLLATE NOCASE"#, ["Bob", "carl"])
        add(["ann", "bob"].contains(name), #"("name" COLLATE NOCASE) IN (?, ?)"#, ["ANN", "Bob"])
        add(!["ann", "bob"].contains(name), #"("name" COLLATE NOCASE) NOT IN (?, ?)"#, ["carl"])
        let (isAnn, isBob, isNotBob) = (name == "ann", name == "bob", name != "bob")
        add(isAnn || isBob, #"("name" = ? COLLATE NOCASE) OR ("name" = ? COLLATE NOCASE)"#, ["ANN", "Bob"])
        add(
            !(isAnn && isNotBob), #"NOT (("name" = ? COLLATE NOCASE) AND ("name" <> ? COLLATE NOCASE))"#,
            ["Bob", "carl"])
        add(
            ("a"..<"c").contains(name), #"("name" >= ? COLLATE NOCASE) AND ("name" < ? COLLATE NOCASE)"#,
            ["ANN", "Bob"])
        add(("a"..."bob").contains(name), #""name" COLLATE NOCASE BETWEEN ? AND ?"#, ["ANN", "Bob"])
        add(name.collating(.binary) == "ann", #""name" = ? COLLATE BINARY"#, [])
        return cases
    }()

    @Test("the collation applies to the operands of the comparison", arguments: cases)
    func conditions(condition: SQLExpression, sql: String, names: [String]) throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(
                sql: "CREATE TABLE player (name TEXT); INSERT INTO player VALUES ('ANN'), ('Bob'), ('carl')")
            let request = Table("player").filter(condition).select(Column("name"), as: String.self).order(
                Column("rowid"))
            #expect(try request.fetchAll(db) == names)
            let text = try request.makePreparedRequest(db).statement.sql
            #expect(text == #"SELECT "name" FROM "player" WHERE \#(sql) ORDER BY "rowid""#)
        }
    }
}
