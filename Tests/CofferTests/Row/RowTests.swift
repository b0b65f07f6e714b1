import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Rows")
struct RowTests {
    private enum Columns: String, ColumnExpression {
        case number, text, bytes, absent, missing, kind
    }

    private enum Kind: String, DatabaseValueConvertible {
        case small, big
    }

    private static let sql =
        "SELECT 1 AS number, 'two' AS text, x'0304' AS bytes, NULL AS absent, 'big' AS kind"

    /// Checks a statement-backed row, a copy of it, and an adapted row.
    private func withRows(_ body: (Row) throws -> Void) throws {
        try DatabaseQueue().read { (db) throws in
            let cursor = try Row.fetchCursor(db, sql: Self.sql)
            try body(#require(try cursor.next()))
            try body(#require(try Row.fetchOne(db, sql: Self.sql)))
            let adapted = try Row.fetchOne(
                db, sql: "SELECT 0, \(Self.sql.dropFirst(7))", adapter: SuffixRowAdapter(fromIndex: 1))
            try body(#require(adapted))
            try body(["number": 1, "text": "two", "bytes": Data([3, 4]), "absent": nil, "kind": "big"])
        }
    }

    @Test(
        "give values by index, name or column, as the requested type or the stored one"
    )
    func subscripts() throws {
        try withRows { (row) throws in
            #expect(row[0] as Int == 1 && row["NUMBER"] as Int == 1 && row[Columns.number] as Int == 1)
            #expect(
                row[0] as? Int64 == 1 && row["number"] as? Int64 == 1 && row[Columns.number] as? Int64 == 1)
            #expect(
                row[1] as String == "two" && row["text"] as String == "two"
                    && row[Columns.text] as String == "two")
            #expect(row[2] as Data == Data([3, 4]))
            #expect(
                row[4] as Kind == .big && row["kind"] as Kind == .big && row[Columns.kind] as Kind == .big)
            #expect(
                row[3] as Int? == nil && row["absent"] as String? == nil
                    && row[Columns.absent] as Kind? == nil)
            #expect(row["missing"] as Int? == nil && row[Columns.missing] as Int? == nil)
            let untyped: [(any DatabaseValueConvertible)?] = [
                row[3], row["absent"], row["missing"], row[Columns.absent], row[Columns.missing],
            ]
            #expect(untyped.allSatisfy { $0 == nil })
            let stored: [(any DatabaseValueConvertible)?] = [row[1], row["text"], row[Columns.text]]
            #expect(stored.allSatisfy { $0?.databaseValue == "two".databaseValue })
        }
    }

    @Test("decode values, or throw an error that names the column")
    func decoding() throws {
        try withRows { (row) throws in
            #expect(try row.decode(Int.self, atIndex: 0) == 1)
            #expect(try row.decode(Int.self, forColumn: "Number") == 1)
            #expect(try row.decode(Int.self, forColumn: Columns.number) == 1)
            #expect(try row.decode(Kind.self, atIndex: 4) == .big)
            #expect(try row.decode(Kind.self, forColumn: "kind") == .big)
            #expect(try row.decode(Kind.self, forColumn: Columns.kind) == .big)
            #expect(try row.decode(Int?.self, forColumn: "absent") == nil)
            #expect(try row.decode(Int?.self, forColumn: "missing") == nil)
            for decode in [
                { _ = try row.decode(Int.self, atIndex: 3) },
                { _ = try row.decode(Kind.self, forColumn: "absent") },
                { _ = try row.decode(Kind.self, atIndex: 1) },
            ] as [() throws -> Void] {
                #expect {
                    try decode()
                } throws: { error in
                    error is RowDecodingError && "\(error)".contains("could not decode")
                }
            }
            #expect {
                try row.decode(Kind.self, forColumn: Columns.missing)
            } throws: { error in
                error is RowDecodingError && "\(error)".contains("column not found: \"missing\"")
            }
        }
    }

    @Test("give the first non-NULL value of several columns")
    func coalesce() throws {
        try withRows { (row) throws in
            #expect(row.coalesce(["absent", "missing", "text"]) as String? == "two")
            #expect(row.coalesce(["absent", "missing"]) as String? == nil)
            #expect(
                row.coalesce([Columns.absent, Columns.number] as [any ColumnExpression]) as Int? == 1)
        }
    }

    @Test("give temporary access to their bytes")
    func bytes() throws {
        try withRows { (row) throws in
            #expect(try row.withUnsafeData(atIndex: 2) { $0 } == Data([3, 4]))
            #expect(try row.withUnsafeData(named: "BYTES") { $0 } == Data([3, 4]))
            #expect(try row.withUnsafeData(at: Columns.bytes) { $0 } == Data([3, 4]))
            #expect(try row.withUnsafeData(atIndex: 1) { $0 } == Data("two".utf8))
            #expect(try row.withUnsafeData(atIndex: 3) { $0 == nil })
            #expect(try row.withUnsafeData(named: "missing") { $0 == nil })
            #expect(try row.withUnsafeData(at: Columns.absent) { $0 == nil })
            #expect(throws: CancellationError.self) {
                try row.withUnsafeData(atIndex: 2) { _ in throw CancellationError() }
            }
        }
    }

    @Test("are collections of columns and values, even with duplicate names")
    func collection() throws {
        try withRows { (row) throws in
            #expect(row.count == 5 && row.endIndex == row.startIndex.advanced(by: 5))
            #expect(row.startIndex < row.endIndex && row.startIndex.distance(to: row.endIndex) == 5)
            #expect(Array(row.columnNames) == ["number", "text", "bytes", "absent", "kind"])
            #expect(row[row.startIndex].0 == "number" && row[row.startIndex].1 == 1.databaseValue)
            #expect(row.hasColumn("TEXT") && !row.hasColumn("missing"))
            #expect(row.hasNull(atIndex: 3) && !row.hasNull(atIndex: 0))
            #expect(row.containsNonNullValue)
        }
        try DatabaseQueue().read { (db) throws in
            let twice = try #require(try Row.fetchOne(db, sql: "SELECT 1 AS a, 2 AS A"))
            #expect(
                twice["a"] as Int == 1 && twice["A"] as Int == 1
                    && twice.map(\.1) == [1.databaseValue, 2.databaseValue])
            #expect(try Row.fetchOne(db, sql: "SELECT NULL, NULL")?.containsNonNullValue == false)
        }
    }

    @Test(
        "are equal, with equal hashes, if their names and values are equal in order")
    func equality() throws {
        try withRows { (row) throws in
            let same: Row = [
                "number": 1, "text": "two", "bytes": Data([3, 4]), "absent": nil, "kind": "big",
            ]
            #expect(row == same && row.hashValue == same.hashValue && row.copy() == same)
            #expect(row != ["number": 1])
        }
        #expect(Row() == Row([:]) && Row().isEmpty)
        #expect(Row(["a": 1] as [String: (any DatabaseValueConvertible)?]) == ["a": 1])
        #expect(Row(["a": 1 as Any, "b": "x"] as [AnyHashable: Any]).map { $0["b"] as String } == "x")
        #expect(
            Row([1: 1] as [AnyHashable: Any]) == nil
                && Row(["a": Thread.current] as [AnyHashable: Any]) == nil)
        #expect(["a": 1, "b": 2] as Row != ["b": 2, "a": 1] as Row)
        #expect(["a": nil] as Row != ["a": 0] as Row)
    }

    @Test("describe themselves, with the rows in their scopes")
    func descriptions() throws {
        try DatabaseQueue().read { (db) throws in
            let adapter = ScopeAdapter(["inner": RangeRowAdapter(1..<2), "empty": EmptyRowAdapter()])
            let row = try #require(try Row.fetchOne(db, sql: "SELECT 1 AS a, 'x' AS b", adapter: adapter))
            #expect(row.description == "[a:1 b:\"x\"]")
            #expect(row.debugDescription.contains("inner") && row.debugDescription.contains("[b:\"x\"]"))
            #expect(Set(row.scopes.map(\.name)) == ["inner", "empty"])
            #expect(row.scopes.first { $0.name == "inner" }?.row == ["b": "x"])
            #expect(row.scopes.count == 2 && row.scopesTree.names == ["inner", "empty"])
            #expect(row.unscoped.scopes.isEmpty && row.unadapted == ["a": 1, "b": "x"])
        }
    }

    @Test("are fetched from statements and SQL as cursors, arrays and sets")
    func fetching() throws {
        try DatabaseQueue().read { (db) throws in
            let sql = "SELECT ?1 AS a UNION ALL SELECT ?1 UNION ALL SELECT 2"
            let statement = try db.makeStatement(sql: sql)
            let expected: [Row] = [["a": 1], ["a": 1], ["a": 2]]
            #expect(try Row.fetchAll(statement, arguments: [1]) == expected)
            #expect(try Row.fetchSet(statement) == Set(expected))
            #expect(try Row.fetchOne(statement, arguments: [2]) == ["a": 2])
            #expect(try Array(Row.fetchCursor(statement, arguments: [1]).map { $0.copy() }) == expected)
            #expect(try Row.fetchSet(db, sql: sql, arguments: [1]) == Set(expected))
        }
    }

    @Test("column lookup ignores ASCII case, and prefers an exact match for other letters")
    func columnCase() throws {
        try DatabaseQueue().read { (db) throws in
            let sql = "SELECT 1 AS \"\u{c9}\", 2 AS \"\u{e9}\", 3 AS \"\u{d6}l\", 4 AS Name, 5 AS NAME"
            let cursor = try Row.fetchCursor(db, sql: sql)
            let row = try #require(try cursor.next())
            for row in [row, row.copy()] {
                #expect(row["\u{c9}"] == 1 && row["\u{e9}"] == 2)
                #expect(row["\u{d6}L"] == 3 && row["\u{f6}l"] == 3)
                #expect(row["NAME"] == 4 && row["name"] == 4)
                #expect(!row.hasColumn("\u{e8}"))
            }
            let equivalent = try Row.fetchCursor(
                db, sql: "SELECT 1 AS \"\u{e9}\", 2 AS \"e\u{301}\", 3 AS \"e\u{301}x\"")
            let letters = try #require(try equivalent.next())
            for row in [letters, letters.copy()] {
                #expect(row["\u{e9}"] == 1)
                #expect(row["e\u{301}"] == 2)
                #expect(row["E\u{301}"] == 2)
                #expect(row["\u{e9}x"] == 3)
            }
            let adapted = try #require(
                try Row.fetchOne(
                    db, sql: sql, adapter: ColumnMapping(["\u{e4}": "\u{c9}", "\u{c4}": "\u{e9}"])))
            #expect(adapted["\u{e4}"] == 1 && adapted["\u{c4}"] == 2)
        }
    }
}
