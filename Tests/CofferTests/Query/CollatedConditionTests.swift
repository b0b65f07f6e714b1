import Testing

@testable import Coffer

@Suite("Conditions with a collation")
struct CollatedConditionTests {
    private static let name = Column("name")

    static let cases: [(SQLExpression, String, [String])] = [
        ((name == "ann").collating(.nocase), #""name" = ? COLLATE NOCASE"#, ["ANN"]),
        ((name != "ann").collating(.nocase), #""name" <> ? COLLATE NOCASE"#, ["Bob", "carl"]),
        (["ann", "bob"].contains(name).collating(.nocase), #"("name" COLLATE NOCASE) IN (?, ?)"#, ["ANN", "Bob"]),
        ((!["ann", "bob"].contains(name)).collating(.nocase), #"("name" COLLATE NOCASE) NOT IN (?, ?)"#, ["carl"]),
        (
            (name == "ann" || name == "bob").collating(.nocase),
            #"("name" = ? COLLATE NOCASE) OR ("name" = ? COLLATE NOCASE)"#, ["ANN", "Bob"]
        ),
        ((name > "a" && name < "c").collating(.nocase), #"("name" > ? COLLATE NOCASE) AND ("name" < ? COLLATE NOCASE)"#, ["ANN", "Bob"]),
        (("a"..<"c").contains(name).collating(.nocase), #"("name" >= ? COLLATE NOCASE) AND ("name" < ? COLLATE NOCASE)"#, ["ANN", "Bob"]),
        (("a"..."bob").contains(name).collating(.nocase), #""name" COLLATE NOCASE BETWEEN ? AND ?"#, ["ANN", "Bob"]),
        (
            (!(name == "ann" && name != "bob")).collating(.nocase),
            #"NOT (("name" = ? COLLATE NOCASE) AND ("name" <> ? COLLATE NOCASE))"#, ["Bob", "carl"]
        ),
        ((name.collating(.binary) == "ann").collating(.nocase), #""name" COLLATE BINARY = ?"#, []),
        ((name == nil).collating(.nocase), #""name" IS NULL"#, []),
    ]

    @Test("the collation reaches the operands of the comparison", arguments: cases)
    func conditions(condition: SQLExpression, sql: String, names: [String]) throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: "CREATE TABLE player (name TEXT); INSERT INTO player VALUES ('ANN'), ('Bob'), ('carl')")
            let request = Table("player").filter(condition).select(Column("name"), as: String.self).order(Column("rowid"))
            #expect(try request.fetchAll(db) == names)
            let text = try request.makePreparedRequest(db).statement.sql
            #expect(text == #"SELECT "name" FROM "player" WHERE \#(sql) ORDER BY "rowid""#)
        }
    }
}
