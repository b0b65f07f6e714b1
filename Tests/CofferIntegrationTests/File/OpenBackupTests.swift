import Coffer
import CofferTestSupport
import Testing

@Suite("A dated backup that this process has open")
struct OpenBackupTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test("keeps its locks, and is not removed, while a retention is applied")
    func keepsLocks() throws {
        let queue = try directory.makeQueue("a.db")
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try queue.close()
        let file = DatabaseFile(path: directory.path("a.db"))
        let folder = try directory.makeFolder("safe")
        let key = DatabaseKey.rawKey([UInt8](repeating: 0x42, count: 32))
        let first = try file.backup(into: folder, key: key)
        try file.backup(into: folder, key: key)

        let open = try DatabaseQueue(path: first.path, configuration: .rawKeyed)
        try open.inDatabase { db in
            try db.execute(sql: "BEGIN IMMEDIATE")
            let pruning = try file.backupPruning(in: folder, keeping: .init(), keys: [key])
            #expect(pruning.outdated == [])
            #expect(pruning.unproved.map(\.backup.path) == [first.path])
            // The transaction still keeps other processes from writing.
            let shell = SQLCipherShell(path: first.path)
            let failure = #expect(throws: SQLCipherShell.Failure.self) {
                try shell.run("INSERT INTO t VALUES (1);")
            }
            #expect(failure.map { "\($0)".contains("locked") } == true, "\(failure as Any)")
            try db.execute(sql: "ROLLBACK")
        }
        try open.close()
        #expect(try file.backupPruning(in: folder, keeping: .init(), keys: [key]).outdated.count == 1)
    }
}
