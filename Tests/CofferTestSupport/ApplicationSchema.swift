public import Coffer
import Foundation

/// Schemas that need collations and functions that only an application provides.
public enum ApplicationSchema: String, CaseIterable, Sendable {
    case key, descendingKey, compoundKey, constrainedKey
    case column, index, descendingIndex, mixedIndex, uniqueConstraint
    case check, virtualColumn, storedColumn, storedColumnWithoutKey, indexedColumn
    case expressionIndex, partialIndex, viewAndTrigger
    case tokenizer, oldTokenizer, module

    /// The statements that create the schema. Rows are inserted into `t (k, v)`, unless the schema has its
    /// own statement for that.
    public var definition: String {
        switch self {
        case .key: "CREATE TABLE t (k TEXT COLLATE LOCALIZED PRIMARY KEY, v) WITHOUT ROWID"
        case .descendingKey:
            "CREATE TABLE t (k TEXT COLLATE LOCALIZED, v, PRIMARY KEY (k DESC)) WITHOUT ROWID"
        case .compoundKey:
            "CREATE TABLE t (k TEXT COLLATE LOCALIZED, v, PRIMARY KEY (v, k)) WITHOUT ROWID"
        case .constrainedKey:
            "CREATE TABLE t (k TEXT COLLATE LOCALIZED PRIMARY KEY, v, UNIQUE (v, k)) WITHOUT ROWID"
        case .column: "CREATE TABLE t (k TEXT COLLATE LOCALIZED, v)"
        case .index: "CREATE TABLE t (k TEXT COLLATE LOCALIZED, v); CREATE INDEX i ON t (k)"
        case .descendingIndex: "CREATE TABLE t (k TEXT, v); CREATE INDEX i ON t (k COLLATE LOCALIZED DESC, v)"
        case .mixedIndex:
            "CREATE TABLE t (k TEXT, v); "
                + "CREATE INDEX i ON t (k COLLATE LOCALIZED, v COLLATE LOCALIZED DESC)"
        case .uniqueConstraint: "CREATE TABLE t (k TEXT COLLATE LOCALIZED UNIQUE, v)"
        case .check: "CREATE TABLE t (k TEXT CHECK (f(k) IS NOT 5), v)"
        case .virtualColumn: "CREATE TABLE t (k TEXT, v, g AS (f(k)))"
        case .storedColumn: "CREATE TABLE t (k TEXT, v INTEGER PRIMARY KEY, g AS (f(k)) STORED)"
        case .storedColumnWithoutKey: "CREATE TABLE t (k TEXT, v, g AS (f(k)) STORED)"
        case .indexedColumn:
            "CREATE TABLE t (k TEXT, v INTEGER PRIMARY KEY, g AS (f(k))); CREATE INDEX i ON t (g)"
        case .expressionIndex: "CREATE TABLE t (k TEXT, v); CREATE INDEX i ON t (f(k))"
        case .partialIndex: "CREATE TABLE t (k TEXT, v); CREATE INDEX i ON t (v) WHERE f(k) > 'b'"
        case .viewAndTrigger:
            "CREATE TABLE t (k TEXT, v); CREATE VIEW w AS SELECT f(k) FROM t ORDER BY k COLLATE LOCALIZED; "
                + "CREATE TRIGGER g AFTER INSERT ON t WHEN f(new.k) = 'none' BEGIN SELECT f(1); END"
        case .tokenizer: "CREATE VIRTUAL TABLE t USING fts5 (k, v, tokenize = 'ascii')"
        case .oldTokenizer: "CREATE VIRTUAL TABLE t USING fts4 (k, v, tokenize=simple)"
        case .module: "CREATE VIRTUAL TABLE t USING fts5 (k, v)"
        }
    }

    /// The replacement in the schema that makes it depend on the application.
    private var change: (from: String, to: String)? {
        switch self {
        case .tokenizer: ("ascii", "application")
        case .oldTokenizer: ("simple", "application")
        case .module: ("fts5", "application")
        default: nil
        }
    }

    /// The error of a copy by rows, or nil if it works without the application.
    public var missing: String? {
        switch self {
        case .mixedIndex: "no such collation sequence: LOCALIZED"
        case .storedColumnWithoutKey: "no such function: f"
        default: nil
        }
    }

