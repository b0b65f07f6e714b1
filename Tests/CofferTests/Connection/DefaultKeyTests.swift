import Coffer
import CofferTestSupport
import Foundation
import Testing

/// The default key is global to the process, so each test runs in its own process.
struct DefaultKeyTests {
    @Test(
        "a file whose configuration has no key is encrypted with the default key", arguments: Access.allCases)
    func encrypts(access: Access) async {
        await #expect(processExitsWith: .success) { [access] in
            try withTestDirectory { directory in
                try Configuration.setDefaultKey(.passphrase("by default"))
                let path = directory.path("a.db")
                var configuration = Configuration()
                // A preparation that sets no key and uses the connection before the key is known.
                if access == .pool {
                    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA recursive_triggers = 1") }
                }
                let writer: any DatabaseWriter =
                    if access == .pool { try DatabasePool(path: path, configuration: configuration) } else {
                        try DatabaseQueue(path: path)
                    }
                try writer.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
                try #require(try writer.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
                try writer.rotateKey(to: .passphrase("next"))
                try #require(try writer.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
                try writer.close()
                let shell = SQLCipherShell(path: path, passphrase: "next")
                try #require(try shell.run("SELECT a FROM t;") == ["1"])
            }
        }
    }

    @Test(
        "a configured key, a prepared passphrase and plaintext take precedence over the default key"
    )
    func precedence() async {
        await #expect(processExitsWith: .success) {
            try withTestDirectory { directory in
                try Configuration.setDefaultKey(.passphrase("correct horse battery staple"))
                var configuration = Configuration()
                configuration.key = .passphrase("own")
                try DatabaseQueue(path: directory.path("own.db"), configuration: configuration).write {
                    try $0.execute(sql: "CREATE TABLE t (a)")
                }
                var prepared = Configuration()
                prepared.prepareDatabase { try $0.usePassphrase("prepared") }
                try DatabasePool(path: directory.path("prepared.db"), configuration: prepared).write {
                    try $0.execute(sql: "CREATE TABLE t (a)")
                }
                var plain = Configuration()
                plain.allowsPlaintext = true
                try DatabaseQueue(path: directory.path("plain.db"), configuration: plain).write {
                    try $0.execute(sql: "CREATE TABLE t (a)")
                }
                for name in ["own", "prepared"] {
                    let shell = SQLCipherShell(path: directory.path("\(name).db"), passphrase: name)
                    try #require(try shell.run("SELECT name FROM sqlite_master;") == ["t"])
                }
                try #require(try directory.bytes(of: "plain.db").starts(with: "SQLite format 3".utf8))
                let memory = try DatabaseQueue()
                try #require(try memory.read { try Int.fetchOne($0, sql: "SELECT 1") } == 1)
            }
        }
    }

    @Test("the default key can be set only once, and only before a file needs it")
    func settingTwiceAndLate() async {
        await #expect(processExitsWith: .success) {
            try Configuration.setDefaultKey(.passphrase("a"))
            let error = #expect(throws: DatabaseError.self) {
                try Configuration.setDefaultKey(.passphrase("b"))
            }
            try #require(error?.resultCode == .SQLITE_MISUSE)
        }
        await #expect(processExitsWith: .success) {
            try withTestDirectory { directory in
                let refusal = #expect(throws: DatabaseError.self) {
                    try DatabaseQueue(path: directory.path("a.db"))
                }
                try #require(refusal?.encryptionFailure == .noKey)
                try #require(refusal?.message?.contains("setDefaultKey") == true)
                let error = #expect(throws: DatabaseError.self) {
                    try Configuration.setDefaultKey(.passphrase("late"))
                }
                try #require(error?.resultCode == .SQLITE_MISUSE)
                try #require(Configuration.defaultKey == nil)
            }
        }
    }
}
