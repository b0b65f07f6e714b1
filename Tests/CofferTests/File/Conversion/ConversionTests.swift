import CofferTestSupport
import Foundation
import Synchronization
import Testing

@testable import Coffer

@Suite("Conversions of files")
struct ConversionTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private let key = DatabaseKey.rawKey(ShellFile.key)

    private func shell(_ name: String, key: [UInt8] = ShellFile.key) -> SQLCipherShell {
        SQLCipherShell(path: directory.path(name), rawKey: key)
    }

    private func expectSame(_ before: [String], _ after: [String]) {
        for (old, new) in zip(before, after) where old != new { Issue.record("\(old) became \(new)") }
        #expect(before.count == after.count)
    }

    // MARK: - Upgrades

    @Test(
        "an upgrade from formats 1 to 3 to format 4 keeps content, permissions and journal mode",
        arguments: [ShellFile.Format.sqlcipher1, .sqlcipher2, .sqlcipher3], [true, false])
    func upgrade(format: ShellFile.Format, wal: Bool) throws {
        let script =
            "PRAGMA encoding = 'UTF-16le';\nPRAGMA auto_vacuum = FULL;\n" + SampleSchema.everything
            + SampleSchema.texts
        let old = try ShellFile(
            directory.path("a.db"), format: format, script: script + (wal ? "PRAGMA journal_mode = WAL;" : "")
        )
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: old.path)
        let before = try SampleSchema.dump(old.shell)
        let file = DatabaseFile(path: old.path)
        let bytes = try directory.bytes(of: "a.db")
        let plan = try file.upgradePlan(key: key)
        // Formats 2 and 3 differ only in the derivation of passphrases.
        #expect(
            plan.format == (format == .sqlcipher2 ? 3 : format.number) && !plan.isAlreadyDone
                && plan.leftovers.isEmpty)
        #expect(try directory.bytes(of: "a.db") == bytes && directory.fileNames() == ["a.db"])

        var phases: Set<DatabaseFile.Progress.Phase> = []
        let result = try file.upgrade(key: key) { phases.insert($0.phase) }
        let proof = try #require(result.proof)
        #expect(result.isChanged && !result.isResumed)
        #expect(
            proof.pageSize == 4096 && proof.saltBefore != proof.saltAfter && proof.oldKeyID != proof.newKeyID)
        #expect(phases.isSuperset(of: [.copying, .verifying, .checkingStructure, .publishing]))
        #expect(directory.fileNames() == ["a.db"])
        expectSame(before, try SampleSchema.dump(shell("a.db")))
        #expect(
            try shell("a.db").run(
                "PRAGMA integrity_check; PRAGMA cipher_integrity_check; PRAGMA journal_mode;") == [
                    "ok", wal ? "wal" : "delete",
                ])
        #expect(throws: SQLCipherShell.Failure.self) {
            try old.shell.run("SELECT count(*) FROM sqlite_master;")
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: old.path)
        #expect(attributes[.posixPermissions] as? Int == 0o640)

        let again = try file.upgrade(key: key)
        #expect(!again.isChanged && again.proof == nil)
        #expect(try file.upgradePlan(key: key).isAlreadyDone)
    }

    @Test(
        "a passphrase opens the upgraded file as before, or a new passphrase does if one is given",
        arguments: 1...3)
    func upgradeOfPassphrase(format: Int) throws {
        let old = SQLCipherShell(
            path: directory.path("a.db"), passphrase: "old one",
            preparation: "PRAGMA cipher_compatibility = \(format);")
        _ = try old.run("CREATE TABLE t (a); INSERT INTO t VALUES ('x'); PRAGMA user_version = 3;")
        let file = DatabaseFile(path: directory.path("a.db"))
        #expect(reason { try file.upgrade(key: .passphrase("wrong one")) } == .key(.wrongKey))
        if format == 2 {
            try file.upgrade(key: .passphrase("old one"), newKey: .passphrase("new one"))
            #expect(reason { try file.upgrade(key: .passphrase("old one")) } == .key(.wrongKey))
            #expect(try !file.upgrade(key: .passphrase("old one"), newKey: .passphrase("new one")).isChanged)
        } else {
            try file.upgrade(key: .passphrase("old one"))
        }
        let new = SQLCipherShell(path: file.path, passphrase: format == 2 ? "new one" : "old one")
        #expect(try new.run("SELECT a FROM t; PRAGMA user_version;") == ["x", "3"])
    }

    @Test(
        "a step that fails leaves the old file or the whole new one, and the next run completes it",
        arguments: [
            FailPoint.noteMade, .copyCreated, .copying, .copied, .verified, .copySynchronized, .renamed,
            .reopened,
        ])
    func failures(point: FailPoint) throws {
        let old = try ShellFile(directory.path("a.db"), format: .sqlcipher3, script: SampleSchema.everything)
        let before = try SampleSchema.dump(old.shell)
        let bytes = try directory.snapshot()
        let file = DatabaseFile(path: old.path)
        let error = #expect(throws: DatabaseFileError.self) {
            try FailPoint.$failing.withValue(point) { try file.upgrade(key: key) }
        }
        if error?.isPublished == false {
            #expect(try directory.snapshot() == bytes)
        }
        try file.upgrade(key: key)
        expectSame(before, try SampleSchema.dump(shell("a.db")))
        #expect(directory.fileNames() == ["a.db"])
    }

    @Test(
        "definitions are kept verbatim, even where SQLite would store them differently",
        arguments: [ShellFile.Format.plaintext, .sqlcipher3])
    func unusualDefinitions(format: ShellFile.Format) throws {
        let definitions = [
            "CREATE INDEX IF NOT EXISTS i ON t (b)", "CREATE TABLE IF NOT EXISTS t (a, b)",
            "create  table u (a PRIMARY KEY)",
        ]
        let old = try ShellFile(
            directory.path("a.db"), format: format,
            script: """
                .dbconfig defensive off
                CREATE TABLE t (a, b); CREATE INDEX i ON t (b); CREATE TABLE u (a PRIMARY KEY);
                INSERT INTO t VALUES (1, 2); INSERT INTO u VALUES (3);
                PRAGMA writable_schema = ON;
                UPDATE sqlite_master SET sql = '\(definitions[0])' WHERE name = 'i';
                UPDATE sqlite_master SET sql = '\(definitions[1])' WHERE name = 't';
                UPDATE sqlite_master SET sql = '\(definitions[2])' WHERE name = 'u';
                PRAGMA writable_schema = OFF;
                """)
        let file = DatabaseFile(path: old.path)
        if format == .plaintext { try file.encrypt(key: key) } else { try file.upgrade(key: key) }
        #expect(
            try shell("a.db").run(
                """
                SELECT sql FROM sqlite_master WHERE sql NOT NULL ORDER BY name;
                SELECT * FROM t; SELECT a FROM u;
                PRAGMA integrity_check; INSERT INTO t VALUES (5, 6); SELECT a FROM t WHERE b = 6;
                """) == definitions + ["1|2", "3", "ok", "5"])
    }

    @Test("a difference of schemas is reported with the name of the object")
    func differentSchema() throws {
        func fingerprint(_ sql: String) throws -> ContentFingerprint {
            try DatabaseQueue().inDatabase { db in
                try db.execute(sql: sql)
                return try ContentFingerprint(ofSchemaIn: db.handle)
            }
        }
        let one = try fingerprint("CREATE TABLE t (a); CREATE INDEX i ON t (a)")
        func difference(_ sql: String) throws -> String? { try one.difference(from: fingerprint(sql)) }
        #expect(try difference("CREATE TABLE t (a); CREATE INDEX i ON t (a)") == nil)
        #expect(
            try difference("CREATE TABLE t (a); CREATE INDEX i ON t (a DESC)")
                == "the schema, in the definition of the index i")
        #expect(
            try difference("CREATE TABLE t (a); CREATE INDEX i ON t (a); CREATE VIEW v AS SELECT 1")
                == "the schema, in the definition of the view v")
        #expect(
            try difference("PRAGMA encoding = 'UTF-16le'; CREATE TABLE t (a); CREATE INDEX i ON t (a)")
                == "the text encoding")
    }

    // MARK: - Encrypting and decrypting

    @Test(
        "a plaintext file is encrypted and decrypted again, in place and into other files, and stays the same",
        arguments: [true, false])
    func encryption(isInPlace: Bool) throws {
        let script =
            "PRAGMA page_size = 8192;\nPRAGMA auto_vacuum = INCREMENTAL;\n" + SampleSchema.everything
            + SampleSchema.texts
        let plain = try ShellFile(
            directory.path("a.db"), format: .plaintext, script: script + "PRAGMA journal_mode = WAL;")
        let before = try SampleSchema.dump(plain.shell)
        let file = DatabaseFile(path: plain.path)
        let bytes = try directory.bytes(of: "a.db")
        let names = isInPlace ? ["a.db", "a.db"] : ["b.db", "c.db"]
        let encrypted = try file.encrypt(to: isInPlace ? nil : directory.path(names[0]), key: key)
        #expect(
            encrypted.proof?.pageSize == 4096 && encrypted.proof?.saltBefore == nil
                && encrypted.proof?.saltAfter != nil)
        #expect(encrypted.path == directory.path(names[0]))
        expectSame(before, try SampleSchema.dump(shell(names[0])))
        #expect(try shell(names[0]).run("PRAGMA journal_mode;") == [isInPlace ? "wal" : "delete"])
        #expect(Data(try directory.bytes(of: names[0])).range(of: Data("SQLite format".utf8)) == nil)
        if isInPlace {
            #expect(try !file.encrypt(key: key).isChanged)
        } else {
            #expect(try directory.bytes(of: "a.db") == bytes)
        }

        var options = DatabaseFile.ConversionOptions()
        options.keepOldPath = isInPlace ? directory.path("kept.db") : nil
        let decrypted = try DatabaseFile(path: directory.path(names[0])).decrypt(
            to: isInPlace ? nil : directory.path(names[1]), key: key,
            confirming: .contentBecomesReadableByAnyone, options: options)
        #expect(decrypted.proof?.contentDigest == encrypted.proof?.contentDigest)
        #expect(decrypted.proof?.pageSize == 4096 && decrypted.proof?.saltAfter == nil)
        expectSame(before, try SampleSchema.dump(SQLCipherShell(plaintextPath: directory.path(names[1]))))
        if isInPlace { expectSame(before, try SampleSchema.dump(shell("kept.db"))) }
        #expect(directory.fileNames() == (isInPlace ? ["a.db", "kept.db"] : ["a.db", "b.db", "c.db"]))
    }

    @Test(
        "an encrypted file keeps the page size of the plaintext file, unless the settings have another one"
    )
    func pageSize() throws {
        var options = DatabaseFile.ConversionOptions()
        options.cipher = .sqlcipher(format: 3)
        let file = try ShellFile(directory.path("a.db"), format: .sqlcipher3, script: SampleSchema.everything)
        try DatabaseFile(path: file.path).decrypt(
            to: directory.path("b.db"), key: key, confirming: .contentBecomesReadableByAnyone,
            options: options)
        #expect(
            try SQLCipherShell(plaintextPath: directory.path("b.db")).run("PRAGMA page_size;") == ["1024"])
        options.newCipher = CipherSettings()
        options.newCipher?.pageSize = 16384
        let result = try DatabaseFile(path: directory.path("b.db")).encrypt(
            to: directory.path("c.db"), key: key, options: options)
        #expect(result.proof?.pageSize == 16384)
    }

    @Test("a file with an application's collation is rotated and converted with and without the collation")
    func collations() throws {
        let collation = DatabaseCollation("backwards") { $1.compare($0) }
        do {
            let queue = try directory.makeQueue("a.db", .rawKeyed(0x51))
            try queue.inDatabase { db in
                db.add(collation: collation)
                try db.execute(
                    sql:
                        "CREATE TABLE t (a TEXT COLLATE backwards); CREATE INDEX i ON t (a); INSERT INTO t VALUES ('x'), ('y')"
                )
            }
        }
        let file = DatabaseFile(path: directory.path("a.db"))
        #expect(try file.rotate(from: key, to: Keys.new).isChanged)
        let target = directory.path("b.db")
        let other = try file.decrypt(
            to: directory.path("c.db"), key: Keys.new, confirming: .contentBecomesReadableByAnyone)
        #expect(other.proof?.rowCount == 2)
        var options = DatabaseFile.ConversionOptions()
        options.collations = [collation]
        let result = try file.decrypt(
            to: target, key: Keys.new, confirming: .contentBecomesReadableByAnyone, options: options)
        #expect(result.proof?.rowCount == 2)
        #expect(directory.fileNames() == ["a.db", "b.db", "c.db"])
    }

    // MARK: - Copies

    @Test(
        "a file in use is copied with its current log, and stays unchanged",
        arguments: [true, false])
    func liveCopies(isBackup: Bool) throws {
        let pool = try directory.makePool("a.db", Configuration.rawKeyed(0x51))
        try pool.write { db in
            try db.execute(
                sql:
                    "CREATE TABLE t (id INTEGER PRIMARY KEY, a); CREATE TABLE gone AS SELECT randomblob(90000)"
            )
            for _ in 0..<100 { try db.execute(sql: "INSERT INTO t (a) VALUES (randomblob(500))") }
        }
        try pool.write { try $0.execute(sql: "DROP TABLE gone") }
        let file = DatabaseFile(path: directory.path("a.db"))
        let before = try directory.snapshot()
        let result: DatabaseFile.ConversionResult
        if isBackup {
            result = try file.backup(to: directory.path("b.db"), key: key)
        } else {
            result = try file.vacuum(into: directory.path("b.db"), key: key, newKey: Keys.new)
        }
        let after = try directory.snapshot()
        #expect(after["a.db"] == before["a.db"] && after["a.db-wal"] == before["a.db-wal"])
        #expect(result.proof?.rowCount == 100 && result.proof?.saltBefore != result.proof?.saltAfter)
        let freeCount =
            isBackup ? try #require(pool.read { try Int.fetchOne($0, sql: "PRAGMA freelist_count") }) : 0
        #expect(isBackup == (freeCount > 0))
        let copy = shell("b.db", key: isBackup ? ShellFile.key : Keys.newBytes)
        #expect(
            try copy.run("SELECT count(*) FROM t; PRAGMA freelist_count; PRAGMA integrity_check;") == [
                "100", "\(freeCount)", "ok",
            ])
        try pool.write { try $0.execute(sql: "INSERT INTO t (a) VALUES (1)") }
    }

    @Test(
        "a backup by pages has the rows and the digest of a copy by rows, with any content of the log",
        arguments: [false, true])
    func backupByPages(wal: Bool) throws {
        let database: any DatabaseWriter
        if wal {
            database = try directory.makePool("a.db", Configuration.rawKeyed(0x51))
        } else {
            database = try directory.makeQueue("a.db", Configuration.rawKeyed(0x51))
        }
        try database.write { db in
            try db.execute(
                sql:
                    "CREATE TABLE t (id INTEGER PRIMARY KEY, a); CREATE INDEX t_a ON t (a); CREATE TABLE gone (a)"
            )
            for id in 1...3000 {
                try db.execute(sql: "INSERT INTO t VALUES (?, ?)", arguments: [id, "row \(id)"])
            }
        }
        if wal { try database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) } }
        // The page count is the same as before, but some pages are now in the WAL.
        try database.write {
            try $0.execute(sql: "UPDATE t SET a = 'new' || substr(a, 4) WHERE id % 100 = 0; DROP TABLE gone")
        }
        let file = DatabaseFile(path: directory.path("a.db"))
        let backup = try #require(file.backup(to: directory.path("b.db"), key: key).proof)
        let copy = try #require(file.vacuum(into: directory.path("c.db"), key: key).proof)
        #expect(backup.contentDigest == copy.contentDigest)
        #expect(backup.rowCount == 3000 && backup.tableCount == copy.tableCount)
        #expect(backup.saltAfter != backup.saltBefore && backup.oldKeyID != backup.newKeyID)
        let other = try #require(file.backup(to: directory.path("d.db"), key: key, newKey: Keys.new).proof)
        #expect(other.rowCount == 3000 && other.contentDigest != backup.contentDigest)
        let sql =
            "PRAGMA cipher_integrity_check; PRAGMA integrity_check; SELECT count(*) FROM t WHERE a LIKE 'new%';"
        #expect(try shell("b.db").run(sql) == ["ok", "30"])
        #expect(try shell("d.db", key: Keys.newBytes).run(sql) == ["ok", "30"])
    }

    @Test("a backup taken during a writer's checkpoints and log restarts contains one consistent state")
    func backupsBesideWriter() throws {
        let pool = try directory.makePool(
            "a.db",
            Configuration.rawKeyed(0x51).with {
                $0.prepareDatabase { try $0.execute(sql: "PRAGMA wal_autocheckpoint = 30") }
            })
        try pool.write { db in
            try db.execute(sql: "CREATE TABLE account (id INTEGER PRIMARY KEY, balance, note)")
            for id in 1...400 {
                try db.execute(
                    sql: "INSERT INTO account VALUES (?, 100, hex(randomblob(200)))", arguments: [id])
            }
        }
        let isDone = Atomic<Bool>(false)
        let group = DispatchGroup()
        DispatchQueue(label: "writer").async(group: group) {
            while !isDone.load(ordering: .relaxed) {
                let (from, to) = (Int.random(in: 1...400), Int.random(in: 1...400))
                do {
                    try pool.write { db in
                        try db.execute(
                            sql: "UPDATE account SET balance = balance - 1 WHERE id = ?", arguments: [from])
                        try db.execute(
                            sql: "UPDATE account SET balance = balance + 1 WHERE id = ?", arguments: [to])
                    }
                } catch {
                    Issue.record(error)
                    return
                }
            }
        }
        defer {
            isDone.store(true, ordering: .relaxed)
            group.wait()
        }
        let file = DatabaseFile(path: directory.path("a.db"))
        for number in 0..<20 {
            let path = directory.path("b\(number).db")
            try file.backup(to: path, key: key)
            let copy = try DatabaseQueue(path: path, configuration: .rawKeyed(0x51))
            #expect(try copy.read { try Int.fetchOne($0, sql: "SELECT sum(balance) FROM account") } == 40_000)
            try copy.close()
            try FileManager.default.removeItem(atPath: path)
        }
    }

    @Test(
        "a backup has only the pages of the database, even if the file is longer", arguments: [true, false])
    func longerFile(wal: Bool) throws {
        let file = try directory.makeFile("a.db", wal: wal)
        let bytes = try directory.bytes(of: "a.db")
        try directory.write(bytes + [UInt8](repeating: 0, count: 40_960), to: "a.db")
        let proof = try #require(file.backup(to: directory.path("b.db"), key: Keys.old).proof)
        #expect(proof.pageCount == bytes.count / 4096)
    }

    @Test("a backup does not treat a page of zeros in use as an empty one")
    func backupOfZeros() throws {
        let file = try directory.makeFile()
        var bytes = try directory.bytes(of: "a.db")
        bytes.replaceSubrange(4096..<8192, with: [UInt8](repeating: 0, count: 4096))
        try directory.write(bytes, to: "a.db")
        #expect(reason { try file.backup(to: directory.path("b.db"), key: Keys.old) } == .damaged(pages: [2]))
        #expect(directory.fileNames() == ["a.db"])
    }

    @Test("a copy of a plaintext file may get a key, and is plaintext only without one")
    func plaintextCopies() throws {
        let file = try ShellFile(directory.path("a.db"), format: .plaintext, script: SampleSchema.everything)
        let before = try SampleSchema.dump(file.shell)
        try DatabaseFile(path: file.path).backup(to: directory.path("b.db"), key: nil)
        expectSame(before, try SampleSchema.dump(SQLCipherShell(plaintextPath: directory.path("b.db"))))
        try DatabaseFile(path: file.path).backup(to: directory.path("c.db"), key: nil, newKey: key)
        expectSame(before, try SampleSchema.dump(shell("c.db")))
    }

    @Test("impossible requests are typed errors, the source stays unchanged, and no files are left")
    func refusals() throws {
        struct Stop: Error {}
        let file = DatabaseFile(
            path: try ShellFile(directory.path("a.db"), format: .sqlcipher4, script: SampleSchema.everything)
                .path)
        try directory.write([1], to: "there")
        let before = try directory.snapshot()
        #expect(reason { try file.backup(to: directory.path("there"), key: key) } == .exists)
        #expect(reason { try file.backup(to: directory.path("b.db"), key: Keys.other) } == .key(.wrongKey))
        #expect(
            reason { try file.backup(to: directory.path("no/b.db"), key: key) }
                == .unsafeFile(.directory(errno: ENOENT)))
        #expect(reason { try file.encrypt(to: directory.path("b.db"), key: key) } == .key(.noKey))
        #expect(reason { try file.upgrade(key: key, newKey: Keys.new) } != nil)
        #expect(reason { try DatabaseFile(path: directory.path("missing")).upgrade(key: key) } == .missing)
        #expect(
            reason { try DatabaseFile(path: directory.path).vacuum(into: directory.path("b.db"), key: key) }
                == .unsafeFile(.notARegularFile))
        for phase in [DatabaseFile.Progress.Phase.copying, .verifying, .publishing] {
            #expect(throws: Stop.self) {
                try file.vacuum(into: directory.path("b.db"), key: key) {
                    if $0.phase == phase { throw Stop() }
                }
            }
        }
        #expect(try directory.snapshot() == before)
    }

    @Test("a full disk is a typed error, the source stays unchanged, and no files are left")
    func fullDisk() async {
        await #expect(processExitsWith: .success) {
            try withTestDirectory { directory in
                signal(SIGXFSZ, SIG_IGN)
                let script =
                    "CREATE TABLE t (a); INSERT INTO t SELECT randomblob(1000) FROM generate_series(1, 1000);"
                let file = DatabaseFile(
                    path: try ShellFile(directory.path("a.db"), format: .sqlcipher3, script: script).path)
                let plain = DatabaseFile(
                    path: try ShellFile(directory.path("p.db"), format: .plaintext, script: script).path)
                let key = DatabaseKey.rawKey(ShellFile.key)
                let queue = try DatabaseQueue(
                    path: file.path, configuration: ShellFile.Format.sqlcipher3.configuration)
                // An index that exceeds the page cache and is read while the disk fills up.
                let wide = DatabaseFile(
                    path: try ShellFile(
                        directory.path("w.db"), format: .plaintext,
                        script: """
                            CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT UNIQUE);
                            INSERT INTO t SELECT value, hex(randomblob(40)) FROM generate_series(1, 70000);
                            """
                    ).path)
                let before = try directory.snapshot()
                func setLimit(_ size: UInt) throws {
                    var limit = rlimit()
                    unsafe getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
                    limit.rlim_cur = size
                    try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
                }
                try setLimit(200 * 1024)
                let target = directory.path("b.db")
                let error = #expect(throws: DatabaseError.self) { try queue.vacuum(into: target) }
                #expect(error?.resultCode == .SQLITE_FULL)
                try queue.close()
                var options = DatabaseFile.ConversionOptions()
                options.cipher = .sqlcipher(format: 3)
                #expect(reason { try file.backup(to: target, key: key, options: options) } == .diskFull)
                #expect(reason { try file.upgrade(key: key) } == .diskFull)
                #expect(reason { try plain.encrypt(to: target, key: key) } == .diskFull)
                #expect(reason { try plain.encrypt(key: key) } == .diskFull)
                for size in stride(from: UInt(9_000_000), through: 13_000_000, by: 500_000) {
                    try setLimit(size)
                    #expect(reason { try wide.encrypt(to: target, key: key) } == .diskFull, "\(size)")
                }
                #expect(try directory.snapshot() == before)
            }
        }
    }
}
