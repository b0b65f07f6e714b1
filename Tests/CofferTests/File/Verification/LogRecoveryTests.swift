import Coffer
import CofferTestSupport
import SQLCipherBridge
import Testing

@Suite("Commits that recovery would not find", .enabled(if: SQLCipherShell.isAvailable))
struct LogRecoveryTests {
    let directory: TestDirectory
    private let key = DatabaseKey.rawKey([UInt8](repeating: 0x42, count: 32))

    init() throws { directory = try TestDirectory() }

    private func makeFile() throws -> DatabaseFile {
        let path = directory.path("a.db")
        let pool = try DatabasePool(path: path, configuration: .rawKeyed)
        try pool.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT);
                    CREATE INDEX t_text ON t (text);
                    INSERT INTO t (text) VALUES ('first')
                    """)
        }
        try pool.close()
        return DatabaseFile(path: path)
    }

    private func texts(_ path: String) throws -> [String] {
        try DatabaseQueue(path: path, configuration: .rawKeyed).read {
            try String.fetchAll($0, sql: "SELECT text FROM t ORDER BY id")
        }
    }

    @Test(
        "are found by a verification, and saved while their process lives",
        .enabled(if: EngineMend.logChecksums.isNeeded))
    func saved() throws {
        let file = try makeFile()
        let shell = try LiveShell(path: file.path)
        try shell.commitAfterPartialRollback(table: "t")
        let found = try file.verify(key: key)
        guard case .unrecoverable(let count)? = found.findings.last else {
            Issue.record("\(found)")
            return
        }
        #expect(!found.isIntact && count > 0 && found.findings.count == 1 && found.damagedPages.isEmpty)
        #expect(try file.healLog(key: key) == count)
        #expect(try file.verify(key: key).isIntact)
        #expect(try file.healLog(key: key) == 0)
        shell.kill()
        #expect(try texts(file.path) == ["first", "committed"])
    }

    @Test(
        "are lost without a verification, and cannot be found afterwards",
        .enabled(if: EngineMend.logChecksums.isNeeded))
    func lost() throws {
        let file = try makeFile()
        let shell = try LiveShell(path: file.path)
        try shell.commitAfterPartialRollback(table: "t")
        shell.kill()
        #expect(try file.verify(key: key).isIntact)
        #expect(try file.healLog(key: key) == 0)
        #expect(try texts(file.path) == ["first"])
    }

    @Test(
        "are not saved while a connection reads an older state",
        .enabled(if: EngineMend.logChecksums.isNeeded))
    func busy() throws {
        let file = try makeFile()
        let reader = try LiveShell(path: file.path)
        _ = try reader.run("BEGIN; SELECT count(*) FROM t;")
        let shell = try LiveShell(path: file.path)
        try shell.commitAfterPartialRollback(table: "t")
        #expect(throws: DatabaseFileError.self) { try file.healLog(key: key) }
        _ = try reader.run("COMMIT;")
        #expect(try file.healLog(key: key) > 0)
        #expect(try file.verify(key: key).isIntact)
    }

    @Test("are not reported where there are none")
    func none() throws {
        let file = try makeFile()
        let pool = try DatabasePool(path: file.path, configuration: .rawKeyed)
        try pool.write { try $0.execute(sql: "INSERT INTO t (text) VALUES ('second')") }
        // With commits of this process, then with one of another process.
        #expect(try file.verify(key: key).isIntact)
        #expect(try file.healLog(key: key) == 0)
        try pool.close()
        let shell = try LiveShell(path: file.path)
        _ = try shell.run("INSERT INTO t (text) VALUES ('third');")
        #expect(try file.verify(key: key).isIntact)
        #expect(try file.healLog(key: key) == 0)
        shell.kill()
        #expect(try texts(file.path) == ["first", "second", "third"])
    }
}
