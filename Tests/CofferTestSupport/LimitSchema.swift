public import Coffer

/// A database at the limits of SQLite: <https://www.sqlite.org/limits.html>.
public enum LimitSchema {
    /// The maximum number of columns in a table.
    public static let columnCount = 2000

    private static let columns = (0..<columnCount).map { "c\($0)" }
    private static let wideTables = ["wide", "wide_indexed", "wide_key", "wide_clustered", "wide_generated"]
    private static let longName = String(repeating: "n\"é", count: 5000)

    private static func list(_ columns: some Sequence<String>) -> String { columns.joined(separator: ", ") }

    private static var definitions: [String] {
        let sum = (0..<900).map { _ in "1" }.joined(separator: " + ")
        let selects = (1...400).map { "SELECT \($0)" }.joined(separator: " UNION ALL ")
        let name = longName.replacing("\"", with: "\"\"")
        return [
            "CREATE TABLE wide (\(list(columns)))",
            "CREATE TABLE wide_indexed (\(list(columns)), UNIQUE (c7))",
            "CREATE INDEX wide_index ON wide_indexed (\(list(columns)))",
            "CREATE TABLE wide_key (c0 INTEGER PRIMARY KEY, \(list(columns.dropFirst())))",
            "CREATE TABLE wide_clustered (\(list(columns)), PRIMARY KEY (\(list(columns.prefix(1500))))) "
                + "WITHOUT ROWID",
            "CREATE TABLE wide_generated (\(list(columns.dropLast())), c1999 AS (c0 + \(sum)) STORED)",
            "CREATE TABLE deep (a CHECK (a + \(sum) > 0), b AS (a + \(sum)))",
            "CREATE INDEX deep_index ON deep (a + \(sum)) WHERE a + \(sum) > 10",
            "CREATE VIEW compound AS \(selects)",
            "CREATE VIEW long AS SELECT '\(String(repeating: "long ", count: 200_000))'",
            "CREATE TABLE \"\(name)\" (\"\(name)1\" TEXT, \"\(name)2\" INTEGER PRIMARY KEY)",
            "CREATE INDEX \"\(name)i\" ON \"\(name)\" (\"\(name)1\")",
            "CREATE TABLE large (a)",
        ]
    }

    public static func make(_ db: Database) throws {
        for definition in definitions { try db.execute(sql: definition) }
        let marks = columns.dropLast().map { _ in "?" }.joined(separator: ", ")
        for table in wideTables {
            // A salvage inserts 32 rows at a time.
            for row in 1...(table == "wide" ? 40 : 4) {
                // The row IDs are not consecutive.
                let id = table.hasPrefix("wide_key") || table == "wide_clustered" ? "" : "rowid, "
                let values = (0..<columnCount - 1).map { $0 == 0 ? row * 7 : row * 100_000 + $0 }
                try db.execute(
                    sql: "INSERT INTO \(table) (\(id)\(list(columns.dropLast()))) "
                        + "VALUES (\(id.isEmpty ? "" : "\(row * 7), ")\(marks))",
                    arguments: StatementArguments(values))
            }
        }
        try db.execute(sql: "INSERT INTO deep (a) VALUES (1), (2), (NULL)")
        try db.execute(
            sql: "INSERT INTO \"\(longName.replacing("\"", with: "\"\""))\" VALUES ('x', 3), ('y', 8)")
        try db.execute(sql: "INSERT INTO large VALUES (randomblob(3000000)), (hex(randomblob(1000000)))")
    }

    /// Returns the content of the database.
    public static func content(_ db: Database) throws -> [String] {
        var result = try String.fetchAll(
            db, sql: "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")
        for table in wideTables {
            result += try Row.fetchAll(db, sql: "SELECT * FROM \(table) ORDER BY c0").map(\.description)
            if table != "wide_clustered" {
                result += try String.fetchAll(db, sql: "SELECT rowid FROM \(table) ORDER BY c0")
            }
        }
        result += try Row.fetchAll(db, sql: "SELECT rowid, * FROM deep").map(\.description)
        result += try Row.fetchAll(
            db, sql: "SELECT * FROM \"\(longName.replacing("\"", with: "\"\""))\" ORDER BY 2"
        ).map(\.description)
        result += try String.fetchAll(db, sql: "SELECT count(*) FROM compound")
        result += try String.fetchAll(db, sql: "SELECT typeof(a) || hex(a) FROM large")
        return try result + String.fetchAll(db, sql: "PRAGMA integrity_check")
    }
}