    /// The definitions that a script of the schema needs.
    public var needs: [String] {
        switch self {
        case .key, .descendingKey, .compoundKey, .constrainedKey, .column, .index, .uniqueConstraint:
            ["the collation LOCALIZED (table t)"]
        case .descendingIndex, .mixedIndex: ["the collation LOCALIZED (index i)"]
        case .check, .virtualColumn, .storedColumn, .storedColumnWithoutKey, .indexedColumn:
            ["the function f (table t)"]
        case .expressionIndex, .partialIndex: ["the function f (index i)"]
        case .viewAndTrigger, .tokenizer, .oldTokenizer, .module: []
        }
    }

    /// Ignores case and sorts longer texts first, an order that no built-in collation has.
    public static let collation = DatabaseCollation("LOCALIZED") { left, right in
        let (left, right) = (left.lowercased(), right.lowercased())
        if left.count != right.count {
            return left.count > right.count ? .orderedAscending : .orderedDescending
        }
        return left == right ? .orderedSame : left < right ? .orderedAscending : .orderedDescending
    }

    public static let function = DatabaseFunction("f", argumentCount: 1, pure: true) { values in
        String.fromDatabaseValue(values[0]).map { String($0.reversed()) }
    }

    /// Returns the configuration of the application.
    public static func configuration(_ form: FileForm) -> Configuration {
        var configuration = form.configuration
        configuration.prepareDatabase { db in
            db.add(collation: collation)
            db.add(function: function)
        }
        return configuration
    }

    /// Makes a file with 300 rows, with gaps in the row IDs.
    public func make(_ path: String, _ form: FileForm) throws {
        let queue = try DatabaseQueue(path: path, configuration: ApplicationSchema.configuration(form))
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "\(definition); CREATE TABLE other (a); INSERT INTO other VALUES (1), (2)")
            try db.inTransaction {
                for number in 1...300 {
                    let text = String((number * 7919) % 1000, radix: number.isMultiple(of: 2) ? 2 : 30)
                    try db.execute(
                        sql: "INSERT OR IGNORE INTO t (k, v) VALUES (?, ?)",
                        arguments: [number.isMultiple(of: 3) ? text.uppercased() : text, number])
                }
                if !["key", "Key"].contains(where: rawValue.contains), change == nil {
                    try db.execute(sql: "DELETE FROM t WHERE rowid % 10 = 3")
                }
                return .commit
            }
            if let change {
                try db.execute(sql: "PRAGMA writable_schema = 1")
                try db.execute(
                    sql: "UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE name = 't'",
                    arguments: [change.from, change.to])
                try db.execute(sql: "PRAGMA writable_schema = 0")
            }
        }
        try queue.close()
    }

    /// Returns the content that an application sees: all rows in several orders with their row IDs, and the
    /// result of a full check.
    public func content(_ path: String, _ form: FileForm) throws -> [String] {
        var configuration = ApplicationSchema.configuration(form)
        configuration.readonly = true
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        return try queue.read { db in
            var result = try String.fetchAll(
                db, sql: "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")
            guard change == nil else {
                for table in try String.fetchAll(
                    db, sql: "SELECT name FROM sqlite_master WHERE name LIKE 't/_%' ESCAPE '/' ORDER BY name")
                {
                    result += try Row.fetchAll(db, sql: "SELECT * FROM \(table)").map(\.description)
                }
                return result
            }
            let rowID = try db.primaryKey("t").tableHasRowID ? "rowid" : "1"
            for order in ["v", "k COLLATE LOCALIZED", "f(k)"] {
                result += try Row.fetchAll(db, sql: "SELECT \(rowID), * FROM t ORDER BY \(order), v").map(
                    \.description)
            }
            for key in try String.fetchAll(db, sql: "SELECT k FROM t LIMIT 20") {
                result += try String.fetchAll(
                    db, sql: "SELECT v FROM t WHERE k = ?1 COLLATE LOCALIZED OR f(k) = f(?1) ORDER BY v",
                    arguments: [key])
            }
            return try result + String.fetchAll(db, sql: "PRAGMA integrity_check")
        }
    }
}
