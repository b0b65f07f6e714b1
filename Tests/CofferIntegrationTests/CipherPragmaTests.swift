import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Pragmas of SQLCipher on connections that have their key")
struct CipherPragmaTests {
    static let holding = [
        "cipher_page_size = 4096", "CIPHER_PAGE_SIZE(4096)", "main.cipher_page_size = '4096'",
        "page_size = 4096", "kdf_iter = 256000",
        "kdf_iter = '256000'", "fast_kdf_iter = 2", "cipher_compatibility = 4", "cipher_use_hmac = ON",
        "cipher_use_hmac = 1",
        "cipher_use_hmac = true", "cipher_plaintext_header_size = 0", "cipher_hmac_algorithm = HMAC_SHA512",
        "cipher_hmac_algorithm = 'hmac_sha512'", "cipher_kdf_algorithm = PBKDF2_HMAC_SHA512",
        "cipher = 'aes-256-cbc'",
        "cipher_store_pass = 0", "cipher_hmac_pgno = le",
    ]

    static let others = [
        "cipher_page_size = 1024", "page_size = 8192", "kdf_iter = 64000", "kdf_iter = x",
        "fast_kdf_iter = 4", "cipher_compatibility = 3",
        "cipher_compatibility = 5", "cipher_use_hmac = OFF", "cipher_use_hmac = 2",
        "cipher_plaintext_header_size = 32",
        "cipher_hmac_algorithm = HMAC_SHA1", "cipher_kdf_algorithm = PBKDF2_HMAC_SHA256", "cipher = 'rc4'",
        "cipher_store_pass = 1",
        "cipher_hmac_pgno = be", "cipher_salt = \"x'00000000000000000000000000000000'\"",
        "rekey_kdf_iter = 256000",
        "cipher_profile = '/nonexistent/profile'", "cipher_profile = off", "cipher_log = '/nonexistent/log'",
        "cipher_default_page_size = 4096", "cipher_default_compatibility = 3", "cipher_log_level = TRACE",
        "main.cipher_log_level('debug')",
    ]

