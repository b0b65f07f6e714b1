import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("A process that exits while its threads work")
struct ProcessExitTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test("does not crash, and leaves whole files", arguments: 1...4)
    func exitWhileWriting(round: Int) async throws {
        let names = ["a.db", "b.db", "c.db"]
        let paths = names.map { directory.path($0) }
        await #expect(processExitsWith: .success) { [paths = paths as [String]] in
            let hasWritten = DispatchSemaphore(value: 0)
            for path in paths {
                Thread.detachNewThread {
                    do {
                        let queue = try DatabaseQueue(path: path, configuration: .rawKeyed)
                        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
                        hasWritten.signal()
                        while true { try queue.write { try $0.execute(sql: "INSERT INTO t VALUES (randomblob(3000))") } }
                    } catch {
                        fatalError("\(error)")
                    }
                }
            }
            for _ in paths { hasWritten.wait() }
            exit(EXIT_SUCCESS)
        }
        for name in names {
            let queue = try directory.makeQueue(name)
            #expect(try await queue.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") } == ["ok"])
        }
    }
}
