import Coffer
import Foundation
import Testing

@Suite("Encrypted DatabaseQueue")
struct EncryptedQueueTests {
    @Test("a file written with a passphrase opens with it, and not with another one")
    func passphrase() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("coffer-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.appendingPathComponent("a.sqlite").path
        var configuration = Configuration()
        configuration.key = .passphrase("secret")
        do {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES ('needle')") }
        }
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(bytes.range(of: Data("needle".utf8)) == nil && bytes.range(of: Data("SQLite".utf8)) == nil)
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        let value = try queue.read { try Row.fetchOne($0, sql: "SELECT a FROM t")?[0] as String? }
        #expect(value == "needle")
        configuration.key = .passphrase("wrong")
        #expect {
            _ = try DatabaseQueue(path: path, configuration: configuration)
        } throws: {
            ($0 as? DatabaseError)?.encryptionFailure == .wrongKey
                && ($0 as? DatabaseError)?.resultCode == .SQLITE_NOTADB
        }
        #expect {
            _ = try DatabaseQueue(path: path)
        } throws: {
            ($0 as? DatabaseError)?.encryptionFailure == .noKey
        }
        let pool = try DatabasePool(
            path: path,
            configuration: {
                var c = configuration; c.key = .passphrase("secret"); return c
            }())
        try pool.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
        let count = try pool.read { try Row.fetchOne($0, sql: "SELECT COUNT(*) FROM t")?[0] as Int? }
        #expect(count == 2)
        let snapshot = try pool.makeSnapshot()
        let snapshots = try pool.makeSnapshotPool()
        try pool.write { try $0.execute(sql: "INSERT INTO t VALUES (3)") }
        #expect(try snapshot.read { try Row.fetchOne($0, sql: "SELECT COUNT(*) FROM t")?[0] as Int? } == 2)
        #expect(try snapshots.read { try Row.fetchOne($0, sql: "SELECT COUNT(*) FROM t")?[0] as Int? } == 2)
        let copy = try DatabaseQueue.inMemoryCopy(
            fromPath: path,
            configuration: {
                var c = configuration; c.key = .passphrase("secret"); return c
            }())
        #expect(try copy.read { try Row.fetchOne($0, sql: "SELECT COUNT(*) FROM t")?[0] as Int? } == 3)
    }
}