    @Test("the page size of an encrypted database is an integer, as in SQLite", arguments: Access.allCases)
    func pageSize(access: Access) throws {
        try withTestDirectory { directory in
            let recorder = SQLRecorder()
            let configuration = recorder.recording(.rawKeyed.with { $0.cipher.pageSize = 8192 })
            let writer = try directory.make(access, "a.db", configuration)
            try writer.write { try $0.execute(sql: "CREATE TABLE t (a)") }
            for sql in [
                "PRAGMA page_size", "pragma main.page_size", "PRAGMA\t\"main\" . [page_size]",
                "PRAGMA 'page_size'",
            ] {
                recorder.clear()
                try writer.read { (db) throws in
                    #expect(try Row.fetchOne(db, sql: sql + "\n; -- the size") == ["page_size": 8192])
                    let statement = try db.makeStatement(sql: sql)
                    #expect(statement.sql == sql && statement.databaseRegion.isEmpty && statement.isReadonly)
                }
                #expect(recorder.statements.contains(sql))
                #expect(
                    !recorder.statements.contains { $0.contains("AS page_size") }, "\(recorder.statements)")
            }
            try writer.writeWithoutTransaction { (db) throws in
                try db.execute(sql: "-- first\nPRAGMA page_size; INSERT INTO t VALUES (1); PRAGMA page_size;")
                #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM t") == 1)
                try db.execute(sql: "ATTACH ':memory:' AS other")
                for schema in ["temp", "other"] {
                    let row = try #require(try Row.fetchOne(db, sql: "PRAGMA \(schema).page_size"))
                    #expect(row["page_size"] as Int > 0)
                }
                let error = #expect(throws: DatabaseError.self) {
                    try Row.fetchOne(db, sql: "PRAGMA absent.page_size")
                }
                #expect(error?.message == "unknown database absent")
            }
        }
    }

    @Test(
        "the error for a different page size names the configuration property",
        arguments: ["page_size", "cipher_page_size"])
    func otherPageSize(pragma: String) throws {
        try withTestDirectory { directory in
            let configuration = Configuration.rawKeyed.with {
                $0.prepareDatabase { try $0.execute(sql: "PRAGMA \(pragma) = 8192") }
            }
            let error = #expect(throws: DatabaseError.self) { try directory.makeQueue("a.db", configuration) }
            #expect(error?.resultCode == .SQLITE_AUTH)
            #expect(error?.message?.contains("is 4096") == true)
            #expect(error?.message?.contains("Configuration.cipher.pageSize") == true)
        }
    }

    @Test(
        "cipher_integrity_check is refused for a file that is too large for the engine to check",
        .enabled(if: EngineFault.integrityCheck.isOfThisEngine, "this engine counts the pages of large files")
    )
    func checkOfLargeFile() throws {
        try withTestDirectory { directory in
            let queue = try directory.makeQueue()
            try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
            #expect(try queue.read { try String.fetchAll($0, sql: "PRAGMA cipher_integrity_check") } == [])
            try queue.close()
            // A file may be longer than its database. This one has a hole there.
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: directory.path("a.db")))
            try file.truncate(atOffset: 1 << 32 + 4096)
            try file.close()
            let (large, other) = try (directory.makeQueue(), directory.makeQueue("b.db"))
            let error = #expect(throws: DatabaseError.self) {
                try large.read { try String.fetchAll($0, sql: "PRAGMA cipher_integrity_check") }
            }
            #expect(error?.message?.contains("coffer verify") == true, "\(error as Any)")
            #expect(try large.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
            try other.writeWithoutTransaction { db in
                try db.execute(sql: "ATTACH DATABASE ? AS large", arguments: [directory.path("a.db")])
                #expect(throws: DatabaseError.self) {
                    try String.fetchAll(db, sql: "PRAGMA large.cipher_integrity_check")
                }
                #expect(try String.fetchAll(db, sql: "PRAGMA cipher_integrity_check") == [])
            }
            try large.close()
            let found = try DatabaseFile(path: directory.path("a.db")).verify(
                key: .rawKey([UInt8](repeating: 0x42, count: 32)))
            #expect(found.isIntact && found.trailingByteCount > 1 << 32 - 1 << 20)
        }
    }

    @Test(
        "pragmas that repeat the current settings have no effect, and others are refused",
        arguments: Access.allCases)
    func settings(access: Access) throws {
        try withTestDirectory { directory in
            let configuration = Configuration.passphrase().with { configuration in
                configuration.prepareDatabase { db in
                    for pragma in CipherPragmaTests.holding { try db.execute(sql: "PRAGMA \(pragma)") }
                }
            }
            let writer = try directory.make(access, "a.db", configuration)
            try writer.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
            try writer.writeWithoutTransaction { db in
                for pragma in CipherPragmaTests.holding {
                    try db.execute(sql: "PRAGMA \(pragma)")
                    try db.execute(sql: "INSERT INTO t SELECT count(*) FROM t")
                }
                for pragma in CipherPragmaTests.others {
                    let error = #expect(throws: DatabaseError.self, "\(pragma)") {
                        try db.execute(sql: "PRAGMA \(pragma)")
                    }
                    #expect(error?.resultCode == .SQLITE_AUTH, "\(pragma)")
                    try db.execute(sql: "INSERT INTO t SELECT count(*) FROM t")
                }
                let salt = try directory.bytes(of: "a.db").prefix(16).map {
                    ($0 < 16 ? "0" : "") + String($0, radix: 16)
                }.joined()
                try db.execute(sql: "PRAGMA cipher_salt = \"x'\(salt)'\"")
            }
            let count = 1 + CipherPragmaTests.holding.count + CipherPragmaTests.others.count
            #expect(try writer.int("SELECT count(*) FROM t") == count)
            try writer.close()
            let shell = SQLCipherShell(path: directory.path("a.db"), passphrase: "a passphrase for tests")
            #expect(try shell.run("SELECT count(*) FROM t; PRAGMA cipher_integrity_check;") == ["\(count)"])
        }
    }

    @Test("pragmas that match the configured SQLCipher format are accepted, and others are refused")
    func otherFormats() throws {
        try withTestDirectory { directory in
            let old = Configuration.rawKeyed.with { $0.cipher = .sqlcipher(format: 3) }
            let header = Configuration().with {
                $0.key = .rawKey([UInt8](repeating: 1, count: 32), salt: [UInt8](repeating: 2, count: 16))
                $0.cipher.plaintextHeaderSize = 32
            }
            try directory.makeQueue("old.db", old).inDatabase { db in
                try db.execute(
                    sql:
                        "PRAGMA cipher_compatibility = 3; PRAGMA kdf_iter = 64000; PRAGMA cipher_page_size = 1024"
                )
                try db.execute(sql: "CREATE TABLE t (a)")
                #expect(throws: DatabaseError.self) { try db.execute(sql: "PRAGMA cipher_compatibility = 4") }
            }
            try directory.makeQueue("header.db", header).inDatabase { db in
                try db.execute(
                    sql:
                        "PRAGMA cipher_plaintext_header_size = 32; PRAGMA cipher_compatibility = 4; CREATE TABLE t (a)"
                )
            }
            #expect(try directory.makeQueue("old.db", old).read { try $0.tableExists("t") })
            #expect(try directory.makeQueue("header.db", header).read { try $0.tableExists("t") })
        }
    }

    @Test("a refused PRAGMA cipher_profile does not affect the trace")
    func profile() throws {
        try withTestDirectory { directory in
            let recorder = SQLRecorder()
            let queue = try directory.makeQueue("a.db", recorder.recording(.rawKeyed))
            queue.inDatabase { db in
                for target in [directory.path("profile"), "off", "stdout"] {
                    #expect(throws: DatabaseError.self) {
                        try db.execute(sql: "PRAGMA cipher_profile = '\(target)'")
                    }
                }
                try? db.execute(sql: "SELECT 1 AS traced")
            }
            #expect(recorder.statements.contains("SELECT 1 AS traced"))
            #expect(directory.fileNames() == ["a.db"])
        }
    }
}
