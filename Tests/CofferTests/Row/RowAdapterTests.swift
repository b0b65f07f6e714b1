import Coffer
import Testing

@Suite("Row adapters")
struct RowAdapterTests {
    private func fetch(_ sql: String, _ adapter: any RowAdapter) throws -> Row? {
        try DatabaseQueue().read { try Row.fetchOne($0, sql: sql, adapter: adapter) }
    }

    private static let abcd = "SELECT 0 AS a, 1 AS b, 2 AS c, 3 AS d"

    @Test("ColumnMapping renames some columns, in the order of the row, and hides the others")
    func columnMapping() throws {
        let row = try #require(try fetch(Self.abcd, ColumnMapping(["x": "C", "y": "a", "z": "c"])))
        #expect(row == ["y": 0, "x": 2, "z": 2])
        #expect(row["X"] as Int == 2)
        #expect(!row.hasColumn("c"))
        #expect(row.unadapted == ["a": 0, "b": 1, "c": 2, "d": 3])
    }

    @Test("ColumnMapping takes the leftmost of several columns with the name")
    func duplicateColumns() throws {
        #expect(try fetch("SELECT 0 AS a, 1 AS A", ColumnMapping(["x": "A"])) == ["x": 0])
    }

    @Test(
        "an adapter that needs more columns than there are is an error",
        arguments: [
            ColumnMapping(["x": "missing"]), SuffixRowAdapter(fromIndex: 5), RangeRowAdapter(3..<5),
            RangeRowAdapter(4...4),
            ScopeAdapter(["s": RangeRowAdapter(0..<5)]),
        ] as [any RowAdapter])
    func missingColumns(adapter: any RowAdapter) throws {
        #expect {
            try fetch(Self.abcd, adapter)
        } throws: { error in
            (error as? DatabaseError)?.resultCode == .SQLITE_MISUSE
        }
    }

    @Test("SuffixRowAdapter hides the first columns")
    func suffix() throws {
        #expect(try fetch(Self.abcd, SuffixRowAdapter(fromIndex: 2)) == ["c": 2, "d": 3])
        #expect(try fetch(Self.abcd, SuffixRowAdapter(fromIndex: 0)) == ["a": 0, "b": 1, "c": 2, "d": 3])
        #expect(try fetch(Self.abcd, SuffixRowAdapter(fromIndex: 4)) == [:])
    }

    @Test("RangeRowAdapter shows a range of columns")
    func range() throws {
        #expect(try fetch(Self.abcd, RangeRowAdapter(1..<3)) == ["b": 1, "c": 2])
        #expect(try fetch(Self.abcd, RangeRowAdapter(1...3)) == ["b": 1, "c": 2, "d": 3])
        #expect(try fetch(Self.abcd, RangeRowAdapter(1..<1)) == [:])
    }

    @Test("negative positions trap")
    func negativePositions() async {
        await #expect(processExitsWith: .failure) { _ = SuffixRowAdapter(fromIndex: -1) }
        await #expect(processExitsWith: .failure) { _ = RangeRowAdapter(-1..<2) }
    }

    @Test("RenameColumnAdapter renames all columns")
    func rename() throws {
        #expect(
            try fetch(Self.abcd, RenameColumnAdapter { $0.uppercased() + "1" }) == [
                "A1": 0, "B1": 1, "C1": 2, "D1": 3,
            ])
    }

    @Test("EmptyRowAdapter shows no column")
    func empty() throws {
        let row = try #require(try fetch(Self.abcd, EmptyRowAdapter()))
        #expect(row.isEmpty)
        #expect(row.unadapted.count == 4)
    }

    @Test("ScopeAdapter keeps the columns and adds scopes, which may have scopes")
    func scopes() throws {
        let adapter = ScopeAdapter([
            "left": RangeRowAdapter(0..<2),
            "right": RangeRowAdapter(2..<4).addingScopes(["last": SuffixRowAdapter(fromIndex: 3)]),
        ])
        let row = try #require(try fetch(Self.abcd, adapter))
        #expect(row.unscoped == ["a": 0, "b": 1, "c": 2, "d": 3])
        #expect(Set(row.scopes.names) == ["left", "right"])
        #expect(row.scopes["left"] == ["a": 0, "b": 1])
        #expect(row.scopes["right"]?.unscoped == ["c": 2, "d": 3])
        // Scopes use the columns of the base row, not of the enclosing scope.
        #expect(row.scopes["right"]?.scopes["last"] == ["d": 3])
        #expect(row.scopesTree["last"] == ["d": 3])
        #expect(row.scopes["missing"] == nil)
    }

    @Test("a base adapter decides which columns are shown; scopes see all of them")
    func scopesWithBase() throws {
        let adapter = ScopeAdapter(base: EmptyRowAdapter(), scopes: ["all": SuffixRowAdapter(fromIndex: 1)])
        let row = try #require(try fetch(Self.abcd, adapter))
        #expect(row.isEmpty)
        #expect(row.scopes["all"] == ["b": 1, "c": 2, "d": 3])
    }

    @Test("added scopes replace scopes of the same name and keep the others")
    func addingScopes() throws {
        let adapter = ScopeAdapter(["x": RangeRowAdapter(0..<1), "y": RangeRowAdapter(1..<2)])
            .addingScopes(["y": RangeRowAdapter(2..<3), "z": RangeRowAdapter(3..<4)])
        let row = try #require(try fetch(Self.abcd, adapter))
        #expect(row.scopes["x"] == ["a": 0])
        #expect(row.scopes["y"] == ["c": 2])
        #expect(row.scopes["z"] == ["d": 3])
    }

    @Test("splitting adapters cut a row in parts and leave the rest to the last one")
    func splitting() throws {
        let adapters = splittingRowAdapters(columnCounts: [1, 0, 2])
        #expect(adapters.count == 4)
        let row = try #require(
            try fetch(
                Self.abcd,
                ScopeAdapter(["0": adapters[0], "1": adapters[1], "2": adapters[2], "3": adapters[3]])))
        #expect(row.scopes["0"] == ["a": 0])
        #expect(row.scopes["1"] == [:])
        #expect(row.scopes["2"] == ["b": 1, "c": 2])
        #expect(row.scopes["3"] == ["d": 3])
    }

    @Test(
        "an adapted request keeps earlier scopes, and its adapter sees only the columns shown before"
    )
    func chaining() throws {
        try DatabaseQueue().read { db throws in
            let first = SuffixRowAdapter(fromIndex: 1).addingScopes(["x": RangeRowAdapter(0..<1)])
            let request = SQLRequest<Row>(sql: Self.abcd, adapter: first).adapted { _ in
                ScopeAdapter(base: RangeRowAdapter(1..<2), scopes: ["y": RangeRowAdapter(0..<1)])
            }
            let row = try #require(try request.fetchOne(db))
            #expect(row.unscoped == ["c": 2])
            #expect(row.scopes["x"] == ["a": 0])
            #expect(row.scopes["y"] == ["b": 1])
        }
    }

    @Test(
        "an adapter changes no conversion: rows of a cursor convert like SQLite, copies convert like values",
        arguments: [
            nil, RangeRowAdapter(0..<3), SuffixRowAdapter(fromIndex: 0),
            ColumnMapping(["a": "a", "b": "b", "c": "c"]),
            ColumnMapping(["b": "a", "a": "b", "c": "c"]), RenameColumnAdapter { $0 },
            ScopeAdapter(["s": RangeRowAdapter(0..<3)]),
        ] as [(any RowAdapter)?])
    func conversions(adapter: (any RowAdapter)?) throws {
        struct Columns: Decodable, FetchableRecord {
            let a: Int
            let b: Int?
        }
        try DatabaseQueue().inDatabase { db throws in
            let rows = try Row.fetchCursor(
                db, sql: "SELECT '12 small' AS a, '12 large' AS b, NULL AS c", adapter: adapter)
            let row = try #require(try rows.next())
            for row in [row] + row.scopes.map(\.row) {
                #expect(try row.decode(Int.self, forColumn: "a") == 12)
                #expect(row["b"] == 12 as Int && row["c"] as Int? == nil && row[0] == 12 as Int)
                let columns = try Columns(row: row)
                #expect(columns.a == 12 && columns.b == 12)
                let copy = row.copy()
                #expect(throws: RowDecodingError.self) { try copy.decode(Int.self, forColumn: "a") }
                #expect(throws: RowDecodingError.self) { try copy.decode(Int.self, atIndex: 1) }
                #expect(copy["c"] as Int? == nil && (copy["a"] as String).hasPrefix("12 "))
                #expect(throws: RowDecodingError.self) { try Columns(row: copy) }
            }
        }
    }

    @Test("rows of a cursor are adapted at each step, and copies do not change")
    func cursor() throws {
        try DatabaseQueue().read { db throws in
            let cursor = try Row.fetchCursor(
                db, sql: "SELECT 1 AS a, 2 AS b UNION ALL SELECT 3, 4",
                adapter: ScopeAdapter(["s": SuffixRowAdapter(fromIndex: 1)]))
            let first = try cursor.next()?.copy()
            let second = try #require(try cursor.next())
            #expect(first?.scopes["s"] == ["b": 2])
            #expect(second.scopes["s"] == ["b": 4])
            #expect(second["b"] as Int == 4)
        }
    }
}
