import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Keys in what users see")
struct KeySecrecyTests {
    static let secret = "tr0ub4dor"
    static let hex = "5ec2e75ec2e75ec2e75ec2e75ec2e75ec2e75ec2e75ec2e75ec2e75ec2e75ec2"

    static let statements: [String] = [
        "PRAGMA key = '\(secret)'", "PRAGMA key = \"\(secret)\"", "PRAGMA key('\(secret)')", "PRAGMA main.key = '\(secret)'",
        "PRAGMA key = \(secret)", "PRAGMA key = \"x'\(hex)'\"", "PRAGMA hexkey = '\(hex)'", "PRAGMA rekey = '\(secret)'",
        "PRAGMA hexrekey = '\(hex)'", "pragma/**/KEY/**/=/**/'\(secret)' -- \(secret)", "PRAGMA key = '\(secret)' '\(secret)'",
        "PRAGMA key = '\(secret)", "PRAGMA key = \(secret) \(secret) x", "PRAGMA key == '\(secret)'", "PRAGMA key ''\(secret)''",
        "PRAGMA 'key' = '\(secret)'", "PRAGMA [key] = [\(secret)]", "PRAGMA textkey = '\(secret)'", "PRAGMA key = `\(secret)` +",
        "PRAGMA\u{a0}key = '\(secret)'", "PRAGMA key\u{a0}= '\(secret)'",
        "ATTACH 'x.db' AS x KEY '\(secret)'", "ATTACH DATABASE 'x.db' AS x KEY \"\(secret)\"", "ATTACH 'x.db' AS x KEY x'\(hex)'",
        "ATTACH 'x.db' AS x KEY '\(secret)' garbage", "ATTACH 'x.db' AS x KEY '\(secret)", "ATTACH 'x.db' x KEY \(secret)",
        "ATTACH '/nonexistent/x.db' AS x KEY '\(secret)'", "ATTACH 'x.db' AS x KEY ('\(secret)' || )", "ATTACH 'x.db' KEY '\(secret)' AS x",
        "ATTACH 'x.db' AS main KEY '\(secret)'", "ATTACH '/' AS x KEY '\(secret)' || '\(secret)'",
        "ATTACH 'x.db' AS x KEY abs('\(secret)')",
        "ATTACH 'file:/nonexistent/x?key=\(secret)' AS x", "ATTACH 'file:/nonexistent/x?hexkey=\(hex)' AS x",
        "ATTACH 'file:/nonexistent/x?textkey=\(secret)' AS x", "VACUUM INTO 'file:/nonexistent/x?key=\(secret)'",
        "ATTACH ('file:/nonexistent/' || 'x?key=\(secret)') AS x",
        "SELECT 1; PRAGMA key = '\(secret)'", "SELEC 1; PRAGMA key = '\(secret)'",
        "SELECT 1 FROM nowhere; ATTACH 'x.db' AS x KEY '\(secret)'",
        "EXPLAIN ATTACH 'x.db' AS x KEY '\(secret)' error", "EXPLAIN PRAGMA key = '\(secret)'",
        "CREATE TABLE k (a); INSERT INTO k VALUES (1; PRAGMA rekey='\(secret)'", "/* PRAGMA */ PRAGMA key='\(secret)'; bad",
        "SELECT sqlcipher_export('x'); ATTACH 'x.db' AS x KEY '\(secret)' '",
        "ATTACH 'x.db' AS x KEY '\(secret)'; SELECT sqlcipher_export('y')",
    ]

    @Test("no error tells the key of the statement that failed, in any of its properties", arguments: statements)
    func errors(sql: String) throws {
        let memory = try DatabaseQueue()
        let shown = try withTestDirectory { directory in
            let keyed = try directory.makeQueue()
            let plain = try directory.makeQueue("plain.db", Configuration().with { $0.allowsPlaintext = true })
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
            #expect(!text.contains(KeySecrecyTests.secret) && !text.contains("5ec2e7"), "\(sql)")
            #expect(!text.contains(KeySecrecyTests.secret.dropFirst(2)) && !text.contains(KeySecrecyTests.secret.dropLast(2)), "\(sql)")
        }
    }

