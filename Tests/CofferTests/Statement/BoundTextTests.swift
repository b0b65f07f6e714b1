import Coffer
import CofferTestSupport
import Testing

/// Short texts are bound without a copy by SQLite, and must stay unchanged while they are bound.
@Suite("Bound texts")
struct BoundTextTests {
    @Test("text of any length is bound correctly, in any order", arguments: ["UTF-8", "UTF-16le"])
    func lengths(encoding: String) throws {
        var configuration = Configuration.rawKeyed
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA encoding = '\(encoding)'") }
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.write { db in
            let statement = try db.makeStatement(sql: "SELECT ?, ?, ?, ?")
            var random = SeededRandom(seed: 7)
            for round in 0..<400 {
                let texts = (0..<4).map { _ in
                    text(length: Int.random(in: 0...(round % 20 == 0 ? 6000 : 80), using: &random))
                }
                let row = try #require(try Row.fetchOne(statement, arguments: StatementArguments(texts)))
                #expect((0..<4).map { row[$0] as String } == texts)
            }
        }
    }

    @Test(
        "a statement executed again keeps its arguments, even after another statement was bound"
    )
    func again() throws {
        let queue = try DatabaseQueue(configuration: .rawKeyed)
        try queue.write { db in
            let first = try db.makeStatement(sql: "SELECT ?, ?")
            let second = try db.makeStatement(sql: "SELECT ?, ?")
            try first.setArguments(["a short text", String(repeating: "long ", count: 2000)])
            try second.setArguments(["another text", "and one more"])
            for _ in 0..<3 {
                #expect(try Row.fetchOne(first)?[0] as String? == "a short text")
                #expect(try (Row.fetchOne(first)?[1] as String?)?.utf8.count == 10_000)
                #expect(try Row.fetchOne(second)?[1] as String? == "and one more")
            }
        }
    }

    @Test(
        "arguments survive a schema change, and inserted rows keep their values after another execution"
    )
    func schemaChange() throws {
        let queue = try DatabaseQueue(configuration: .rawKeyed)
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t (a, b)")
            let insert = try db.makeStatement(sql: "INSERT INTO t VALUES (?, ?)")
            try insert.execute(arguments: ["first", "value"])
            try db.execute(sql: "ALTER TABLE t ADD COLUMN c DEFAULT 'x'; DROP TABLE t; CREATE TABLE t (a, b)")
            try insert.execute()
            try insert.execute(arguments: ["second", "with a somewhat longer value than before"])
            let rows = try Row.fetchAll(db, sql: "SELECT * FROM t")
            #expect(
                rows == [
                    ["a": "first", "b": "value"],
                    ["a": "second", "b": "with a somewhat longer value than before"],
                ])
        }
    }

    private func text(length: Int) -> String {
        String((0..<length).map { ["a", "é", "\0", "漢", "😀", "z"][$0 % 6] as Character })
    }
}
