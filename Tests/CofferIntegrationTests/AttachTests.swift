import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("ATTACH, VACUUM INTO and sqlcipher_export by SQL")
struct AttachTests {
    enum Source: String, CaseIterable, Sendable {
        case encryptedQueue, encryptedPool, plaintextQueue, memory, pathOfMemory, namedMemory, keyedMemory

        func open(
            _ directory: TestDirectory, _ configuration: Configuration = .rawKeyed,
            allowsPlaintext: Bool = true
        ) throws
            -> any DatabaseWriter
        {
            let plain = Configuration().with { $0.allowsPlaintext = allowsPlaintext }
            return switch self {
            case .encryptedQueue: try directory.makeQueue("main.db", configuration)
            case .encryptedPool: try directory.makePool("main.db", configuration)
            case .plaintextQueue:
                try directory.makeQueue("readable.db", plain.with { $0.allowsPlaintext = true })
            case .memory: try DatabaseQueue(configuration: plain)
            case .pathOfMemory: try DatabaseQueue(path: ":memory:", configuration: plain)
            case .namedMemory: try DatabaseQueue(named: directory.path, configuration: plain)
            case .keyedMemory: try DatabaseQueue(configuration: configuration)
            }
        }

        var isMemory: Bool { [.memory, .pathOfMemory, .namedMemory].contains(self) }
        var hasKey: Bool { [.encryptedQueue, .encryptedPool, .keyedMemory].contains(self) }
    }

    private func mode(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    // MARK: - With a key

    @Test(
        "ATTACH with a key creates a missing file with that key, accessible only to its owner",
        arguments: Source.allCases)
    func newFileWithKey(source: Source) throws {
        try withTestDirectory { directory in
            let writer = try source.open(directory, allowsPlaintext: false)
            let path = directory.path("new.db")
            try writer.writeWithoutTransaction { db in
                try db.execute(sql: "ATTACH DATABASE ? AS new KEY ?", arguments: [path, "secret"])
                try db.execute(
                    sql:
                        "PRAGMA new.journal_mode = WAL; CREATE TABLE new.t (a); INSERT INTO new.t VALUES (1), (2)"
                )
                #expect(try self.mode(path) == 0o600)
                #expect(try self.mode(path + "-wal") == 0o600)
                try db.execute(sql: "DETACH DATABASE new")
            }
            #expect(
                try SQLCipherShell(path: path, passphrase: "secret").run("SELECT count(*) FROM t;") == ["2"])
        }
    }

