import Coffer
import CofferTestSupport
import Foundation
import Synchronization
import Testing

@Suite("Creation of files")
struct FileCreationTests {
    @Test(
        "new files are accessible only to their owner, with any umask",
        arguments: [0, 0o022, 0o077, 0o277, 0o777] as [UInt32])
    func modes(mask: UInt32) async {
        await #expect(processExitsWith: .success) { [mask] in
            try withTestDirectory { directory in
                let old = umask(mask)
                defer { umask(old) }
                for access in Access.allCases {
                    let name = "\(access).db"
                    let writer = try directory.make(access, name)
                    var seen: Set<String> = []
                    try writer.write { db in
                        try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
                        for file in directory.fileNames() where file.hasPrefix(name) {
                            seen.insert(file)
                            #expect(mode(directory.path(file)) == 0o600, "\(file)")
                        }
                    }
                    #expect(seen.count == (access == .queue ? 2 : 3))
                }
            }
        }
    }

    @Test("the mode of an existing file stays unchanged, and its log and journal have the same mode")
    func existingMode() throws {
        try withTestDirectory { directory in
            _ = try directory.makeQueue()
            setMode(directory.path("a.db"), 0o640)
            let pool = try directory.makePool()
            try pool.write { try $0.execute(sql: "CREATE TABLE t (a)") }
            for file in directory.fileNames() { #expect(mode(directory.path(file)) == 0o640, "\(file)") }
        }
    }

    @Test(
        "files without permissions are refused, and read-only ones are read",
        .enabled(
            if: othersReachTemporaryDirectory, "the superuser needs a TMPDIR that other users can reach"),
        arguments: Access.allCases)
    func permissions(access: Access) async {
        await #expect(processExitsWith: .success) { [access] in
            try withTestDirectory { directory in
                for name in ["unreadable.db", "readonly.db"] {
                    let queue = try directory.makeQueue(name)
                    try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
                }
                setMode(directory.path("unreadable.db"), 0)
                setMode(directory.path("readonly.db"), 0o444)
                let folder = try directory.makeFolder("readonly")
                setMode(folder, 0o555)
                setMode(directory.path, 0o777)
                // Permissions do not restrict the superuser.
                try asOrdinaryUser {
                    var error = #expect(throws: DatabaseError.self) {
                        try directory.make(access, "unreadable.db")
                    }
                    #expect(error?.resultCode == .SQLITE_CANTOPEN)
                    #expect(error?.encryptionFailure == nil)
                    error = #expect(throws: DatabaseError.self) {
                        try directory.make(access, "readonly/a.db")
                    }
                    #expect(error?.resultCode == .SQLITE_CANTOPEN)
                    #expect(error?.message?.contains("Permission denied") == true)

                    let reading = try directory.makeQueue(
                        "readonly.db", .rawKeyed.with { $0.readonly = true })
                    #expect(try reading.int("SELECT a FROM t") == 1)
                    let queue = try directory.makeQueue("readonly.db")
                    #expect(try queue.int("SELECT a FROM t") == 1)
                    error = #expect(throws: DatabaseError.self) {
                        try queue.write { try $0.execute(sql: "DELETE FROM t") }
                    }
                    #expect(error?.resultCode == .SQLITE_READONLY)
                    error = #expect(throws: DatabaseError.self) { try directory.makePool("readonly.db") }
                    #expect(error?.resultCode == .SQLITE_READONLY || error?.resultCode == .SQLITE_CANTOPEN)
                }
            }
        }
    }

    @Test("threads that create one file with one key all succeed", arguments: Access.allCases)
    func threadsWithOneKey(access: Access) throws {
        for round in 0..<6 {
            try withTestDirectory { directory in
                let configuration = Configuration.passphrase("round \(round)").with {
                    $0.cipher.kdfIterations = 1000
                    $0.busyMode = .timeout(Patience.seconds)
                }
                let results = concurrently(6) { index in
                    let writer = try directory.make(access, "a.db", configuration)
                    try writer.write {
                        try $0.execute(
                            sql: "CREATE TABLE IF NOT EXISTS t (a); INSERT INTO t VALUES (?)",
                            arguments: [index])
                    }
                }
                for case .failure(let error) in results { Issue.record(error) }
                let writer = try directory.make(access, "a.db", configuration)
                #expect(
                    try writer.read { try Int.fetchAll($0, sql: "SELECT a FROM t ORDER BY a") }
                        == Array(0..<6))
            }
        }
    }

    @Test("processes that create one file with one key all succeed", arguments: Access.allCases)
    func processesWithOneKey(access: Access) throws {
        for _ in 0..<2 {
            try withTestDirectory { directory in
                let processes = try race(4, access, directory) { _ in "one key" }
                #expect(
                    processes.map(\.outputText) == [String](repeating: "created\n", count: 4),
                    "\(processes.map(\.errorText))")
                let configuration = Configuration.passphrase("one key").with {
                    $0.cipher.kdfIterations = 1000
                }
                #expect(try directory.make(access, "a.db", configuration).int("SELECT count(*) FROM t") == 4)
            }
        }
    }

    @Test(
        "if processes create one file with different keys, one succeeds and the others get wrongKey",
        arguments: Access.allCases)
    func processesWithManyKeys(access: Access) throws {
        for _ in 0..<2 {
            try withTestDirectory { directory in
                let processes = try race(4, access, directory) { "key \($0)" }
                let answers = processes.map(\.outputText)
                #expect(
                    answers.sorted() == ["created\n"] + [String](repeating: "wrong key\n", count: 3),
                    "\(processes.map(\.errorText))")
                let winner = try #require(answers.firstIndex(of: "created\n"))
                let configuration = Configuration.passphrase("key \(winner)").with {
                    $0.cipher.kdfIterations = 1000
                }
                #expect(try directory.make(access, "a.db", configuration).int("SELECT count(*) FROM t") == 1)
            }
        }
    }

    @Test(
        "if threads create one file with different keys, one succeeds and the others get wrongKey",
        arguments: Access.allCases)
    func threadsWithManyKeys(access: Access) throws {
        for _ in 0..<10 {
            try withTestDirectory { directory in
                let configuration = { @Sendable (index: Int) in
                    Configuration.rawKeyed(UInt8(index)).with { $0.busyMode = .timeout(Patience.seconds) }
                }
                let results = concurrently(6) { index in
                    try directory.make(access, "a.db", configuration(index))
                        .write {
                            try $0.execute(
                                sql: "CREATE TABLE t (a); INSERT INTO t VALUES (?)", arguments: [index])
                        }
                }
                let winners = results.indices.filter { (try? results[$0].get()) != nil }
                #expect(winners.count == 1)
                for case .failure(let error) in results {
                    #expect((error as? DatabaseError)?.encryptionFailure == .wrongKey, "\(error)")
                }
                let winner = try #require(winners.first)
                #expect(
                    try directory.make(access, "a.db", configuration(winner)).int("SELECT a FROM t")
                        == winner)
            }
        }
    }

    /// Starts workers at the same time that all create the same file.
    private func race(_ count: Int, _ access: Access, _ directory: TestDirectory, key: (Int) -> String) throws
        -> [ChildProcess]
    {
        let keys = (0..<count).map(key)
        return try concurrently(count) { index in
            try ChildProcess.run(
                ChildProcess.built("CofferTestWorker"), ["create", directory.path("a.db"), access.rawValue],
                input: Data(keys[index].utf8))
        }.map { try $0.get() }
    }
}

/// Runs `body` on `count` threads at the same time.
private func concurrently<T: Sendable>(_ count: Int, _ body: @escaping @Sendable (Int) throws -> T)
    -> [Result<T, any Error>]
{
    let results = Mutex<[Int: Result<T, any Error>]>([:])
    let group = DispatchGroup()
    for index in 0..<count {
        group.enter()
        let thread = Thread {
            let result = Result { try body(index) }
            results.withLock { $0[index] = result }
            group.leave()
        }
        thread.start()
    }
    group.wait()
    return results.withLock { results in (0..<count).compactMap { results[$0] } }
}
