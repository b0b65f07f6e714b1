import Coffer
import CofferTestSupport

/// Runs operations that engines with a fault perform wrongly, and prints the results.
enum Faults {
    static func run() throws {
        let queue = try DatabaseQueue(configuration: .rawKeyed)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE number (x INTEGER);
                    INSERT INTO number VALUES (1), (1), (2);
                    CREATE VIEW twice AS SELECT DISTINCT x FROM number UNION ALL SELECT DISTINCT x FROM number;
                    CREATE TABLE attachment (note BLOB, data BLOB, CHECK (data IS NOT NULL OR note IS NOT NULL));
                    INSERT INTO attachment VALUES (x'01', zeroblob(20000));
                    CREATE TABLE absent (x INTEGER);
                    CREATE INDEX absentByNumber ON absent (x DESC);
                    INSERT INTO absent VALUES (1), (NULL)
                    """)
            print("count", try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM twice") ?? -1)
            do {
                try db.execute(sql: "UPDATE attachment SET note = x'02'")
            } catch is EngineFaultError {
                print("refused")
            }
            let isSame = try Bool.fetchOne(db, sql: "SELECT data = zeroblob(20000) FROM attachment") ?? false
            print(isSame ? "same bytes" : "other bytes")
            do {
                let sql = "SELECT COUNT(*) FROM number WHERE x NOT IN (SELECT x FROM absent)"
                print("present", try Int.fetchOne(db, sql: sql) ?? -1)
            } catch is EngineFaultError {
                print("refused")
            }
        }
    }
}
