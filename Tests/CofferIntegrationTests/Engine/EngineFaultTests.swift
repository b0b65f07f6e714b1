import Coffer
import CofferTestSupport
import SQLCipherBridge
import Testing

@Suite("An engine with a fault")
struct EngineFaultTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    // MARK: - Counts

    @Test("counts the rows of a view")
    func countOfView() throws {
        let pool = try DatabasePool(path: directory.path("a.db"), configuration: .rawKeyed)
        try pool.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE number (x INTEGER);
                    INSERT INTO number VALUES (1), (1), (2);
                    CREATE VIEW twice AS SELECT DISTINCT x FROM number UNION ALL SELECT DISTINCT x FROM number
                    """)
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM twice") == 4)
        }
        #expect(try pool.read { try Table("twice").fetchCount($0) } == 4)
    }

    @Test("keeps commits of other connections when it leaves WAL mode", arguments: ["DELETE", "TRUNCATE"])
    func staleCache(mode: String) throws {
        let path = directory.path("a.db")
        var configuration = Configuration.rawKeyed
        configuration.journalMode = .wal
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { try $0.execute(sql: "CREATE TABLE t (x); INSERT INTO t VALUES ('a1')") }
        #expect(try queue.read { try String.fetchAll($0, sql: "SELECT x FROM t") } == ["a1"])
        let other = try DatabaseQueue(path: path, configuration: configuration)
        try other.write { try $0.execute(sql: "INSERT INTO t VALUES ('b1')") }
        try other.close()
        try queue.inDatabase { db in
            #expect(try String.fetchOne(db, sql: "PRAGMA journal_mode = \(mode)") == mode.lowercased())
            #expect(try String.fetchAll(db, sql: "SELECT x FROM t") == ["a1", "b1"])
            try db.execute(sql: "INSERT INTO t VALUES ('a2')")
            #expect(try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL") == "wal")
            try db.execute(sql: "INSERT INTO t VALUES ('a3')")
        }
        try queue.close()
        #expect(try SQLCipherShell(path: path).run("SELECT x FROM t;") == ["a1", "b1", "a2", "a3"])
    }

    @Test(
        "shows its faults if Coffer's fixes are turned off",
        .enabled(if: EngineMend.allCases.allSatisfy(\.isNeeded)))
    func engineItself() throws {
        // If the engine did not have the fault, the tests of the faults would be pointless.
        func run(_ environment: [String: String]) throws -> String {
            try ChildProcess.run(
                ChildProcess.built("CofferTestWorker"), ["faults"], environment: environment
            ).outputText
        }
        #expect(try run(["COFFER_ENGINE_FAULT_MENDS": "off"]) == "count 6\nother bytes\npresent 1\n")
        #expect(try run([:]) == "count 4\nrefused\nsame bytes\nrefused\n")
    }

    // MARK: - The table

    @Test("is described in a table that has a row for each fix")
    func table() {
        #expect(EngineFault.ofThisEngine.allSatisfy { $0.isOfThisEngine })
        let mends: [EngineMend: EngineFault] = [
            .logChecksums: .lostCommits, .storedColumns: .storedColumns, .countOfView: .countOfView,
            .typeErrors: .typeErrors, .staleCache: .staleCache, .descendingNotIn: .descendingNotIn,
        ]
        let refusals: [EngineMend] = [.storedColumns, .descendingNotIn]
        #expect(mends.count == EngineMend.allCases.count)
        for (mend, fault) in mends {
            #expect(fault.isOfThisEngine == mend.isNeeded)
            #expect(fault.treatment == (refusals.contains(mend) ? .refused : .mended))
        }
        #expect(
            EngineFault.allCases.filter { $0.treatment == .mended || $0.treatment == .refused }.count == 8)
        // A fault of SQLCipher 4.7 and later.
        #expect(!EngineFault.processExit.isOfEngine(sqlite: 3_046_001))
        #expect(EngineFault.processExit.isOfEngine(sqlite: 3_054_000))
        for fault in EngineFault.allCases where fault != .processExit && fault != .staleCache {
            #expect(fault.isOfEngine(sqlite: 3_046_001) && !fault.isOfEngine(sqlite: 3_054_000))
        }
    }
}
