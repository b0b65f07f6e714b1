import Coffer
import CofferTestSupport
import Foundation

/// Commits three rows after a rollback to a savepoint, and exits as if it had been killed.
enum Lose {
    static func run(path: String) throws {
        var configuration = Configuration.rawKeyed
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = 10") }
        let pool = try DatabasePool(path: path, configuration: configuration)
        try pool.write { db in
            try db.inSavepoint {
                try add(db, 2000)
                return .rollback
            }
            try add(db, 2)
        }
        try pool.write { try add($0, 1) }
        kill(getpid(), SIGKILL)
    }

    private static func add(_ db: Database, _ count: Int) throws {
        try db.execute(
            sql: """
                INSERT INTO item(word, data)
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ?)
                SELECT hex(randomblob(20)), randomblob(100) FROM n
                """, arguments: [count])
    }
}