    @Test(
        "the documented sqlcipher_export sequence works from every kind of database",
        arguments: Source.allCases)
    func export(source: Source) throws {
        try withTestDirectory { directory in
            let writer = try source.open(directory, allowsPlaintext: false)
            let path = directory.path("new.db")
            try writer.writeWithoutTransaction { db in
                try db.execute(
                    sql:
                        "CREATE TABLE item (id INTEGER PRIMARY KEY, title TEXT); INSERT INTO item VALUES (7, 'seven')"
                )
                try db.execute(sql: "ATTACH DATABASE ? AS encrypted KEY ?", arguments: [path, "secret"])
                try db.execute(sql: "SELECT sqlcipher_export('encrypted')")
                try db.execute(sql: "DETACH DATABASE encrypted")
                try db.execute(
                    sql: """
                        ATTACH DATABASE '\(path).2' AS encrypted KEY 'secret'; SELECT \
                        sqlcipher_export('encrypted'); DETACH encrypted
                        """)
            }
            for file in [path, path + ".2"] {
                #expect(
                    try SQLCipherShell(path: file, passphrase: "secret").run("SELECT * FROM item;") == [
                        "7|seven"
                    ])
                #expect(try self.mode(file) == 0o600)
                let reopened = try DatabaseQueue(path: file, configuration: .passphrase("secret"))
                #expect(
                    try reopened.read { try String.fetchOne($0, sql: "SELECT title FROM item") } == "seven")
            }
        }
    }

    // MARK: - Without a key

    @Test(
        "a new file attached without a key gets the key of the main database, but not its salt",
        arguments: [false, true])
    func inheritedKey(isPassphrase: Bool) throws {
        try withTestDirectory { directory in
            let configuration = isPassphrase ? Configuration.passphrase("secret") : .rawKeyed
            for source in [Source.encryptedQueue, .encryptedPool, .keyedMemory] {
                let name = "\(source).db"
                let path = directory.path(name)
                for turn in 1...3 {
                    let writer = try source.open(directory, configuration)
                    try writer.writeWithoutTransaction { db in
                        try db.execute(sql: "/* cache */ ATTACH '\(path)' AS \"cache\"")
                        try db.execute(
                            sql: "CREATE TABLE IF NOT EXISTS cache.t (a); INSERT INTO cache.t VALUES (1)")
                        #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM cache.t") == turn)
                        try db.execute(sql: "DETACH cache")
                    }
                    try writer.close()
                }
                #expect(try self.mode(path) == 0o600)
                let salt = try directory.bytes(of: name).prefix(16)
                if source != .keyedMemory { #expect(try salt != directory.bytes(of: "main.db").prefix(16)) }
                #expect(!salt.starts(with: Array("SQLite".utf8)))
                let reopened = try DatabaseQueue(path: path, configuration: configuration)
                #expect(try reopened.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 3)
                let shell =
                    isPassphrase
                    ? SQLCipherShell(path: path, passphrase: "secret") : SQLCipherShell(path: path)
                #expect(try shell.run("SELECT count(*) FROM t;") == ["3"])
            }
        }
    }

    @Test("ATTACH without KEY opens files with the connection's current or previous key, and no others")
    func existingFiles() throws {
        try withTestDirectory { directory in
            for (name, configuration) in [
                ("same.db", Configuration.rawKeyed), ("other.db", .rawKeyed(7)), ("old.db", .rawKeyed(9)),
            ] {
                try directory.makeQueue(name, configuration).write {
                    try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
                }
            }
            try directory.makeQueue("plain.db", Configuration().with { $0.allowsPlaintext = true }).write {
                try $0.execute(sql: "CREATE TABLE t (a)")
            }
            let old = DatabaseKey.rawKey([UInt8](repeating: 9, count: 32))
            let queue = try directory.makeQueue(
                "main.db", Configuration.rawKeyed.with { $0.previousKeys = [old] })
            try queue.inDatabase { db in
                for name in ["same.db", "old.db"] {
                    try db.execute(sql: "ATTACH ? AS x", arguments: [directory.path(name)])
                    #expect(try Int.fetchOne(db, sql: "SELECT a FROM x.t") == 1)
                    try db.execute(sql: "DETACH x")
                }
                for name in ["other.db", "plain.db"] {
                    let error = #expect(throws: DatabaseError.self) {
                        try db.execute(sql: "ATTACH ? AS x", arguments: [directory.path(name)])
                    }
                    #expect(error?.resultCode == .SQLITE_NOTADB)
                }
                try db.execute(sql: "ATTACH ? AS x KEY ''", arguments: [directory.path("plain.db")])
                #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM x.t") == 0)
            }
        }
    }

    @Test(
        "ATTACH creates a plaintext file only if the configuration allows it", arguments: Source.allCases
    )
    func plaintext(source: Source) throws {
        try withTestDirectory { directory in
            for allowsPlaintext in [false, true] where allowsPlaintext || source != .plaintextQueue {
                let configuration = Configuration.rawKeyed.with { $0.allowsPlaintext = allowsPlaintext }
                let writer = try source.open(directory, configuration, allowsPlaintext: allowsPlaintext)
                try writer.writeWithoutTransaction { db in
                    let path = directory.path("plain.db")
                    let sql = source.hasKey ? "ATTACH '\(path)' AS x KEY ''" : "ATTACH '\(path)' AS x"
                    if allowsPlaintext {
                        try db.execute(sql: sql)
                        try db.execute(sql: "CREATE TABLE x.t (a); INSERT INTO x.t VALUES (1); DETACH x")
                        #expect(try SQLCipherShell(plaintextPath: path).run("SELECT a FROM t;") == ["1"])
                        #expect(try self.mode(path) == 0o600)
                    } else {
                        let error = #expect(throws: DatabaseError.self) { try db.execute(sql: sql) }
                        #expect(error?.resultCode == .SQLITE_AUTH)
                        #expect(
                            error?.message?.contains("vacuum(into:key:)") == true,
                            "\(String(describing: error))")
                        #expect(!FileManager.default.fileExists(atPath: path))
                    }
                }
                try writer.close()
            }
        }
    }

    // MARK: - VACUUM INTO

    @Test(
        "VACUUM INTO creates a file, or its error names the method to call instead",
        arguments: Source.allCases)
    func vacuumInto(source: Source) throws {
        try withTestDirectory { directory in
            for allowsPlaintext in [false, true] {
                // Allowing plaintext does not allow a readable copy of an encrypted database.
                let configuration = Configuration.rawKeyed.with { $0.allowsPlaintext = allowsPlaintext }
                let writer = try source.open(directory, configuration, allowsPlaintext: allowsPlaintext)
                let path = directory.path("copy\(allowsPlaintext).db")
                let isAllowed = !source.hasKey && (allowsPlaintext || source == .plaintextQueue)
                try writer.writeWithoutTransaction { db in
                    try db.execute(sql: "CREATE TABLE IF NOT EXISTS t (a)")
                    for sql in ["VACUUM INTO ?", " ;/* a */vacuum main into ?1"] {
                        if isAllowed {
                            try db.execute(sql: sql, arguments: [path])
                            #expect(try SQLCipherShell(plaintextPath: path).run(".tables") == ["t"])
                            #expect(try self.mode(path) == 0o600)
                            try FileManager.default.removeItem(atPath: path)
                        } else {
                            let error = #expect(throws: DatabaseError.self) {
                                try db.execute(sql: sql, arguments: [path])
                            }
                            #expect(error?.resultCode == .SQLITE_AUTH)
                            #expect(
                                error?.message?.contains("vacuum(into:") == true,
                                "\(String(describing: error))")
                            #expect(!FileManager.default.fileExists(atPath: path))
                        }
                    }
                    // Plain VACUUM is unaffected.
                    try db.execute(sql: "VACUUM")
                }
                try writer.close()
            }
        }
    }

    @Test("VACUUM INTO refuses a URI", arguments: Source.allCases)
    func vacuumIntoURI(source: Source) throws {
        guard !source.hasKey else { return }
        try withTestDirectory { directory in
            let writer = try source.open(directory)
            try writer.writeWithoutTransaction { db in
                try db.execute(sql: "CREATE TABLE t (a)")
                let error = #expect(throws: DatabaseError.self) {
                    try db.execute(sql: "VACUUM INTO 'file:\(directory.path("uri.db"))?mode=rwc'")
                }
                #expect(error?.message?.contains("URI") == true, "\(String(describing: error))")
            }
            #expect(!directory.fileNames().contains { $0.contains("uri") })
        }
    }

    // MARK: - The text of the statement

    @Test(
        "every spelling of ATTACH has the effect that it has in SQLite",
        arguments: [
            "ATTACH 'PATH' AS x", "attach database \"PATH\" as [x]", "ATTACH ('PA' || 'TH') AS `x`",
            "ATTACH CAST('PATH' AS TEXT) AS 'x'",
            "/* ' */ -- \"\n ;; ATTACH/**/'PATH'/**/AS/**/x/**/;",
            "ATTACH DATABASE [PATH] AS \"x\" -- KEY 'no'",
            "\u{FEFF}ATTACH 'PATH' AS x",
            "ATTACH (SELECT 'PATH') AS x;;", "ATTACH `PATH` AS x KEY NULL",
            "ATTACH CASE 1 WHEN 1 THEN 'PATH' END AS x",
        ])
    func spellings(sql: String) throws {
        try withTestDirectory { directory in
            for source in [Source.encryptedQueue, .plaintextQueue, .namedMemory] {
                let path = directory.path("it's \(source).db")
                try FileManager.default.createDirectory(
                    atPath: directory.path("PA"), withIntermediateDirectories: true)
                let writer = try source.open(directory)
                try writer.writeWithoutTransaction { db in
                    let quoted = path.replacing("'", with: sql.contains("'PA") ? "''" : "'")
                    let attachment = sql.replacing("'PA' || 'TH'", with: "'PATH'").replacing(
                        "PATH", with: quoted)
                    try db.execute(sql: attachment + "\n; CREATE TABLE x.t (a)")
                    #expect(FileManager.default.fileExists(atPath: path))
                    #expect(
                        try Row.fetchAll(db, sql: "PRAGMA database_list").map { $0[1] as String }.contains(
                            "x"))
                    try db.execute(sql: "DETACH x")
                }
                try writer.close()
            }
        }
    }

    @Test("statements, traces and errors show ATTACH in its original form")
    func text() throws {
        try withTestDirectory { directory in
            let recorder = SQLRecorder()
            let queue = try directory.makeQueue("main.db", recorder.recording(.rawKeyed))
            try queue.inDatabase { db in
                let sql = "ATTACH '\(directory.path("x.db"))' AS x"
                #expect(try db.makeStatement(sql: sql).sql == sql)
                try db.execute(sql: sql)
                #expect(recorder.statements.last == sql)
                let error = #expect(throws: DatabaseError.self) { try db.execute(sql: sql) }
                #expect(error?.sql == sql)
                #expect(error?.message?.contains("already in use") == true)
                // With an unclosed quote, the error must not show the text that Coffer appends.
                let unclosed = #expect(throws: DatabaseError.self) {
                    try db.execute(sql: "ATTACH 'x.db' AS 'y")
                }
                #expect(
                    unclosed.map { "\($0)".contains("coffer_") } == false, "\(String(describing: unclosed))")
                try db.execute(sql: "DETACH x")
                try db.execute(sql: sql + " KEY 'other'")
                #expect(recorder.statements.last == sql + " KEY '<redacted>'")
            }
        }
    }

    @Test(
        "SQL cannot call the internal functions that implement ATTACH, even from a view",
        arguments: [
            "SELECT coffer_key()", "SELECT hex(coffer_key(NULL))", "SELECT coffer_path('a'), coffer_key()",
            "VALUES (COFFER_KEY())",
        ])
    func functions(sql: String) throws {
        try withTestDirectory { directory in
            let queue = try directory.makeQueue()
            queue.inDatabase { db in
                #expect(throws: DatabaseError.self) { _ = try Row.fetchAll(db, sql: sql) }
                #expect(throws: DatabaseError.self) {
                    try db.execute(sql: "CREATE VIEW v AS \(sql)")
                    _ = try Row.fetchAll(db, sql: "SELECT * FROM v")
                }
                #expect(throws: DatabaseError.self) {
                    _ = try Row.fetchAll(db, sql: "ATTACH ':memory:' AS (\(sql))")
                }
                #expect(throws: DatabaseError.self) {
                    try db.execute(sql: "ATTACH ':memory:' AS (SELECT 'x') KEY 'y'")
                }
            }
        }
    }

    @Test("ATTACH treats a URI as a file name, even with a named in-memory database")
    func uris() async {
        await #expect(processExitsWith: .exitCode(7)) {
            var isRight = true
            try withTestDirectory { directory in
                _ = FileManager.default.changeCurrentDirectoryPath(directory.path)
                for source in Source.allCases {
                    let name = "file:\(source)?mode=memory&key=x"
                    try source.open(directory).writeWithoutTransaction { db in
                        try db.execute(
                            sql: "ATTACH '\(name)' AS x KEY 'secret'; CREATE TABLE x.t (a); DETACH x")
                    }
                    // The file was created for the database, and written to.
                    let size =
                        try FileManager.default.attributesOfItem(atPath: directory.path(name))[.size] as? Int
                    if size != 8192 {
                        print("\(name) has \(String(describing: size)) bytes")
                        isRight = false
                    }
                }
            }
            exit(isRight ? 7 : 1)
        }
    }

    @Test(
        "in-memory databases with the same name are one database, for any characters in the name",
        arguments: ["preview", "a b", "a&cache=private", "ä%41", "/x?y#z"])
    func named(name: String) throws {
        let unique = name + UUID().uuidString
        let first = try DatabaseQueue(named: unique)
        try first.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        let second = try DatabaseQueue(named: unique)
        #expect(try second.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
        #expect(try DatabaseQueue(named: unique + "x").read { try !$0.tableExists("t") })
        #expect(try DatabaseQueue().read { try !$0.tableExists("t") })
        try first.close()
        try second.close()
        #expect(try DatabaseQueue(named: unique).read { try !$0.tableExists("t") })
    }

    @Test(
        "ATTACH without KEY is refused if the connection has custom cipher settings or an explicit salt"
    )
    func unreadable() throws {
        try withTestDirectory { directory in
            let other = Configuration.rawKeyed.with { $0.cipher.pageSize = 8192 }
            let salted = Configuration().with {
                $0.key = .rawKey([UInt8](repeating: 1, count: 32), salt: [UInt8](repeating: 2, count: 16))
            }
            for (name, configuration) in [("other.db", other), ("salted.db", salted)] {
                try directory.makeQueue(name, configuration).inDatabase { db in
                    let error = #expect(throws: DatabaseError.self) {
                        try db.execute(sql: "ATTACH '\(directory.path("x.db"))' AS x")
                    }
                    #expect(error?.resultCode == .SQLITE_AUTH)
                    #expect(error?.message?.contains("KEY") == true)
                    try db.execute(
                        sql: "ATTACH '\(directory.path(name)).new' AS x KEY 'secret'; CREATE TABLE x.t (a)")
                }
            }
        }
    }

    @Test(
        "an ATTACH that fails for its key has the typed reason that an opening has",
        arguments: Source.allCases)
    func reasons(source: Source) throws {
        try withTestDirectory { directory in
            let key = DatabaseKey.passphrase("right")
            for format in 1...4 {
                let configuration = Configuration().with {
                    $0.key = key
                    $0.cipher = .sqlcipher(format: format)
                }
                try directory.makeQueue("\(format).db", configuration).write {
                    try $0.execute(sql: "CREATE TABLE t (a)")
                }
            }
            try directory.makeQueue("plain.db", Configuration().with { $0.allowsPlaintext = true }).write {
                try $0.execute(sql: "CREATE TABLE t (a)")
            }
            try directory.write([UInt8](repeating: 0x20, count: 8192), to: "text.db")
            let writer = try source.open(directory)
            let reason = { (name: String, key: String) -> EncryptionFailure? in
                writer.writeWithoutTransaction { db in
                    let error = #expect(throws: DatabaseError.self) {
                        try db.execute(sql: "ATTACH '\(directory.path(name))' AS x \(key)")
                    }
                    #expect(error?.message == error?.encryptionFailure?.description)
                    return error?.encryptionFailure
                }
            }
            #expect(reason("4.db", "KEY 'wrong'") == .wrongKey)
            for format in 1...3 { #expect(reason("\(format).db", "KEY 'right'") == .olderFormat(format)) }
            #expect(reason("plain.db", "KEY 'right'") == .plaintextFile)
            #expect(reason("text.db", "KEY 'right'") == .notADatabase)
            #expect(reason("4.db", "KEY ''") == .noKey)
            if !source.hasKey { #expect(reason("4.db", "") == .noKey) }
            for name in ["4.db", "missing.db"] {
                for number in ["12345", "-1", "1.5", "(1 + 1)"] {
                    #expect(reason(name, "KEY \(number)") == .invalidKey(.number))
                }
            }
            #expect(!directory.fileNames().contains("missing.db"))
            try writer.writeWithoutTransaction { db in
                try db.execute(sql: "ATTACH '\(directory.path("4.db"))' AS x KEY 'right'")
                #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM x.t") == 0)
            }
        }
    }

    @Test("a read-only connection attaches existing files, and creates none")
    func readonly() throws {
        try withTestDirectory { directory in
            try directory.makeQueue("main.db").close()
            try directory.makeQueue("other.db").write { try $0.execute(sql: "CREATE TABLE t (a)") }
            let queue = try directory.makeQueue("main.db", Configuration.rawKeyed.with { $0.readonly = true })
            try queue.inDatabase { db in
                try db.execute(sql: "ATTACH '\(directory.path("other.db"))' AS x")
                #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM x.t") == 0)
                for key in ["", " KEY 'a'"] {
                    #expect(throws: DatabaseError.self) {
                        try db.execute(sql: "ATTACH '\(directory.path("new.db"))' AS y\(key)")
                    }
                }
                #expect(!FileManager.default.fileExists(atPath: directory.path("new.db")))
            }
        }
    }
}
