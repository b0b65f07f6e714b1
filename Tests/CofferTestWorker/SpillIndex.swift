import Coffer
import CofferTestSupport

/// Runs every operation for which full-text indexes write data, on much more than the page cache holds: with
/// triggers and a tokenizer in Swift, merging, optimizing, rebuilding and searching.
enum SpillIndex {
    /// Folds each word with Swift's strings and adds a synonym.
    private final class Folding: FTS5WrapperTokenizer {
        static let name = "folding"
        let wrappedTokenizer: any FTS5Tokenizer

        init(db: Database, arguments: [String]) throws {
            wrappedTokenizer = try db.makeTokenizer(.unicode61())
        }

        func accept(
            token: String, flags: FTS5TokenFlags, for tokenization: FTS5Tokenization,
            tokenCallback: FTS5WrapperTokenCallback
        ) throws {
            try tokenCallback(token.lowercased(), flags)
            if tokenization.contains(.document) {
                try tokenCallback(token + "synonym", flags.union(.colocated))
            }
        }
    }

    /// - Parameter marker: a single word of ASCII letters and digits.
    static func run(path: String, marker: String, isEncrypted: Bool) throws {
        for access in Access.allCases {
            var configuration = isEncrypted ? Configuration.rawKeyed : Configuration()
            configuration.allowsPlaintext = !isEncrypted
            configuration.prepareDatabase { db throws in
                db.add(tokenizer: Folding.self)
                if !isEncrypted { try db.execute(sql: "PRAGMA temp_store = FILE") }
            }
            configuration.pageCacheSize = 64 * 1024
            let writer: any DatabaseWriter =
                switch access {
                case .queue: try DatabaseQueue(path: "\(path)-\(access)", configuration: configuration)
                case .pool: try DatabasePool(path: "\(path)-\(access)", configuration: configuration)
                }
            try run(writer, marker: marker)
        }
    }

    private static func run(_ writer: any DatabaseWriter, marker: String) throws {
        let tables = ["old", "new", "swift"]
        try writer.write { db in
            try db.execute(sql: "CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT)")
            try db.create(virtualTable: "old", using: FTS4()) { t in
                t.synchronize(withTable: "note"); t.column("body"); t.prefixes = [3]
            }
            try db.create(virtualTable: "new", using: FTS5()) { t in
                t.synchronize(withTable: "note"); t.column("body"); t.prefixes = [3]
            }
            try db.create(virtualTable: "swift", using: FTS5()) { t in
                t.synchronize(withTable: "note")
                t.tokenizer = Folding.tokenizerDescriptor()
                t.column("body")
            }
            // Small segments, so there is much to merge.
            try db.execute(
                sql:
                    "INSERT INTO new(new, rank) VALUES ('pgsz', 64), ('automerge', 2); INSERT INTO swift(swift, rank) VALUES ('crisismerge', 2)"
            )
            try db.execute(
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1500)
                    INSERT INTO note SELECT i, ? || i || ' ' || hex(randomblob(20)) || ' ' || ? || ' ' || ? \
                    || (i % 97) FROM n
                    """, arguments: [marker, marker, marker])
        }
        try writer.write { db in
            try db.execute(
                sql:
                    "UPDATE note SET body = body || ' changed' WHERE id % 4 = 0; DELETE FROM note WHERE id % 5 = 0"
            )
            try db.execute(
                sql:
                    "INSERT INTO new(new, rank) VALUES ('merge', 50); INSERT INTO old(old) VALUES ('merge=50,2')"
            )
            try db.execute(
                sql: "SAVEPOINT s; UPDATE note SET body = body || ' again'; ROLLBACK TO s; RELEASE s")
        }
        for table in tables {
            try writer.write { db in
                try db.execute(sql: "INSERT INTO \(table)(\(table)) VALUES ('optimize')")
                try db.execute(sql: "INSERT INTO \(table)(\(table)) VALUES ('rebuild')")
                try db.execute(sql: "INSERT INTO \(table)(\(table)) VALUES ('optimize')")
                try db.execute(sql: "INSERT INTO \(table)(\(table)) VALUES ('integrity-check')")
            }
        }
        guard let pattern = FTS5Pattern(matchingAllPrefixesIn: marker) else { return }
        try writer.read { db in
            for table in tables {
                let found = Table(table).matching(pattern).select(Column("body")).order(Column("body").desc)
                guard try String.fetchAll(db, found).count == 1200 else {
                    throw DatabaseError(message: "the index of \(table) is wrong")
                }
            }
            let ranked = Table("new").matching(pattern).order(FTS5.bm25(), Column("body"))
            _ = try String.fetchAll(db, ranked.select(FTS5.highlight(Column("body"), from: "[", to: "]")))
            _ = try String.fetchAll(
                db, sql: "SELECT snippet(old) FROM old WHERE old MATCH ? ORDER BY 1", arguments: [pattern])
        }
        try writer.writeWithoutTransaction { db in
            try db.execute(
                sql:
                    "CREATE VIRTUAL TABLE temp.words USING fts5(body); INSERT INTO temp.words SELECT body FROM note; VACUUM"
            )
        }
    }
}