    @Test("a key that is bound as an argument is not in the error")
    func arguments() throws {
        try withTestDirectory { directory in
            let configuration = Configuration.rawKeyed.with { $0.publicStatementArguments = true }
            let queue = try directory.makeQueue("a.db", configuration)
            queue.inDatabase { db in
                for sql in ["ATTACH ? AS x KEY ?", "ATTACH :path AS x KEY :key", "ATTACH ? || '/' AS x KEY ?1 || ?"] {
                    do {
                        try db.execute(sql: sql, arguments: ["/nonexistent/x.db", KeySecrecyTests.secret])
                        Issue.record("no error for \(sql)")
                    } catch {
                        for text in KeySecrecyTests.everything(about: error) { #expect(!text.contains(KeySecrecyTests.secret), "\(sql)") }
                    }
                }
            }
        }
    }

    @Test("configurations, keys and errors of openings show nothing of their keys")
    func openings() throws {
        try withTestDirectory { directory in
            let bytes = Array(KeySecrecyTests.secret.utf8)
            let keys: [DatabaseKey] = [
                .passphrase(KeySecrecyTests.secret), .passphrase(bytes), .rawKey(Array(KeySecrecyTests.hex.utf8.prefix(32))),
                .provider { .passphrase(KeySecrecyTests.secret) },
            ]
            for (index, key) in keys.enumerated() {
                let configuration = Configuration.rawKeyed.with {
                    $0.key = key
                    $0.previousKeys = [keys[2]]
                    $0.cipher.kdfIterations = 1000
                }
                var texts = KeySecrecyTests.everything(about: key) + KeySecrecyTests.everything(about: configuration)
                _ = try? directory.makeQueue("\(index).db", configuration)
                try directory.write([UInt8](repeating: 7, count: 100), to: "short.db")
                _ = try? directory.makeQueue("other.db", .rawKeyed)
                for name in ["short.db", "other.db", "missing/x.db", ""] {
                    do { _ = try directory.makeQueue(name, configuration) } catch { texts += KeySecrecyTests.everything(about: error) }
                }
                let queue = try directory.makeQueue("\(index).db", configuration)
                texts += KeySecrecyTests.everything(about: queue)
                try queue.read { db in texts += [db.description, db.debugDescription] + KeySecrecyTests.everything(about: db.configuration)
                }
                for text in texts {
                    #expect(!text.contains(KeySecrecyTests.secret) && !text.contains("5ec2e7"))
                    // The same as a list of numbers.
                    #expect(!text.contains("116, 114, 48") && !text.contains("53, 101, 99"))
                }
            }
        }
    }

    @Test("traces show no keys, also of statements that fail", arguments: Access.allCases)
    func traces(access: Access) throws {
        try withTestDirectory { directory in
            let recorder = SQLRecorder()
            let configuration = recorder.recording(.passphrase(KeySecrecyTests.secret)).with { $0.publicStatementArguments = true }
            let writer = try directory.make(access, "a.db", configuration)
            try writer.write { try $0.execute(sql: "CREATE TABLE t (a)") }
            _ = try writer.int("SELECT count(*) FROM t")
            writer.writeWithoutTransaction { db in
                for sql in KeySecrecyTests.statements {
                    try? db.execute(sql: sql)
                    try? db.execute(sql: "DETACH x")
                }
                try? db.execute(sql: "ATTACH ? AS x KEY ?", arguments: [directory.path("x.db"), KeySecrecyTests.secret])
            }
            #expect(recorder.statements.contains { $0.contains("ATTACH") })
            for text in recorder.statements { #expect(!text.contains(KeySecrecyTests.secret) && !text.contains("5ec2e7")) }
        }
    }

    /// All the ways in which a value becomes text.
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
