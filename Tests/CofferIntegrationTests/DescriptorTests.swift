import Coffer
import CofferTestSupport
import Foundation
import Testing

// In separate processes, because other tests also open and close files.
@Suite("Failed openings")
struct DescriptorTests {
    @Test(
        "200 failed openings of each kind leave no descriptor open, and nothing on the standard error",
        arguments: Access.allCases)
    func failures(access: Access) async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [access] in
            try withTestDirectory { directory in
                struct Refusal: Error {}
                do {
                    let pool = try directory.makePool()
                    try pool.write {
                        try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(9000))")
                    }
                }
                let bytes = try directory.bytes(of: "a.db")
                try directory.write(bytes.dropLast(4096 + 100), to: "cut.db")
                try directory.write(bytes.prefix(100), to: "short.db")
                try directory.write(bytes.map { $0 ^ ($0 == bytes[0] ? 1 : 0) }, to: "damaged.db")
                try directory.write([UInt8](repeating: 0x20, count: 8192), to: "text.db")
                try directory.write(
                    Array("SQLite format 3\0".utf8) + [UInt8](repeating: 0, count: 4080), to: "plain.db")
                _ = unsafe mkfifo(directory.path("fifo"), 0o600)
                let kinds: [(String, String, Configuration)] = [
                    ("wrong key", "a.db", .rawKeyed(1)),
                    ("no key", "a.db", Configuration()),
                    ("plaintext allowed", "a.db", Configuration().with { $0.allowsPlaintext = true }),
                    ("wrong settings", "a.db", .rawKeyed.with { $0.cipher.pageSize = 1024 }),
                    ("several keys", "a.db", .rawKeyed(1).with { $0.previousKeys = [.random(), .random()] }),
                    ("provider", "a.db", Configuration().with { $0.key = .provider { throw Refusal() } }),
                    ("preparation", "a.db", .rawKeyed.with { $0.prepareDatabase { _ in throw Refusal() } }),
                    (
                        "wrong key in preparation", "a.db",
                        Configuration().with {
                            $0.prepareDatabase {
                                try $0.usePassphrase("x'\(String(repeating: "11", count: 32))'")
                            }
                        }
                    ),
                    ("cut", "cut.db", .rawKeyed),
                    ("short", "short.db", .rawKeyed),
                    ("damaged", "damaged.db", .rawKeyed),
                    ("text", "text.db", .rawKeyed),
                    ("plaintext", "plain.db", .rawKeyed),
                    ("folder", "", .rawKeyed),
                    ("missing folder", "x/a.db", .rawKeyed),
                    ("pipe", "fifo", .rawKeyed),
                    ("missing, read-only", "missing.db", .rawKeyed.with { $0.readonly = true }),
                    ("empty key", "a.db", Configuration().with { $0.key = .passphrase("") }),
                ]
                // The first attempts may open descriptors that stay open intentionally, such as a source of
                // randomness.
                for (_, name, configuration) in kinds { _ = try? directory.make(access, name, configuration) }
                for (kind, name, configuration) in kinds {
                    #expect(throws: (any Error).self, "\(kind)") {
                        try directory.make(access, name, configuration)
                    }
                    let leaked = leakedDescriptors {
                        for _ in 0..<200 { _ = try? directory.make(access, name, configuration) }
                    }
                    #expect(leaked.isEmpty, "\(kind)")
                }
            }
        }
        let words = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(words.isEmpty)
    }

    @Test("an opening that fails for lack of descriptors says so, not that the file cannot be opened")
    func noDescriptorLeft() async {
        await #expect(processExitsWith: .success) {
            try withTestDirectory { directory in
                let pool = try directory.makePool()
                try pool.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
                try directory.makeQueue("b.db").write { try $0.execute(sql: "CREATE TABLE u (a)") }
                let queue = try directory.makeQueue("c.db")
                try queue.write { try $0.execute(sql: "CREATE TABLE v (a)") }
                let attach = "ATTACH '\(directory.path("b.db"))' AS b"
                let key = "KEY \"x'\(String(repeating: "42", count: 32))'\""
                let works: [(String, () throws -> Void)] = [
                    ("queue", { _ = try directory.makeQueue("b.db").int("SELECT count(*) FROM u") }),
                    ("pool", { _ = try directory.makePool("a.db").int("SELECT count(*) FROM t") }),
                    ("reader", { _ = try pool.int("SELECT count(*) FROM t") }),
                    ("new", { _ = try directory.makeQueue("new.db") }),
                    ("attach", { try queue.inDatabase { try $0.execute(sql: attach) } }),
                    ("attach with key", { try queue.inDatabase { try $0.execute(sql: "\(attach) \(key)") } }),
                ]
                for (name, work) in works where name != "reader" && name != "new" {
                    try? work()
                    try? queue.inDatabase { try $0.execute(sql: "DETACH b") }
                }
                var failures: Set<String> = []
                for free in 0..<12 {
                    for (name, work) in works {
                        pool.invalidateReadOnlyConnections()
                        let fillers = fillDescriptors(leaving: free)
                        defer { for filler in fillers { close(filler) } }
                        do {
                            try work()
                        } catch {
                            let message = (error as? DatabaseError)?.message ?? "\(error)"
                            #expect(
                                message.contains("Too many open files"), "\(name) with \(free): \(message)")
                            failures.insert(name)
                        }
                        try? queue.inDatabase { try $0.execute(sql: "DETACH b") }
                        try? FileManager.default.removeItem(atPath: directory.path("new.db"))
                    }
                }
                #expect(failures == Set(works.map(\.0)))
                #expect(try pool.int("SELECT count(*) FROM t") == 1)
            }
        }
    }

    @Test("released queues, pools and snapshots close all of their files")
    func successes() async {
        await #expect(processExitsWith: .success) {
            try withTestDirectory { directory in
                _ = try directory.makePool().makeSnapshotPool()
                let leaked = try leakedDescriptors {
                    for _ in 0..<20 {
                        let pool = try directory.makePool()
                        try pool.write {
                            try $0.execute(sql: "CREATE TABLE IF NOT EXISTS t (a); INSERT INTO t VALUES (1)")
                        }
                        _ = try pool.int("SELECT count(*) FROM t")
                        _ = try pool.makeSnapshot()
                        _ = try pool.makeSnapshotPool()
                        _ = try directory.makeQueue().int("SELECT count(*) FROM t")
                        _ = try DatabaseQueue.inMemoryCopy(
                            fromPath: directory.path("a.db"), configuration: .rawKeyed)
                        _ = try DatabaseQueue.temporaryCopy(
                            fromPath: directory.path("a.db"), configuration: .rawKeyed)
                    }
                }
                #expect(leaked.isEmpty)
            }
        }
    }

    @Test("a pool checkpoints its write-ahead log when it ends, even after reads")
    func endOfPool() throws {
        try withTestDirectory { directory in
            do {
                let pool = try directory.makePool()
                try pool.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
                _ = try pool.int("SELECT count(*) FROM t")
            }
            #expect(directory.fileNames() == ["a.db"])
        }
    }

    // Closing any descriptor of a file releases all locks that the process has on it (POSIX). SQLite
    // therefore keeps the descriptors of closed connections as long as other connections of the process have
    // locks on the file. In WAL mode, every connection always has one.
    @Test(
        "the engine keeps a closed connection's descriptor only while another one has a lock on the file"
    )
    func keptDescriptors() throws {
        try withTestDirectory { directory in
            let queue = try directory.makeQueue()
            try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
            let closeAnother = {
                try directory.makeQueue("a.db", .rawKeyed.with { $0.readonly = true }).close()
            }
            try closeAnother()
            #expect(openDescriptors(of: queue.path) == 1)
            try queue.write { _ in
                try closeAnother()
                #expect(openDescriptors(of: queue.path) == 2)
            }
            #expect(openDescriptors(of: queue.path) == 1)
        }
    }

    @Test(
        "a pool's descriptors never exceed its peak connection count, even if readers are replaced"
    )
    func replacedReaders() throws {
        try withTestDirectory { directory in
            let pool = try directory.makePool()
            try pool.write { try $0.execute(sql: "CREATE TABLE t (a)") }
            for _ in 0..<20 {
                _ = try inAllReaders(of: pool) { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
                #expect(openDescriptors(of: pool.path) == 6)
                #expect(openDescriptors(of: pool.path + "-wal") == 6)
                pool.invalidateReadOnlyConnections()
                #expect(openDescriptors(of: pool.path) == 6, "kept for the next readers")
                #expect(openDescriptors(of: pool.path + "-wal") == 1)
                #expect(openDescriptors(of: pool.path + "-shm") == 1)
            }
            try pool.close()
            #expect(openFiles(in: directory) == 0)
        }
    }
}

/// Opens descriptors until the process can open only `count` more.
private func fillDescriptors(leaving count: Int) -> [Int32] {
    var limit = rlimit(rlim_cur: 256, rlim_max: 0)
    var hard = rlimit()
    unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &hard)
    limit.rlim_max = hard.rlim_max
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    var fillers: [Int32] = []
    while true {
        let filler = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard filler >= 0 else { break }
        fillers.append(filler)
    }
    for _ in 0..<min(count, fillers.count) { close(fillers.removeLast()) }
    return fillers
}
