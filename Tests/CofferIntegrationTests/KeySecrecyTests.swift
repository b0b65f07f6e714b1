import Coffer
import CofferTestSupport
import Foundation
import Synchronization
import Testing

@Suite("Keys in visible output")
struct KeySecrecyTests {
    static let secret = KeySpellings.secret
    static let hex = KeySpellings.digits

    @Test(
        "no error shows the key of the statement that failed, in any of its properties",
        arguments: KeySpellings.failing + KeySpellings.expressions)
    func errors(sql: String) throws {
        let memory = try DatabaseQueue()
        let shown = try withTestDirectory { directory in
            let keyed = try directory.makeQueue()
            let plain = try directory.makeQueue(
                "plain.db", Configuration().with { $0.allowsPlaintext = true })
            return [keyed, plain, memory].flatMap { queue in
                queue.inDatabase { db -> [String] in
                    var texts: [String] = []
                    let run = { (body: () throws -> Void) in
                        do { try body() } catch { texts += KeySecrecyTests.everything(about: error) }
                        try? db.execute(sql: "DETACH x")
                    }
                    run { try db.execute(sql: sql) }
                    run { _ = try Row.fetchAll(db, sql: sql) }
                    run { _ = try db.makeStatement(sql: sql) }
                    run { try db.makeStatement(sql: sql).execute() }
                    run { texts.append("\(try db.makeStatement(sql: sql))") }
                    run { try db.cachedStatement(sql: sql).execute() }
                    run { _ = try db.cachedStatement(sql: "\(sql) ?") }
                    return texts
                }
            }
        }
        for text in shown {
            #expect(!KeySpellings.isShown(in: text), "\(sql)")
        }
    }

    @Test("a key that is bound as an argument is not in the error")
    func arguments() throws {
        try withTestDirectory { directory in
            let configuration = Configuration.rawKeyed.with { $0.publicStatementArguments = true }
            let queue = try directory.makeQueue("a.db", configuration)
            queue.inDatabase { db in
                let uri = "file:/nonexistent/x?key=\(KeySecrecyTests.secret)"
                let coded = "file:/nonexistent/x?%6bey=\(KeySecrecyTests.secret)"
                let statements: [(String, StatementArguments)] = [
                    ("ATTACH ? AS x KEY ?", ["/nonexistent/x.db", KeySecrecyTests.secret]),
                    ("ATTACH :path AS x KEY :key", ["/nonexistent/x.db", KeySecrecyTests.secret]),
                    ("ATTACH ? || '/' AS x KEY ?1 || ?", ["/nonexistent/x.db", KeySecrecyTests.secret]),
                    ("ATTACH ? AS x", [uri]), ("ATTACH ? AS x", [coded]), ("VACUUM INTO ?", [uri]),
                    ("ATTACH ? || ? AS x", ["file:/nonexistent/x?key=", KeySecrecyTests.secret]),
                ]
                for (sql, arguments) in statements {
                    do {
                        try db.execute(sql: sql, arguments: arguments)
                        Issue.record("no error for \(sql)")
                    } catch {
                        for text in KeySecrecyTests.everything(about: error) {
                            #expect(!text.contains(KeySecrecyTests.secret), "\(sql) \(text)")
                        }
                    }
                }
            }
        }
    }

