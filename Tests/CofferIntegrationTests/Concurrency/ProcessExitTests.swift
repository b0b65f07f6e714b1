import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("A process that exits while its threads work")
struct ProcessExitTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    @Test("libcrypto keeps its state until the end, regardless of its first user")
    func keepsState() async throws {
        let paths = [directory.path("a.db")]
        await #expect(processExitsWith: .success) { [paths = paths as [String]] in
            let queue = try DatabaseQueue(path: paths[0], configuration: .rawKeyed)
            try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
            // Called when libcrypto frees its state.
            let isRegistered = atCleanup { _exit(9) }
            exit(isRegistered == 1 ? EXIT_SUCCESS : 8)
        }
    }

    // Before Coffer's exit handler ran first, engines 4.7 and later damaged a file in one of twenty rounds
    // and crashed in one of eight.
    @Test("does not crash, and leaves whole files", arguments: 1...Nightly.pick(300, byDay: 4))
    func exitWhileWriting(round: Int) async throws {
        let names = ["a.db", "b.db", "c.db", "d.db", "e.db", "f.db"]
        let paths = names.map { directory.path($0) }
        await #expect(processExitsWith: .success) { [paths = paths as [String]] in
            let hasWritten = DispatchSemaphore(value: 0)
            for (index, path) in paths.enumerated() {
                Thread.detachNewThread {
                    do {
                        let queue: any DatabaseWriter =
                            index.isMultiple(of: 2)
                            ? try DatabaseQueue(path: path, configuration: .rawKeyed)
                            : try DatabasePool(path: path, configuration: .rawKeyed)
                        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
                        hasWritten.signal()
                        while true {
                            try queue.write { try $0.execute(sql: "INSERT INTO t VALUES (randomblob(3000))") }
                        }
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

/// `OPENSSL_atexit` of libcrypto, which the engine is linked with.
@_silgen_name("OPENSSL_atexit")
private func atCleanup(_ body: @convention(c) () -> Void) -> CInt
