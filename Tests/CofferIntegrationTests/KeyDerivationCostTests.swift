import Coffer
import CofferTestSupport
import Foundation
import SQLCipherBridge
import Synchronization
import Testing

// Each test runs in its own process, because the counter is global.
@Suite("The cost of keys")
struct KeyDerivationCostTests {
    @Test(
        "opening a queue with a passphrase costs exactly one derivation, for a new file and for an existing one"
    )
    func queue() async {
        await #expect(processExitsWith: .success) {
            try withTestDirectory { directory in
                for expected in 1...2 {
                    let queue = try directory.makeQueue("a.db", .passphrase())
                    try queue.write { try $0.execute(sql: "CREATE TABLE IF NOT EXISTS t (a)") }
                    #expect(KeyDerivation.derivationCount == expected)
                }
            }
        }
    }

    @Test("opening a pool with 5 readers, a snapshot and a snapshot pool costs exactly one derivation")
    func pool() async {
        await #expect(processExitsWith: .success) {
            try withTestDirectory { directory in
                let pool = try directory.makePool("a.db", .passphrase().with { $0.maximumReaderCount = 5 })
                try pool.write { try $0.execute(sql: "CREATE TABLE t (a)") }
                try useFiveReaders(of: pool)
                let snapshot = try pool.makeSnapshot()
                let snapshots = try pool.makeSnapshotPool()
                #expect(try snapshot.int("SELECT count(*) FROM t") == 0)
                #expect(try snapshots.int("SELECT count(*) FROM t") == 0)
                #expect(KeyDerivation.derivationCount == 1)
            }
        }
    }

    @Test("a passphrase that the preparation of a pool uses is derived once")
    func preparation() async {
        await #expect(processExitsWith: .success) {
            try withTestDirectory { directory in
                var configuration = Configuration()
                configuration.prepareDatabase { try $0.usePassphrase("secret") }
                let pool = try directory.makePool("a.db", configuration)
                try useFiveReaders(of: pool)
                #expect(KeyDerivation.derivationCount == 1)
            }
        }
    }

    @Test("all queues and pools that are made from one configuration cost one derivation for each file")
    func configuration() async {
        await #expect(processExitsWith: .success) {
            try withTestDirectory { directory in
                let configuration = Configuration.passphrase()
                _ = try directory.makeQueue("a.db", configuration)
                try useFiveReaders(of: try directory.makePool("a.db", configuration))
                _ = try directory.makeQueue("a.db", configuration.with { $0.readonly = true })
                #expect(KeyDerivation.derivationCount == 1)
                _ = try directory.makeQueue("b.db", configuration)
                #expect(KeyDerivation.derivationCount == 2)
                #expect(try directory.bytes(of: "a.db").prefix(16) != directory.bytes(of: "b.db").prefix(16))
                for name in ["a.db", "b.db", "a.db"] { _ = try directory.makeQueue(name, configuration) }
                #expect(KeyDerivation.derivationCount == 2)

                var prepared = Configuration()
                prepared.prepareDatabase { try $0.usePassphrase("secret") }
                let first = try directory.makeQueue("c.db", prepared)
                let second = try directory.makeQueue("c.db", prepared)
                #expect(KeyDerivation.derivationCount == 3)
                withExtendedLifetime((first, second)) {}
            }
        }
    }

    @Test("sixteen openings at once cost one derivation, of a fresh file and of an existing one")
    func atOnce() async {
        await #expect(processExitsWith: .success) {
            try withTestDirectory { directory in
                let configuration = Configuration.passphrase().with { $0.busyMode = .timeout(10) }
                let queues = Mutex<[DatabaseQueue]>([])
                for expected in 1...2 {
                    DispatchQueue.concurrentPerform(iterations: 16) { _ in
                        do {
                            let queue = try directory.makeQueue("a\(expected).db", configuration)
                            queues.withLock { $0.append(queue) }
                        } catch {
                            Issue.record(error)
                        }
                    }
                    #expect(KeyDerivation.derivationCount == expected)
                }
                #expect(queues.withLock { $0.count } == 32)
            }
        }
    }

    @Test("a raw key costs no derivation, with or without a salt")
    func rawKey() async {
        await #expect(processExitsWith: .success) {
            try withTestDirectory { directory in
                let key = [UInt8](repeating: 7, count: 32)
                for key in [
                    DatabaseKey.rawKey(key), .rawKey(key, salt: [UInt8](repeating: 9, count: 16)), .random(),
                ] {
                    var configuration = Configuration()
                    configuration.key = key
                    let name = UUID().uuidString
                    for _ in 0..<2 {
                        try useFiveReaders(of: try directory.makePool(name, configuration))
                        _ = try directory.makeQueue(name, configuration)
                    }
                }
                #expect(KeyDerivation.derivationCount == 0)
            }
        }
    }

    @Test("a wrong passphrase costs at most eight derivations, for any diagnosis")
    func wrongPassphrase() async {
        await #expect(processExitsWith: .success) {
            try withTestDirectory { directory in
                _ = try directory.makeQueue("a.db", .passphrase("right"))
                let before = KeyDerivation.derivationCount
                #expect(throws: DatabaseError.self) {
                    _ = try directory.makeQueue("a.db", .passphrase("wrong"))
                }
                #expect(KeyDerivation.derivationCount <= before + 8)
            }
        }
    }

    @Test("each passphrase that is tried before the right one is derived once")
    func previousKeys() async {
        await #expect(processExitsWith: .success) {
            try withTestDirectory { directory in
                _ = try directory.makeQueue("a.db", .passphrase("old"))
                let before = KeyDerivation.derivationCount
                let configuration = Configuration.passphrase("new").with {
                    $0.previousKeys = [.passphrase("old")]
                }
                try useFiveReaders(of: try directory.makePool("a.db", configuration))
                #expect(KeyDerivation.derivationCount == before + 2)
            }
        }
    }

    @Test("the counter is right: SQLCipher itself derives nothing")
    func counterIsTrue() async {
        await #expect(processExitsWith: .success) {
            try withTestDirectory { directory in
                let slow = Configuration.passphrase().with { $0.cipher.kdfIterations = 400_000 }
                let derivation = try processorTime { _ = try directory.makeQueue("a.db", slow) }
                let pool = try processorTime { try useFiveReaders(of: try directory.makePool("a.db", slow)) }
                let raw = try processorTime {
                    for _ in 0..<5 {
                        _ = try directory.makeQueue(
                            "b.db", .rawKeyed.with { $0.cipher.kdfIterations = 400_000 })
                    }
                }
                #expect(pool < 1.5 * derivation)
                #expect(raw < 0.5 * derivation)
            }
        }
    }
}

/// Reads with five readers at the same time, which forces the pool to open all of them.
private func useFiveReaders(of pool: DatabasePool) throws {
    let isReading = DispatchSemaphore(value: 0)
    let mayEnd = DispatchSemaphore(value: 0)
    let group = DispatchGroup()
    for _ in 0..<5 {
        group.enter()
        pool.asyncRead { result in
            isReading.signal()
            mayEnd.wait()
            if case .failure(let error) = result { Issue.record(error) }
            group.leave()
        }
    }
    for _ in 0..<5 { isReading.wait() }
    for _ in 0..<5 { mayEnd.signal() }
    group.wait()
}

/// Returns the processor time that this process spends in `body`, in seconds.
private func processorTime(_ body: () throws -> Void) rethrows -> Double {
    let start = clock()
    try body()
    return Double(clock() - start) / Double(CLOCKS_PER_SEC)
}