    @Test(
        "an error about missing arguments does not show a parameter's name that repeats the key",
        arguments: [
            "ATTACH 'file:/nonexistent/x?key=' || :\(KeySecrecyTests.secret) AS x",
            "ATTACH '/nonexistent/x' AS x KEY :\(KeySecrecyTests.secret)",
            "ATTACH ':memory:' AS x KEY '\(KeySecrecyTests.secret)'; SELECT :\(KeySecrecyTests.secret)",
        ])
    func parameterNames(sql: String) throws {
        try DatabaseQueue(configuration: Configuration().with { $0.publicStatementArguments = true })
            .inDatabase { db in
                var texts: [String] = []
                func note(_ error: any Error) { texts += KeySecrecyTests.everything(about: error) }
                do { try db.execute(sql: sql, arguments: ["other": 1]) } catch { note(error) }
                try? db.execute(sql: "DETACH x")
                do {
                    let statements = try db.allStatements(sql: sql, arguments: nil)
                    while let statement = try statements.next() {
                        do { try statement.setArguments(["other": 1]) } catch { note(error) }
                        do {
                            statement.setUncheckedArguments([KeySecrecyTests.secret: KeySecrecyTests.secret])
                            try statement.execute()
                        } catch {
                            note(error)
                        }
                    }
                } catch {
                    note(error)
                }
                #expect(!texts.isEmpty)
                for text in texts { #expect(!text.contains(KeySecrecyTests.secret), "\(sql) \(text)") }
            }
    }

    @Test("configurations, keys and errors of openings show nothing of their keys")
    func openings() throws {
        try withTestDirectory { directory in
            let bytes = Array(KeySecrecyTests.secret.utf8)
            let keys: [DatabaseKey] = [
                .passphrase(KeySecrecyTests.secret), .passphrase(bytes),
                .rawKey(Array(KeySecrecyTests.hex.utf8.prefix(32))),
                .provider { .passphrase(KeySecrecyTests.secret) },
            ]
            for (index, key) in keys.enumerated() {
                let configuration = Configuration.rawKeyed.with {
                    $0.key = key
                    $0.previousKeys = [keys[2]]
                    $0.cipher.kdfIterations = 1000
                }
                var texts =
                    KeySecrecyTests.everything(about: key) + KeySecrecyTests.everything(about: configuration)
                _ = try? directory.makeQueue("\(index).db", configuration)
                try directory.write([UInt8](repeating: 7, count: 100), to: "short.db")
                _ = try? directory.makeQueue("other.db", .rawKeyed)
                for name in ["short.db", "other.db", "missing/x.db", ""] {
                    do { _ = try directory.makeQueue(name, configuration) } catch {
                        texts += KeySecrecyTests.everything(about: error)
                    }
                }
                let queue = try directory.makeQueue("\(index).db", configuration)
                texts += KeySecrecyTests.everything(about: queue)
                try queue.read { db in
                    texts +=
                        [db.description, db.debugDescription]
                        + KeySecrecyTests.everything(about: db.configuration)
                }
                for text in texts {
                    #expect(!text.contains(KeySecrecyTests.secret) && !text.contains("5ec2e7"))
                    // The key as a list of numbers.
                    #expect(!text.contains("116, 114, 48") && !text.contains("53, 101, 99"))
                }
            }
        }
    }

    @Test("traces show no keys, also of statements that fail", arguments: Access.allCases)
    func traces(access: Access) throws {
        try withTestDirectory { directory in
            let recorder = SQLRecorder()
            let configuration = recorder.recording(.passphrase(KeySecrecyTests.secret)).with {
                $0.publicStatementArguments = true
            }
            let writer = try directory.make(access, "a.db", configuration)
            try writer.write { try $0.execute(sql: "CREATE TABLE t (a)") }
            _ = try writer.int("SELECT count(*) FROM t")
            writer.writeWithoutTransaction { db in
                for sql in KeySpellings.failing + KeySpellings.expressions {
                    try? db.execute(sql: sql)
                    try? db.execute(sql: "DETACH x")
                }
                try? db.execute(
                    sql: "ATTACH ? AS x KEY ?", arguments: [directory.path("x.db"), KeySecrecyTests.secret])
            }
            #expect(recorder.statements.contains { $0.contains("ATTACH") })
            for text in recorder.statements { #expect(!KeySpellings.isShown(in: text), "\(text)") }
        }
    }

    @Test("the tests cover hundreds of spellings")
    func count() {
        #expect(Set(KeySpellings.failing).count >= 250)
        #expect(Set(KeySpellings.expressions).count >= 200 && Set(KeySpellings.literals).count >= 100)
    }

    @Test("all events of a trace, in all of their forms, show no keys")
    func events() throws {
        try withTestDirectory { directory in
            let texts = Mutex<[String]>([])
            let queue = try directory.makeQueue()
            queue.inDatabase { db in
                db.trace(options: [.statement, .profile]) { event in
                    texts.withLock {
                        $0 += KeySecrecyTests.everything(about: event) + [event.expandedDescription]
                    }
                    switch event {
                    case .statement(let statement), .profile(let statement, _):
                        texts.withLock { $0 += [statement.sql, statement.expandedSQL, "\(statement)"] }
                    }
                }
                for sql in KeySpellings.failing + KeySpellings.expressions {
                    try? db.execute(sql: sql)
                    try? db.execute(sql: sql, arguments: [KeySecrecyTests.secret])
                    try? db.execute(sql: "DETACH y")
                }
                for sql in [
                    "ATTACH ? AS y KEY ?", "ATTACH :a AS y KEY :b", "ATTACH ?1 AS y KEY lower(?2)",
                    "PRAGMA main.key(?2)",
                ] {
                    try? db.execute(sql: sql, arguments: [":memory:", KeySecrecyTests.secret])
                    try? db.execute(sql: sql, arguments: ["a": ":memory:", "b": KeySecrecyTests.secret])
                    try? db.execute(sql: "DETACH y")
                }
            }
            let shown = texts.withLock { $0 }
            #expect(shown.contains { $0.contains("ATTACH") })
            for text in shown where KeySpellings.isShown(in: text) { Issue.record("\(text)") }
        }
    }

    @Test("the log of SQLite's errors shows no keys")
    func log() async {
        await #expect(processExitsWith: .exitCode(7)) {
            let lines = Mutex<[String]>([])
            Database.logError = { code, message in lines.withLock { $0.append("\(code.rawValue) \(message)") }
            }
            try withTestDirectory { directory in
                let plain = try directory.makeQueue(
                    "plain.db", Configuration().with { $0.allowsPlaintext = true })
                for queue in [try directory.makeQueue(), plain, try DatabaseQueue()] {
                    queue.inDatabase { db in
                        for sql in KeySpellings.failing + KeySpellings.expressions + KeySpellings.literals {
                            try? db.execute(sql: sql)
                            _ = try? db.makeStatement(sql: sql)
                            try? db.execute(
                                sql: "ATTACH '/nonexistent/x' AS y KEY ?", arguments: [KeySecrecyTests.secret]
                            )
                            if let words = db.lastErrorMessage { lines.withLock { $0.append(words) } }
                            try? db.execute(sql: "DETACH y")
                            try? db.execute(sql: "DROP TABLE k")
                        }
                    }
                }
            }
            let shown = lines.withLock { $0 }.filter { KeySpellings.isShown(in: $0) }
            for line in shown { print(line) }
            exit(shown.isEmpty && lines.withLock { $0.count } > 200 ? 7 : 1)
        }
    }

    /// Returns every textual representation of a value.
    static func everything(about value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        var texts = ["\(value)", String(describing: value), String(reflecting: value), dumped]
        if let error = value as? any Error { texts += [error.localizedDescription] }
        if let error = value as? DatabaseError {
            texts += [error.description, error.expandedDescription, error.sql ?? "", error.message ?? ""]
            texts += ["\(error.errorUserInfo)", "\(error.arguments as Any)", "\(error as NSError)"]
        }
        return texts
    }
}
