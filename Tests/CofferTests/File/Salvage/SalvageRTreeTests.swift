import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

@Suite("Salvaging R-Trees")
struct SalvageRTreeTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private static let key = DatabaseKey.rawKey(ShellFile.key)

    private static let definitions = [
        "rtree(id, x0, x1, y0, y1, +name, +weight)", "rtree(id, x0, x1, y0, y1)",
        "\"rtree_i32\" (id, x0, x1)",
    ]

    /// A tree of three levels: a root, interior nodes, and nodes with the rows.
    private static func script(_ definition: String) -> String {
        let values =
            switch definition {
            case definitions[0]: "i % 97, i % 97 + 2.5, i % 89, i % 89 + 0.125, 'box ' || i, x'00ff'"
            case definitions[1]: "i % 97, i % 97 + 2.5, i % 89, i % 89 + 0.125"
            default: "i % 97 - 40, i % 97 + 2"
            }
        return """
            CREATE TABLE item (title); INSERT INTO item VALUES ('ring');
            CREATE VIRTUAL TABLE boxes USING  \(definition);
            WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
            INSERT INTO boxes SELECT 7 * i, \(values) FROM n;

            """
    }

    private static let rows = "SELECT * FROM boxes;"

    private func result(_ sql: String) throws -> [String] {
        try SQLCipherShell(path: directory.path("new.db"), rawKey: ShellFile.key).run(sql)
    }

    private func file(_ definition: String) throws -> ShellFile {
        try remove("a.db")
        return try ShellFile(
            directory.path("a.db"), format: .sqlcipher4, script: SalvageRTreeTests.script(definition))
    }

    private func remove(_ name: String) throws {
        guard directory.fileNames().contains(name) else { return }
        try FileManager.default.removeItem(atPath: directory.path(name))
    }

    private func salvage(_ file: ShellFile) throws -> DatabaseFile.Salvage {
        try remove("new.db")
        let salvage = try DatabaseFile(path: file.path).salvage(
            key: SalvageRTreeTests.key, to: directory.path("new.db"))
        #expect(
            try result("SELECT * FROM item; PRAGMA integrity_check; SELECT rtreecheck('boxes')")
                == ["ring", "ok", "ok"], "\(salvage)")
        return salvage
    }

    @Test(
        "if any page of its tables is damaged, an R-Tree has each complete row, and the rest is kept as lost rows",
        arguments: definitions)
    func eachPage(definition: String) throws {
        let file = try file(definition)
        let before = Set(try file.shell.run(SalvageRTreeTests.rows))
        let ids = Set(try file.shell.run("SELECT id FROM boxes"))
        #expect(before.count == 3000)
        let kinds = try file.shell.run(
            "SELECT pageno, name || ' ' || pagetype FROM dbstat WHERE name LIKE 'boxes%'"
        ).map { $0.split(separator: "|").map(String.init) }
        let whole = try Data(contentsOf: URL(fileURLWithPath: file.path))
        var lostCounts: [String: Int] = [:]
        for kind in kinds {
            let page = try #require(Int(kind[0]))
            // The short run covers each root with its first descendants, and some of the rest.
            if !Nightly.isOn, lostCounts[kind[1]] != nil, !page.isMultiple(of: 7) { continue }
            var damaged = whole
            damaged[(page - 1) * 4096 + 77] ^= 1
            try damaged.write(to: URL(fileURLWithPath: file.path))
            let salvage = try salvage(file)
            #expect(
                !salvage.isComplete && salvage.problems.contains { $0.contains("boxes was rebuilt") },
                "\(page) \(kind[1]): \(salvage)")
            let after = Set(try result(SalvageRTreeTests.rows))
            #expect(after.isSubset(of: before), "\(page) \(kind[1])")
            let lost = before.count - after.count
            lostCounts[kind[1], default: 0] += lost
            // At most as many rows as fit on a page of any of the tables.
            #expect(lost <= 350, "\(page) \(kind[1])")
            let counts = salvage.tables.filter { $0.name == "boxes_rowid" }.map(\.rowCount)
            #expect(counts == [after.count], "\(page) \(kind[1]): \(salvage)")
            guard lost > 0 else {
                #expect(salvage.lostRowCount == 0, "\(page) \(kind[1]): \(salvage)")
                continue
            }
            #expect(salvage.lostRowCount == lost, "\(page) \(kind[1]): \(salvage)")
            let name = try result("SELECT name FROM sqlite_master WHERE name LIKE 'lost_and_found%'")[0]
            let found = try result(
                "SELECT id FROM boxes UNION SELECT row_id FROM \(name) WHERE table_name = 'boxes'")
            #expect(Set(found) == ids, "\(page) \(kind[1])")
            let missing = kind[1].hasPrefix("boxes_node") ? "c0" : "c5"
            let reason =
                kind[1].hasPrefix("boxes_node")
                ? "its coordinates are lost" : "the values of its auxiliary columns are lost"
            #expect(
                try result("SELECT DISTINCT reason, \(missing) IS NULL FROM \(name)") == ["\(reason)|1"],
                "\(page) \(kind[1])")
        }
        // Without auxiliary columns, a row is completely in its node, and the pages that lead to it are
        // dispensable.
        for (kind, lost) in lostCounts {
            let hasRows =
                kind == "boxes_node leaf"
                || kind == "boxes_rowid leaf" && definition == SalvageRTreeTests.definitions[0]
            #expect((lost > 0) == hasRows, "\(kind): \(lost)")
        }
        #expect(lostCounts.count >= 5, "\(lostCounts)")
    }

    /// Salvages a tree after its tables were overwritten, by an attacker with the key or by accident.
    private func salvage(_ definition: String, changed change: String) throws -> (
        salvage: DatabaseFile.Salvage, before: Set<String>, after: [String]
    ) {
        let file = try file(definition)
        let before = Set(try file.shell.run(SalvageRTreeTests.rows))
        _ = try file.shell.run(".dbconfig defensive off\n" + change)
        let salvage = try salvage(file)
        return (salvage, before, try result(SalvageRTreeTests.rows))
    }

    @Test(
        "one of the paths to the nodes of an R-Tree is enough to salvage all rows",
        arguments: [
            "DELETE FROM boxes_node WHERE nodeno = 1;", "DELETE FROM boxes_parent;",
            "UPDATE boxes_rowid SET nodeno = 'x';", "UPDATE boxes_rowid SET nodeno = nodeno + 1;",
            "DELETE FROM boxes_node WHERE nodeno = 1; DELETE FROM boxes_parent;",
            // The root and most row assignments are lost. The parents lead to other nodes, which contain the
            // rest.
            """
            DELETE FROM boxes_node WHERE nodeno = 1;
            UPDATE boxes_rowid SET nodeno = NULL WHERE nodeno <> (SELECT min(nodeno) FROM boxes_rowid);
            """,
            "UPDATE boxes_parent SET parentnode = nodeno;",
            "UPDATE boxes_node SET data = CAST(x'ffff' || substr(data, 3) AS BLOB) WHERE nodeno = 1;",
        ])
    func ways(change: String) throws {
        for definition in SalvageRTreeTests.definitions {
            let found = try salvage(definition, changed: change)
            #expect(
                found.after.count == 3000 && Set(found.after) == found.before,
                "\(definition): \(found.salvage)")
            // For an interior node without parents, nothing shows that it has no rows.
            let mayBeRows = change.contains("DELETE FROM boxes_node") && change.contains("boxes_parent")
            #expect((found.salvage.lostRowCount > 0) == mayBeRows, "\(definition): \(found.salvage)")
        }
    }

    @Test("nodes of unknown kind are not rows, and are kept as lost rows")
    func unknownNodes() throws {
        let found = try salvage(
            SalvageRTreeTests.definitions[1],
            changed: "DELETE FROM boxes_node WHERE nodeno = 1; DELETE FROM boxes_parent; "
                + "DELETE FROM boxes_rowid;")
        #expect(found.after.isEmpty && found.salvage.lostRowCount > 3000, "\(found.salvage)")
        #expect(
            try result(
                "SELECT reason, min(c1 - c0), count(*) >= 3000 FROM lost_and_found_4 WHERE row_id % 7 = 0"
            ) == ["it may be a row or a part of the tree|2.5|1"])
    }

    @Test(
        "a row whose auxiliary values are lost, or whose coordinates are invalid, is kept as a lost row"
    )
    func partsOfRows() throws {
        let found = try salvage(
            SalvageRTreeTests.definitions[0],
            changed: """
                DELETE FROM boxes_rowid WHERE rowid % 2 = 0;
                UPDATE boxes_node SET data = CAST(substr(data, 1, 12) || x'7fc00000' || substr(data, 17) \
                AS BLOB) WHERE nodeno = (SELECT nodeno FROM boxes_rowid WHERE rowid = 7);
                UPDATE boxes_node SET data = CAST(substr(data, 1, 12) || x'7f000000' || substr(data, 17) \
                AS BLOB) WHERE nodeno = (SELECT nodeno FROM boxes_rowid WHERE rowid = 3507);

                """)
        #expect(Set(found.after).isSubset(of: found.before), "\(found.salvage)")
        let reasons = Set(try result("SELECT DISTINCT reason FROM lost_and_found_6"))
        let expected: Set = [
            "the values of its auxiliary columns are lost", "a coordinate is not a number",
            "rtree constraint failed: boxes.(x0<=x1)",
        ]
        #expect(reasons.isSubset(of: expected) && reasons.count >= 2, "\(reasons)")
        #expect(found.after.count + found.salvage.lostRowCount == 3000, "\(found.salvage)")
        #expect(
            try result(
                "SELECT count(*) FROM lost_and_found_6 WHERE row_id % 2 = 0 AND c0 + 2.5 = c1 AND c4 IS NULL")
                != ["0"])
    }

    /// Regardless of the nodes' content, the work ends and produces an intact file.
    @Test(
        "cyclic, oversized or empty nodes of an R-Tree affect no other table",
        arguments: [
            "UPDATE boxes_node SET data = (SELECT data FROM boxes_node WHERE nodeno = 1);",
            "UPDATE boxes_node SET data = CAST(x'0028ffff' || substr(data, 5) AS BLOB);",
            "UPDATE boxes_node SET data = zeroblob(nodeno % 5);", "UPDATE boxes_node SET data = 'text';",
            "UPDATE boxes_node SET data = zeroblob(100000);",
            "UPDATE boxes_parent SET parentnode = nodeno; DELETE FROM boxes_node WHERE nodeno = 1;",
            "UPDATE boxes_rowid SET nodeno = 1; DELETE FROM boxes_node WHERE nodeno = 1;",
            "DROP TABLE boxes_node;", "DROP TABLE boxes_rowid; CREATE TABLE boxes_rowid (a);",
            "DROP TABLE boxes_rowid; CREATE VIEW boxes_rowid AS SELECT 1 AS a;",
        ])
    func forgedNodes(change: String) throws {
        for definition in SalvageRTreeTests.definitions {
            let file = try file(definition)
            _ = try file.shell.run(".dbconfig defensive off\n" + change)
            try remove("new.db")
            let salvage = try DatabaseFile(path: file.path).salvage(
                key: SalvageRTreeTests.key, to: directory.path("new.db"))
            #expect(!salvage.isComplete, "\(definition): \(salvage)")
            #expect(salvage.problems.contains { $0.contains("boxes") }, "\(definition): \(salvage)")
            #expect(
                try result("SELECT * FROM item; PRAGMA integrity_check;") == ["ring", "ok"],
                "\(definition): \(salvage)")
        }
    }
}
