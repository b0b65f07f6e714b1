import Coffer
import CofferTestSupport

/// Runs every operation for which SQLite may create temporary files: sorts, temporary tables, VACUUM,
/// indexes, full-text search, statement journals, and transactions that exceed the page cache.
enum Spill {
    static func run(path: String, marker: String, isEncrypted: Bool) throws {
        for access in Access.allCases {
            let file = "\(path)-\(access)"
            var configuration = isEncrypted ? Configuration.rawKeyed : Configuration()
            configuration.allowsPlaintext = !isEncrypted
            if !isEncrypted {
                configuration.prepareDatabase { try $0.execute(sql: "PRAGMA temp_store = FILE") }
            }
            configuration.pageCacheSize = 64 * 1024
            let writer: any DatabaseWriter =
                switch access {
                case .queue: try DatabaseQueue(path: file, configuration: configuration)
                case .pool: try DatabasePool(path: file, configuration: configuration)
                }
            try run(writer, marker: marker)
        }
    }

    private static func run(_ writer: any DatabaseWriter, marker: String) throws {
        try writer.write { db in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b TEXT)")
            // A big transaction, far larger than the page cache.
            try db.execute(
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000)
                    INSERT INTO t SELECT i, ? || ' ' || hex(randomblob(50)) || i, ? || i FROM n
                    """, arguments: [marker, marker])
            try db.execute(sql: "CREATE INDEX t_a ON t (a)")
            try db.execute(sql: "CREATE VIRTUAL TABLE f USING fts5(a)")
            try db.execute(sql: "INSERT INTO f SELECT a FROM t LIMIT 500")
            try db.execute(sql: "INSERT INTO f(f) VALUES ('optimize')")
        }
        try writer.write { db in
            // A statement that may fail halfway needs a statement journal.
            try db.execute(sql: "CREATE UNIQUE INDEX t_b ON t (b)")
            try? db.execute(
                sql:
                    "UPDATE t SET b = CASE WHEN id = 999 THEN (SELECT b FROM t WHERE id = 1) ELSE b || 'x' END"
            )
            try db.execute(sql: "SAVEPOINT s")
            try db.execute(sql: "UPDATE t SET a = a || 'y'")
            try db.execute(sql: "ROLLBACK TO s; RELEASE s")
        }
        try writer.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA temp.cache_size = -64")
            try db.execute(
                sql:
                    "CREATE TEMP TABLE m AS SELECT * FROM t; CREATE INDEX temp.m_a ON m (a); UPDATE m SET a = a || 'z'"
            )
            try db.execute(sql: "VACUUM")
        }
        try writer.read { db in
            // Neither query can use an index, and both are larger than the memory that SQLite allows for a
            // sort.
            let source = """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 12000),
                r(a) AS (SELECT ? || hex(randomblob(100)) FROM n)
                """
            let rows = try Row.fetchCursor(
                db, sql: "\(source) SELECT a FROM r ORDER BY a", arguments: [marker])
            while try rows.next() != nil {}
            let groups = try Row.fetchCursor(
                db, sql: "\(source) SELECT DISTINCT a FROM r", arguments: [marker])
            while try groups.next() != nil {}
        }
        try writer.writeWithoutTransaction { db in
            try db.execute(sql: "BEGIN; UPDATE t SET a = 'w' || a; ROLLBACK; DROP TABLE f; REINDEX; ANALYZE")
        }
    }
}
