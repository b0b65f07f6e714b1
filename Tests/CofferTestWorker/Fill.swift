import Coffer
import CofferTestSupport

/// Fills the disk in the middle of a transaction, continues afterwards, and prints the results.
enum Fill {
    static func run(path: String, access: String) throws {
        let configuration = Configuration.rawKeyed.with { $0.pageCacheSize = 64 * 1024 }
        let writer: any DatabaseWriter =
            if access == Access.pool.rawValue {
                try DatabasePool(path: path, configuration: configuration)
            } else {
                try DatabaseQueue(path: path, configuration: configuration)
            }
        try writer.write {
            try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(50000)), (2)")
        }
        do {
            try writer.write { db in
                try db.execute(sql: "DELETE FROM t")
                for _ in 0..<500 { try db.execute(sql: "INSERT INTO t VALUES (randomblob(4000))") }
            }
        } catch let error as DatabaseError {
            print(error.resultCode == .SQLITE_FULL ? "SQLITE_FULL" : "\(error)")
        }
        let count = try writer.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } ?? -1
        print("kept \(count)")
        try writer.write { try $0.execute(sql: "INSERT INTO t VALUES (3)") }
        try writer.read { db in
            let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM t") ?? -1
            print("afterwards \(count) \(try String.fetchAll(db, sql: "PRAGMA integrity_check").joined())")
        }
    }

    /// Writes to a database with two rows in a file system without room for a journal, and prints the error.
    static func withoutJournal(path: String) throws {
        let queue = try DatabaseQueue(path: path, configuration: .rawKeyed)
        do {
            try queue.write { try $0.execute(sql: "INSERT INTO t VALUES (3)") }
        } catch let error as DatabaseError {
            print("\(error.resultCode): \(error.message ?? "")")
        }
        print("kept \(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } ?? -1)")
    }
}
