import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Temporary storage of keyed connections")
struct TempStoreTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test(
        "temporary tables cannot be moved to files",
        arguments: [
            "PRAGMA temp_store = FILE", "PRAGMA temp_store = 1", "PRAGMA temp_store(file)",
            "PRAGMA main.temp_store = 'FILE'",
            "PRAGMA \"temp_store\" = DEFAULT", "PRAGMA temp_store = 0", "pragma/**/[TEMP_STORE]=`file`",
            "EXPLAIN PRAGMA temp_store = 1",
            "PRAGMA temp_store_directory = '/tmp'",
            "CREATE TABLE x (a); PRAGMA temp_store = FILE; INSERT INTO x VALUES (1)",
        ])
    func refused(sql: String) throws {
        let queue = try directory.makeQueue()
        try queue.inDatabase { db throws in
            let error = #expect(throws: DatabaseError.self) { try db.execute(sql: sql) }
            #expect(error?.resultCode == .SQLITE_AUTH)
            #expect(
                error?.message?.contains("temporary") == true || error?.message?.contains("Temporary") == true
            )
            #expect(try Int.fetchOne(db, sql: "PRAGMA temp_store") == 2)
            // The statements before it have run, and the ones after it have not.
            if sql.hasPrefix("CREATE") { #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM x") == 0) }
        }
    }

    @Test("readers, snapshots and copies also keep temporary tables in memory")
    func otherConnections() throws {
        let pool = try directory.makePool()
        try pool.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        let copy = try DatabaseQueue.temporaryCopy(fromPath: directory.path("a.db"), configuration: .rawKeyed)
        let memory = try DatabaseQueue.inMemoryCopy(
            fromPath: directory.path("a.db"), configuration: .rawKeyed)
        let readers: [any DatabaseReader] = [
            pool, try pool.makeSnapshot(), try pool.makeSnapshotPool(), copy, memory,
        ]
        for reader in readers {
            try reader.read { db throws in
                #expect(try Int.fetchOne(db, sql: "PRAGMA temp_store") == 2)
                #expect(throws: DatabaseError.self) { try db.execute(sql: "PRAGMA temp_store = FILE") }
            }
        }
    }

    @Test("PRAGMA temp_store can be read, and set to memory again")
    func allowed() throws {
        let queue = try directory.makeQueue()
        try queue.inDatabase { db in
            try db.execute(sql: "PRAGMA temp_store; PRAGMA temp_store = MEMORY; PRAGMA temp_store = 2")
            #expect(try Int.fetchOne(db, sql: "PRAGMA temp_store") == 2)
        }
    }

    @Test("a preparation that runs before the key is set cannot move temporary tables to files")
    func preparation() throws {
        var configuration = Configuration()
        configuration.prepareDatabase { db throws in
            try? db.execute(sql: "PRAGMA temp_store = FILE")
            try db.usePassphrase("secret")
        }
        let queue = try directory.makeQueue("a.db", configuration)
        #expect(try queue.int("PRAGMA temp_store") == 2)
    }

    @Test(
        "the cipher of an open connection cannot be changed under its file",
        arguments: [
            "PRAGMA cipher_page_size = 1024", "PRAGMA cipher_use_hmac = OFF", "PRAGMA kdf_iter = 1",
            "PRAGMA cipher_hmac_algorithm = HMAC_SHA1",
            "PRAGMA cipher_kdf_algorithm = PBKDF2_HMAC_SHA1", "PRAGMA cipher_plaintext_header_size = 32",
            "PRAGMA fast_kdf_iter = 9",
            "PRAGMA cipher_compatibility = 3", "PRAGMA cipher_hmac_salt_mask = \"x'00'\"",
            "PRAGMA cipher_salt = \"x'\(String(repeating: "0", count: 32))'\"",
            "PRAGMA cipher_hmac_pgno = be", "PRAGMA cipher_store_pass = 1", "PRAGMA cipher = 'aes-128-cbc'",
            "PRAGMA cipher_migrate",
            "PRAGMA rekey = 'other'", "PRAGMA key = 'other'", "PRAGMA page_size = 512; VACUUM",
            "PRAGMA hexrekey = '00'",
        ], [Access.queue, .pool])
    func cipherSettings(sql: String, access: Access) throws {
        do {
            let writer = try directory.make(access)
            try writer.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
            try writer.writeWithoutTransaction { db throws in
                try? db.execute(sql: sql)
                // Enough rows that pages are written and read back.
                try db.execute(
                    sql:
                        "INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n LIMIT 999) SELECT i FROM n"
                )
                db.releaseMemory()
                #expect(try Int.fetchOne(db, sql: "SELECT sum(a) FROM t") == 500_500)
            }
        }
        let again = try directory.make(access)
        try again.read { db throws in
            #expect(try Int.fetchOne(db, sql: "SELECT sum(a) FROM t") == 500_500)
            #expect(try String.fetchAll(db, sql: "PRAGMA integrity_check") == ["ok"])
            #expect(try String.fetchAll(db, sql: "PRAGMA cipher_integrity_check").isEmpty)
        }
        #expect(try SQLCipherShell(path: directory.path("a.db")).run("SELECT sum(a) FROM t;") == ["500500"])
    }

    @Test("a temporary database without a key writes no plaintext to the disk")
    func temporaryDatabase() async throws {
        await #expect(processExitsWith: .success) {
            try withTestDirectory { directory in
                let queue = try DatabaseQueue(path: "")
                // More than the page cache can hold.
                try queue.write { db in
                    try db.execute(sql: "PRAGMA cache_size = -16; CREATE TABLE t (a)")
                    for _ in 0..<400 {
                        try db.execute(sql: "INSERT INTO t VALUES ('t3mp0r4ry' || hex(randomblob(2000)))")
                    }
                    // The file has no name, only a descriptor.
                    for descriptor in 3..<64 {
                        let link =
                            (try? FileManager.default.destinationOfSymbolicLink(
                                atPath: "/proc/self/fd/\(descriptor)")) ?? ""
                        guard link.contains("etilqs") else { continue }
                        let content =
                            FileManager.default.contents(atPath: "/proc/self/fd/\(descriptor)") ?? Data()
                        #expect(content.range(of: Data("t3mp0r4ry".utf8)) == nil)
                    }
                }
                #expect(try queue.int("SELECT count(*) FROM t") == 400)
            }
        }
    }
}
