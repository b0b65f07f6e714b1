import Coffer
import CofferTestSupport
import Foundation

/// Keeps a database open until standard input ends: in a write, in a read, idle, or exclusively after a
/// write. Prints `ready` once the database is in that state.
enum Hold {
    static func run(path: String, state: String) throws {
        let configuration = Configuration.rawKeyed.with {
            $0.allowsUnsafeTransactions = true
            if state == "alone" { $0.fileLocking = .thisProcessOnly }
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.inDatabase { db in
            if state == "writing" {
                try db.execute(sql: "BEGIN IMMEDIATE; INSERT INTO t (a) VALUES ('held')")
            } else if state == "reading" {
                try db.execute(sql: "BEGIN")
                _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM t")
            } else if state == "alone" {
                try db.execute(sql: "INSERT INTO t (a) VALUES ('committed')")
            } else {
                _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM t")
            }
        }
        FileHandle.standardOutput.write(Data("ready\n".utf8))
        _ = FileHandle.standardInput.readDataToEndOfFile()
        try queue.inDatabase { db in
            if db.isInsideTransaction { try db.execute(sql: "COMMIT") }
        }
    }
}
