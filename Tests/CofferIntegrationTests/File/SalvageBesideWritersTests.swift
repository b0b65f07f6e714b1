import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Salvaging a file that another process writes to")
struct SalvageBesideWritersTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private static let key = DatabaseKey.rawKey([UInt8](repeating: 0x42, count: 32))

    private func makeFile() throws -> DatabaseFile {
        let pool = try directory.makePool("players.db")
        try pool.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT DEFAULT 'Arthur');
                    WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
                    INSERT INTO player (name) SELECT hex(randomblob(30)) FROM n;
                    """)
        }
        try pool.close()
        return DatabaseFile(path: directory.path("players.db"))
    }

    @Test(
        "is busy once the other process has written, and creates no file",
        arguments: ["insert", "checkpoint", "vacuum", "delete"])
    func busy(command: String) throws {
        let file = try makeFile()
        let other = try OtherProcess(path: file.path, .pool, patience: 10)
        #expect(try other.tell("insert") == "done")
        var isTold = false
        let error = #expect(throws: DatabaseFileError.self) {
            try file.salvage(key: SalvageBesideWritersTests.key, to: directory.path("salvaged.db")) { step in
                guard !isTold, step.completedPageCount > 10 else { return }
                isTold = true
                let answer = try other.tell(command)
                #expect(answer == "done")
            }
        }
        guard case .busy(let users)? = error?.reason else {
            Issue.record("\(error as Any)")
            return
        }
        #expect(isTold && users.contains { $0.command?.hasPrefix("CofferTestWork") == true })
        #expect(!directory.fileNames().contains("salvaged.db"))
        // A process that only has the file open does not interfere.
        let salvage = try file.salvage(key: SalvageBesideWritersTests.key, to: directory.path("salvaged.db"))
        #expect(salvage.isComplete)
    }

    @Test("reports no damage while the other process writes, checkpoints and vacuums")
    func noDamageIsTold() throws {
        let file = try makeFile()
        let other = try OtherProcess(path: file.path, .pool, patience: 10)
        #expect(try other.tell("pairs") == "done")
        for round in 0..<12 {
            #expect(try other.tell(["checkpoint", "vacuum", "insert"][round % 3]) == "done")
            do {
                let salvage = try file.salvage(
                    key: SalvageBesideWritersTests.key, to: directory.path("\(round).db"))
                #expect(salvage.isComplete, "\(salvage)")
            } catch let error as DatabaseFileError {
                guard case .busy = error.reason else { throw error }
            }
        }
        #expect(Int(try other.tell("end pairs")) ?? 0 > 0)
        #expect(
            try file.salvage(key: SalvageBesideWritersTests.key, to: directory.path("last.db")).isComplete)
    }

    @Test("continues while another process writes, if the options allow it")
    func allowed() throws {
        let file = try makeFile()
        let other = try OtherProcess(path: file.path, .pool, patience: 10)
        var options = DatabaseFile.SalvageOptions()
        options.allowsWriters = true
        var isTold = false
        let salvage = try file.salvage(
            key: SalvageBesideWritersTests.key, to: directory.path("salvaged.db"), options: options
        ) { step in
            guard !isTold, step.completedPageCount > 10 else { return }
            isTold = true
            let answer = try other.tell("insert")
            #expect(answer == "done")
        }
        #expect(isTold && salvage.tables.map(\.name) == ["player"])
    }
}
