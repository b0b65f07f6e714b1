import Foundation

private struct Both: Decodable, FetchableRecord {
    var vault: Vault
    var bonus: Int
}

extension Comparison {
    static func rows(_ area: Area) {
        area.call("all") { db in try Row.fetchAll(db, sql: "SELECT * FROM item ORDER BY id") }
        area.call("one") { db in try Row.fetchOne(db, sql: "SELECT * FROM loose") }
        area.call("set") { db in try Row.fetchSet(db, sql: "SELECT 1 AS a UNION ALL SELECT 1") }
        area.call("cursor.copy") { db in
            let cursor = try Row.fetchCursor(db, sql: "SELECT id, title FROM item ORDER BY id")
            var rows: [Row] = []
            while let row = try cursor.next() { rows.append(row.copy()) }
            return rows
        }
        area.value("literal") { ["a": 1, "b": nil, "A": "x"] as Row }
        area.value("dictionary") { Row(["a": 1])["a"] as Int? }
        area.value("names") { Array(Row(["x": 1]).columnNames) }
        area.call("access") { db in
            let row = try Row.fetchOne(
                db,
                sql:
                    "SELECT id, title, weight, size AS s, bytes FROM item JOIN attachment ON itemId = item.id"
            )!
            let id: Int64 = row["ID"]
            let title: String? = row[1]
            let none: Int? = row["none"]
            return [
                "\(id)", "\(title ?? "-")", "\(none as Any)", "\(row["weight"] as Double)",
                Text.text(of: row["bytes"] as Data?),
            ]
        }
        area.call("any") { db in
            let row = try Row.fetchOne(db, sql: "SELECT 1 AS a, 'x' AS b, NULL AS c")!
            return [
                "\(row["a"] as Any)", "\(row["b"] as Any)", "\(row["c"] as Any)", "\(row["d"] as Any)",
                "\(row[1] as Any)",
            ]
        }
        area.call("duplicates") { db in
            let row = try Row.fetchOne(db, sql: "SELECT 1 AS a, 2 AS a, 3 AS A")!
            return [
                "\(row["a"] as Int)", "\(row.count)", "\(Array(row.columnNames))", "\(row.hasColumn("A"))",
                "\(row.hasColumn("b"))",
            ]
        }
        area.call("values") { db in
            try Array(Row.fetchOne(db, sql: "SELECT * FROM loose LIMIT 1 OFFSET 2")!.databaseValues).map(
                \.description)
        }
        area.call("hasNull") { db in
            try Row.fetchAll(db, sql: "SELECT * FROM loose").map {
                "\($0.containsNonNullValue) \($0.hasNull(atIndex: 0))"
            }
        }
        area.call("collection") { db in
            let row = try Row.fetchOne(db, sql: "SELECT 1 AS a, 'x' AS b")!
            return row.map { "\($0.0)=\($0.1)" } + ["\(row.first!.0)", "\(row.reversed().map(\.0))"]
        }
        area.call("equal") { db in
            let first = try Row.fetchOne(db, sql: "SELECT 1 AS a, 2 AS b")!,
                other = try Row.fetchOne(db, sql: "SELECT 1 AS a, 2 AS B")!
            return [first == ["a": 1, "b": 2], first == other, first == ["b": 2, "a": 1]]
        }
        area.call("coalesce") { db in
            let row = try Row.fetchOne(db, sql: "SELECT NULL AS a, 2 AS b")!
            return [row.coalesce(["a", "b"]) as Int?, row.coalesce(["a"]) as Int?]
        }
        area.call("decode") { db in
            let row = try Row.fetchOne(db, sql: "SELECT '12' AS n, NULL AS z")!
            return try [
                row.decode(Int?.self, forColumn: "z") as Any, row.decode(String.self, forColumn: "n") as Any,
            ].map {
                Text.text(of: $0)
            }
        }
        area.call("decode.null") { db in
            try Row.fetchOne(db, sql: "SELECT NULL AS z")!.decode(Int.self, forColumn: "z")
        }
        area.call("decode.bad") { db in
            try Row.fetchOne(db, sql: "SELECT 'abc' AS n, 2")!.decode(Int.self, forColumn: "n")
        }
        area.call("decode.missing") { db in
            try Row.fetchOne(db, sql: "SELECT 1 AS n")!.decode(Int.self, forColumn: "m")
        }
        area.call("unsafeData") { db in
            try Row.fetchOne(db, sql: "SELECT x'0102' AS a, NULL AS b")!.withUnsafeData(named: "a") {
                Text.text(of: $0 as Any)
            }
        }
        area.call("description") { db in
            let row = try Row.fetchOne(
                db, sql: "SELECT 1.5 AS a, 'it''s' AS b, x'00ff' AS c, NULL AS d, '\n' AS e")!
            return [row.description, row.debugDescription]
        }

        // Adapters
        let numbers = "SELECT 0 AS a, 1 AS b, 2 AS c, 3 AS d"
        func adapted(_ name: String, _ adapter: any RowAdapter) {
            area.call("adapter." + name) { db in
                let row = try Row.fetchOne(db, sql: numbers, adapter: adapter)!
                return row.debugDescription.components(separatedBy: "\n") + [
                    "\(row.unadapted)", "\(row.scopes.names.sorted())",
                ]
            }
        }
        adapted("suffix", SuffixRowAdapter(fromIndex: 2))
        adapted("range", RangeRowAdapter(1..<3))
        adapted("range.closed", RangeRowAdapter(1...3))
        adapted("mapping", ColumnMapping(["x": "b", "y": "d"]))
        adapted("renaming", RenameColumnAdapter { $0 + "_" })
        adapted("empty", EmptyRowAdapter())
        adapted(
            "scopes", ScopeAdapter(["left": RangeRowAdapter(0..<2), "right": SuffixRowAdapter(fromIndex: 2)]))
        adapted(
            "scopes.nested",
            SuffixRowAdapter(fromIndex: 1).addingScopes(["s": ScopeAdapter(["t": RangeRowAdapter(0..<1)])]))
        area.call("adapter.mapping.missing") { db in
            try Row.fetchAll(db, sql: numbers, adapter: ColumnMapping(["x": "nope"]))
        }
        area.call("adapter.split") { db in
            let adapters = splittingRowAdapters(columnCounts: [1, 2])
            return try adapters.map { try Row.fetchOne(db, sql: numbers, adapter: $0)!.description }
        }
        area.call("adapter.value") { db in
            try Int.fetchAll(db, sql: numbers, adapter: SuffixRowAdapter(fromIndex: 3))
        }
        area.call("adapter.record") { db in
            try Owner.fetchAll(
                db, sql: "SELECT 9 AS skip, owner.* FROM owner ORDER BY id",
                adapter: SuffixRowAdapter(fromIndex: 1))
        }
        area.call("scopes.access") { db in
            let row = try Row.fetchOne(
                db, sql: numbers, adapter: ScopeAdapter(["s": ScopeAdapter(["t": RangeRowAdapter(3..<4)])]))!
            return [
                "\(row.scopes["s"]!)", "\(row.scopesTree["t"]!)", "\(row.scopesTree.names.sorted())",
                "\(row.scopes["t"] as Any)",
                "\(row.unscoped)",
            ]
        }
        area.call("scopes.decode") { db in
            let row = try Row.fetchOne(
                db,
                sql: "SELECT 1, item.*, vault.* FROM item JOIN vault ON vault.id = vaultId ORDER BY item.id",
                adapter: ScopeAdapter([
                    "item": RangeRowAdapter(1..<9), "vault": SuffixRowAdapter(fromIndex: 9),
                    "none": EmptyRowAdapter(),
                ]))!
            let item: Item = row["item"], vault: Vault = row["vault"], none: Vault? = row["none"]
            return ["\(item.title)", "\(vault)", "\(none as Any)"]
        }
        area.call("scopes.missing") { db in
            try Row.fetchOne(db, sql: numbers)!.decode(Vault.self, forKey: "vault")
        }
        area.call("nested.codable") { db in
            return try Both.fetchAll(db, sql: "SELECT vault.*, 7 AS bonus FROM vault ORDER BY id LIMIT 2")
        }
    }
}
