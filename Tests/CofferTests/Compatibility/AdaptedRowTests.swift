import Coffer
import Testing

/// Rows that are backed by a statement convert values as SQLite does, with and without adapters: see the
/// Compatibility article.
@Suite("Conversions of adapted rows")
struct AdaptedRowTests {
    /// A value that can only be made from a statement. The other initializer fails.
    struct Weight: DatabaseValueConvertible, StatementColumnConvertible, Decodable, Equatable {
        var grams: Int

        init(grams: Int) { self.grams = grams }

        init?(sqliteStatement: SQLiteStatement, index: CInt) {
            unsafe self.init(grams: Int(sqliteStatement: sqliteStatement, index: index) ?? 0)
        }

        var databaseValue: DatabaseValue { grams.databaseValue }
        static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Weight? { nil }
    }

    private struct Parcel: Decodable, FetchableRecord, Equatable {
        var n: Int
        var weight: Weight
        var missing: Int?
    }

    private struct Shipment: Decodable, FetchableRecord, Equatable {
        var parcel: Parcel
        var n: Int
    }

    private static let sql = "SELECT '12' AS n, '7' AS weight, NULL AS missing"
    private static let adapters: [any RowAdapter] = [
        ScopeAdapter(["parcel": SuffixRowAdapter(fromIndex: 0)]),
        SuffixRowAdapter(fromIndex: 0).addingScopes(["parcel": SuffixRowAdapter(fromIndex: 0)]),
        ColumnMapping(["n": "n", "weight": "weight", "missing": "missing"]).addingScopes([
            "parcel": RangeRowAdapter(0..<3)
        ]),
    ]

    @Test("rows and scopes backed by a statement decode values from it", arguments: adapters.indices)
    func values(index: Int) throws {
        try DatabaseQueue().read { (db) throws in
            let row = try #require(
                try Row.fetchCursor(db, sql: Self.sql, adapter: Self.adapters[index]).next())
            for row in [row, try #require(row.scopes["parcel"])] {
                #expect(row["n"] == 12)
                #expect(try row.decode(Int.self, forColumn: "n") == 12)
                #expect(try row.decode(Weight.self, forColumn: "weight") == Weight(grams: 7))
                #expect(row["weight"] == Weight(grams: 7))
                #expect((row["missing"] as Int?) == nil)
                #expect(throws: RowDecodingError.self) { try row.decode(Int.self, forColumn: "missing") }
            }
        }
    }

    @Test("records of rows and scopes backed by a statement are decoded from it", arguments: adapters.indices)
    func records(index: Int) throws {
        try DatabaseQueue().read { (db) throws in
            let parcel = Parcel(n: 12, weight: Weight(grams: 7))
            let cursor = try Parcel.fetchCursor(db, sql: Self.sql, adapter: Self.adapters[index])
            #expect(try cursor.next() == parcel)
            let shipments = try Shipment.fetchAll(db, sql: Self.sql, adapter: Self.adapters[index])
            #expect(shipments == [Shipment(parcel: parcel, n: 12)])
        }
    }

    @Test(
        "copied rows decode values from stored database values, not from the statement",
        arguments: adapters.indices)
    func copies(index: Int) throws {
        try DatabaseQueue().read { (db) throws in
            let row = try #require(try Row.fetchOne(db, sql: Self.sql, adapter: Self.adapters[index]))
            #expect(throws: RowDecodingError.self) { try row.decode(Int.self, forColumn: "n") }
            #expect(throws: RowDecodingError.self) { try row.decode(Weight.self, forColumn: "weight") }
            #expect(try row.decode(String.self, forColumn: "n") == "12")
        }
    }
}
