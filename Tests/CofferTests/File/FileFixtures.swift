import Coffer
import CofferTestSupport
import Foundation

/// The raw keys of these tests.
enum Keys {
    static let old = DatabaseKey.rawKey([UInt8](repeating: 0x42, count: 32))
    static let new = DatabaseKey.rawKey([UInt8](repeating: 0x17, count: 32))
    static let other = DatabaseKey.rawKey([UInt8](repeating: 0x99, count: 32))
    static let newBytes = [UInt8](repeating: 0x17, count: 32)
}

extension TestDirectory {
    /// Makes a closed file with the old raw key. It has rows of many sizes, free pages, an index, and version
    /// numbers.
    @discardableResult
    func makeFile(
        _ name: String = "a.db", key: DatabaseKey = Keys.old, wal: Bool = false, rows: Int = 200,
        _ change: (inout Configuration) -> Void = { _ in }
    ) throws -> DatabaseFile {
        var configuration = Configuration()
        configuration.key = key
        configuration.journalMode = wal ? .wal : .default
        change(&configuration)
        let queue = try DatabaseQueue(path: path(name), configuration: configuration)
        try queue.write { db in
            try db.execute(
                sql: """
                    PRAGMA user_version = 42; PRAGMA application_id = 1234;
                    CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b BLOB);
                    CREATE TABLE gone (a);
                    CREATE TABLE implicit (a);
                    INSERT INTO implicit (rowid, a) VALUES (7, 'seven'), (9, 'nine');
                    CREATE INDEX t_a ON t (a);
                    """)
            for id in 1...max(1, rows) {
                try db.execute(
                    sql: "INSERT INTO t VALUES (?, ?, randomblob(?))",
                    arguments: [id, "row \(id) é中", id % 50 == 0 ? 9000 : id % 300])
                try db.execute(sql: "INSERT INTO gone VALUES (randomblob(900))")
            }
        }
        try queue.write { try $0.execute(sql: "DROP TABLE gone") }
        try queue.close()
        return DatabaseFile(path: path(name))
    }

    /// Returns the content of a file, for comparison: rows, row IDs, versions, and a hash of the blobs.
    func content(
        _ name: String = "a.db", key: DatabaseKey, _ change: (inout Configuration) -> Void = { _ in }
    ) throws -> [String] {
        var configuration = Configuration()
        configuration.key = key
        change(&configuration)
        let queue = try DatabaseQueue(path: path(name), configuration: configuration)
        return try queue.read { db in
            try String.fetchAll(db, sql: "SELECT id || a || hex(b) FROM t ORDER BY id")
                + String.fetchAll(db, sql: "SELECT rowid || a FROM implicit ORDER BY rowid")
                + String.fetchAll(db, sql: "SELECT sql FROM sqlite_master ORDER BY name")
                + String.fetchAll(db, sql: "PRAGMA user_version")
                + String.fetchAll(db, sql: "PRAGMA application_id")
                + String.fetchAll(db, sql: "PRAGMA integrity_check")
        }
    }

    func opens(_ name: String = "a.db", key: DatabaseKey, _ change: (inout Configuration) -> Void = { _ in })
        -> Bool
    {
        (try? content(name, key: key, change)) != nil
    }

    /// Returns all files of the directory with their bytes, to check that nothing has changed.
    func snapshot() throws -> [String: [UInt8]] {
        try Dictionary(uniqueKeysWithValues: fileNames().map { try ($0, bytes(of: $0)) })
    }
}

/// Returns the reason of the error that `body` throws, or nil if it throws no error or a different one.
func reason<T>(_ body: () throws -> T) -> DatabaseFileError.Reason? {
    do {
        _ = try body()
        return nil
    } catch {
        return (error as? DatabaseFileError)?.reason
    }
}
