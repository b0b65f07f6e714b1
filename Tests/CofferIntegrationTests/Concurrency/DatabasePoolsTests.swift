import CofferTestSupport
import Foundation
import Synchronization
import Testing

@testable import Coffer

/// Many files under one limit. No test measures a time.
@Suite("DatabasePools", .timeLimit(.minutes(Patience.minutes)))
struct DatabasePoolsTests {
    private let directory: TestDirectory
    private let master = DatabaseKey.rawKey([UInt8](repeating: 0x42, count: 32))
    private static let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT sum(i) FROM n"

    init() throws { directory = try TestDirectory() }

    /// The newest generation of all keys.
    private final class Generation: Sendable {
        private let number = Atomic<Int>(1)
        var current: Int { number.load(ordering: .sequentiallyConsistent) }
        func advance() { number.add(1, ordering: .sequentiallyConsistent) }
    }

    /// A flag that tasks poll, because they must not block a thread.
    private final class Flag: Sendable {
        private let value = Atomic<Bool>(false)
        var isOpen: Bool { value.load(ordering: .sequentiallyConsistent) }
        func open() { value.store(true, ordering: .sequentiallyConsistent) }
    }

    private func makePools(
        _ limit: Int = 100, generation: Generation = Generation(),
        _ change: (inout DatabasePools.Limits) -> Void = { _ in }
    ) -> DatabasePools {
        var limits = DatabasePools.Limits()
        limits.poolCount = limit
        change(&limits)
        let master = master
        return DatabasePools(folder: directory.path, limits: limits) { name in
            var configuration = Configuration()
            configuration.setKey(KeyGenerations(of: name, from: master), generation: generation.current)
            return configuration
        } prepare: { pool in
            try pool.write { db in
                try db.execute(sql: "CREATE TABLE IF NOT EXISTS player (id INTEGER PRIMARY KEY, name TEXT)")
            }
        }
    }

    /// Makes a file without `prepare`, by a queue that is closed again.
    private func makeOther(_ queue: DatabaseQueue) throws {
        try queue.write { try $0.execute(sql: "CREATE TABLE a (b)") }
        try queue.close()
    }

    private func makeFiles(_ count: Int, in pools: DatabasePools) async throws -> [String] {
        let names = (0..<count).map { "tenant-\($0)" }
        for name in names { try await pools.create(name) }
        return names
    }

    private func count(_ name: String, in pools: DatabasePools) async throws -> Int {
        try await pools.withPool(name) { pool in try await pool.read { try $0.playerCount() } }
    }

    /// Keeps a database in use until the gate opens.
    private func use(_ name: String, of pools: DatabasePools, until end: Flag) async throws -> Task<
        Void, any Error
    > {
        let hasBegun = Notes<Void>()
        let task = Task {
            try await pools.withPool(name) { _ in
                hasBegun.append(())
                while !end.isOpen { await Task.yield() }
            }
        }
        #expect(await eventuallyAwaited { !hasBegun.values.isEmpty })
        return task
    }

    // MARK: Opening

    @Test("a database is opened when it is first used, and stays open")
    func opening() async throws {
        let pools = makePools()
        let names = try await makeFiles(3, in: pools)
        #expect(pools.statistics.usedSlotCount == 0)
        #expect(try await pools.names() == names)
        #expect(try await count(names[0], in: pools) == 0)
        #expect(pools.statistics.openCount == 1 && pools.statistics.leasedCount == 0)
        let lease = try await pools.lease(names[0])
        let again = try await pools.lease(names[0])
        #expect(lease.pool === again.pool && lease.name == names[0])
        #expect(pools.statistics.openCount == 1 && pools.statistics.leasedCount == 1)
        try await pools.close(within: .zero)
        #expect(directory.fileNames() == names.map { "\($0).db" })
    }

    @Test("many tasks that want one database at the same time open it once")
    func concurrentOpening() async throws {
        let opened = Notes<String>()
        let pools = DatabasePools(folder: directory.path) { name in
            opened.append(name)
            return .rawKeyed
        }
        try await pools.create("a")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<500 { group.addTask { try await pools.withPool("a") { _ in } } }
            try await group.waitForAll()
        }
        #expect(opened.values == ["a", "a"])
    }

    @Test("the configuration of a database has the limit's number of readers")
    func readers() async throws {
        let pools = makePools { $0.readerCount = 3 }
        try await pools.create("a")
        try await pools.withPool("a") { #expect($0.configuration.maximumReaderCount == 3) }
    }

    @Test("the limit of descriptors is a limit of databases")
    func descriptors() {
        var limits = DatabasePools.Limits()
        limits.readerCount = 2
        limits.descriptorCount = 70
        #expect(limits.descriptorCountOfPool == 7 && limits.slotCount == 10)
        limits.poolCount = 4
        #expect(limits.slotCount == 4)
        limits.descriptorCount = -5
        #expect(limits.slotCount == 1)
        limits = DatabasePools.Limits()
        #expect((1...100).contains(limits.slotCount))
        limits.poolCount = .max
        #expect(limits.slotCount < .max)
    }

    @Test("the databases of all slots need no more descriptors than their limit")
    func usedDescriptors() async throws {
        let pools = makePools { $0.descriptorCount = 70 }
        let names = try await makeFiles(12, in: pools)
        for name in names {
            try await pools.withPool(name) { pool in
                let busy = [BusyConnection.reading(pool), .reading(pool), .writing(pool)]
                for access in busy { try access.end() }
            }
        }
        #expect(openDescriptors(below: directory.path).count <= 70)
        #expect(pools.statistics.usedSlotCount <= 10)
        try await pools.close(within: .zero)
        #expect(openDescriptors(below: directory.path).isEmpty)
    }

    private func openDescriptors(below folder: String) -> [String] {
        let links = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return links.compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }
        .filter { $0.hasPrefix(folder) }
    }

    // MARK: Limits

    @Test("more databases than may be open are used one after the other, and each keeps its rows")
    func eviction() async throws {
        let pools = makePools(3)
        let names = try await makeFiles(10, in: pools)
        var random = SeededRandom("eviction")
        var counts = [String: Int]()
        for _ in 0..<200 {
            let name = names.randomElement(using: &random)!
            counts[name, default: 0] += 1
            try await pools.withPool(name) { pool in try await pool.write { try $0.insertPlayer() } }
            #expect(pools.statistics.usedSlotCount <= 3)
        }
        for name in names { #expect(try await count(name, in: pools) == counts[name, default: 0]) }
        try await pools.close()
        #expect(directory.fileNames().count == 10)
    }

    @Test(
        "concurrent tasks on many databases never exceed the limit, and lose no write", arguments: [1, 2, 5])
    func stress(limit: Int) async throws {
        let pools = makePools(limit)
        let names = try await makeFiles(12, in: pools)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<300 {
                group.addTask {
                    try await pools.withPool(names[number * 7 % names.count]) { pool in
                        #expect(pools.statistics.usedSlotCount <= limit)
                        try await pool.write { try $0.insertPlayer() }
                        _ = try await pool.read { try $0.playerCount() }
                    }
                }
            }
            try await group.waitForAll()
        }
        for name in names { #expect(try await count(name, in: pools) == 25) }
        #expect(pools.statistics.waitingCount == 0)
    }

    @Test("a request waits until a database is released, within its bounds")
    func bounds() async throws {
        let pools = makePools(1) { $0.maximumWaiterCount = 2 }
        let names = try await makeFiles(4, in: pools)
        let end = Flag()
        let user = try await use(names[0], of: pools, until: end)
        for timeout in [0, -1, 0.01] {
            let error = await #expect(throws: DatabaseWaitError.self) {
                try await pools.withPool(names[1], timeout: timeout) { _ in }
            }
            #expect(error?.resource == .openDatabase)
        }
        // An open database needs no wait.
        try await pools.withPool(names[0], timeout: 0) { _ in }
        let waiting = names[1...2].map { name in Task { try await count(name, in: pools) } }
        #expect(await eventuallyAwaited { pools.statistics.waitingCount == 2 })
        await #expect(throws: DatabaseWaitError.overloaded(.openDatabase, waiterCount: 2)) {
            try await pools.withPool(names[3]) { _ in }
        }
        end.open()
        try await user.value
        for task in waiting { #expect(try await task.value == 0) }
    }

    @Test("thousands of waiting requests can be cancelled")
    func cancellation() async throws {
        let pools = makePools(1)
        let names = try await makeFiles(3, in: pools)
        let end = Flag()
        let user = try await use(names[0], of: pools, until: end)
        let tasks = (0..<3000).map { number in
            Task { try await pools.withPool(names[1 + number % 2]) { _ in Issue.record("It has no slot.") } }
        }
        #expect(await eventuallyAwaited { pools.statistics.waitingCount == tasks.count })
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        #expect(pools.statistics.waitingCount == 0 && pools.statistics.leasedCount == 1)
        end.open()
        try await user.value
        #expect(try await count(names[2], in: pools) == 0)
    }

    @Test("a cancelled task keeps no lease")
    func cancelledLease() async throws {
        let pools = makePools(1)
        let names = try await makeFiles(2, in: pools)
        for _ in 0..<50 {
            let task = Task { try await pools.withPool(names[0]) { _ in } }
            task.cancel()
            _ = await task.result
        }
        #expect(await eventuallyAwaited { pools.statistics.leasedCount == 0 })
        #expect(try await count(names[1], in: pools) == 0)
    }

    @Test("openings that take long leave the threads of tasks to others")
    func blockedOpenings() async throws {
        let (asked, mayAnswer) = (Notes<String>(), Gate())
        let names = (0..<12).map { "\($0)" }
        for name in names {
            try makeOther(directory.makeQueue("\(name).db"))
        }
        let pools = DatabasePools(folder: directory.path) { name in
            asked.append(name)
            mayAnswer.pass()
            return .rawKeyed
        }
        let tasks = names.map { name in Task { try await pools.withPool(name) { _ in } } }
        // This task runs although all openings are blocked.
        #expect(await eventuallyAwaited { asked.values.count == names.count })
        mayAnswer.open()
        for task in tasks { try await task.value }
    }

    // MARK: Creating

    @Test("creations count as openings, and wait for the slots of databases in use")
    func limitOfCreations() async throws {
        let (mayEnd, preparing) = (Flag(), Notes<String>())
        var limits = DatabasePools.Limits()
        limits.poolCount = 2
        let pools = DatabasePools(folder: directory.path, limits: limits) { _ in
            .rawKeyed
        } prepare: { pool in
            preparing.append(pool.path)
            while !mayEnd.isOpen { Thread.sleep(forTimeInterval: 0.001) }
        }
        let tasks = (0..<5).map { number in Task { try await pools.create("\(number)") } }
        #expect(await eventuallyAwaited { pools.statistics.waitingCount == 3 })
        #expect(await eventuallyAwaited { preparing.values.count == 2 })
        #expect(pools.statistics.usedSlotCount == 2 && pools.statistics.openCount == 0)
        mayEnd.open()
        for task in tasks { try await task.value }
        #expect(directory.fileNames() == (0..<5).map { "\($0).db" })
        #expect(pools.statistics.usedSlotCount == 0)
    }

    @Test("a creation waits within the bounds, closes databases that are not in use, and can be cancelled")
    func boundsOfCreations() async throws {
        let pools = makePools(1) { $0.maximumWait = 0.01 }
        try await pools.create("a")
        var lease: DatabasePools.Lease? = try await pools.lease("a", timeout: 1000)
        await #expect(throws: DatabaseWaitError.self) { try await pools.create("b") }
        let patient = makePools(1)
        let other = try await patient.lease("a")
        let task = Task { try await patient.create("b") }
        #expect(await eventuallyAwaited { patient.statistics.waitingCount == 1 })
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(patient.statistics.waitingCount == 0 && !directory.fileNames().contains("b.db"))
        withExtendedLifetime((lease, other)) {}
        lease = nil
        #expect(await eventuallyAwaited { pools.statistics.leasedCount == 0 })
        let impatient = makePools(1)
        #expect(try await count("a", in: impatient) == 0)
        try await impatient.create("b")
        #expect(try await count("b", in: impatient) == 0)
    }

    @Test("a lease waits for the creation of its database, which a second creation cannot disturb")
    func leaseWhileCreating() async throws {
        let (isPreparing, mayEnd, events) = (Flag(), Flag(), Notes<String>())
        let pools = DatabasePools(folder: directory.path) { _ in
            events.append("open")
            return .rawKeyed
        } prepare: { pool in
            try pool.write { db in
                try db.execute(sql: "CREATE TABLE IF NOT EXISTS player (id INTEGER PRIMARY KEY, name TEXT)")
                isPreparing.open()
                while !mayEnd.isOpen { Thread.sleep(forTimeInterval: 0.001) }
            }
            events.append("prepared")
        }
        let creation = Task { try await pools.create("a") }
        #expect(await eventuallyAwaited { isPreparing.isOpen })
        let leases = (0..<3).map { _ in
            Task { try await pools.withPool("a") { pool in try await pool.write { try $0.insertPlayer() } } }
        }
        #expect(await eventuallyAwaited { pools.statistics.waitingCount == 3 })
        let exists = DatabaseFileError(.exists, path: directory.path("a.db"))
        await #expect(throws: exists) { try await pools.create("a") }
        mayEnd.open()
        try await creation.value
        for lease in leases { try await lease.value }
        #expect(try await count("a", in: pools) == 3)
        #expect(events.values == ["open", "prepared", "open", "prepared"])
    }

    @Test("a creation that fails leaves no file, and can be repeated")
    func failedCreation() async throws {
        let mended = Notes<Void>()
        let pools = DatabasePools(folder: directory.path) { name in
            switch name {
            case "no-key": Configuration()
            case "unknown": throw TestFailure()
            default: .rawKeyed
            }
        } prepare: { pool in
            try pool.write { db in
                try db.execute(sql: "CREATE TABLE IF NOT EXISTS player (id INTEGER PRIMARY KEY, name TEXT)")
                try db.insertPlayer()
            }
            if mended.values.isEmpty { throw TestFailure() }
        }
        await #expect(throws: DatabaseError.self) { try await pools.create("no-key") }
        for name in ["unknown", "a", "a"] {
            await #expect(throws: TestFailure.self) { try await pools.create(name) }
        }
        #expect(directory.fileNames().isEmpty && pools.statistics.usedSlotCount == 0)
        mended.append(())
        try await pools.create("a")
        #expect(directory.fileNames() == ["a.db"])
    }

    @Test("the file of a failed creation is kept if another connection uses it, or has committed")
    func usedFileOfFailedCreation() async throws {
        let others = Notes<DatabaseQueue>()
        let pools = DatabasePools(folder: directory.path) { _ in
            .rawKeyed
        } prepare: { pool in
            let other = try DatabaseQueue(path: pool.path, configuration: .rawKeyed)
            if pool.path.hasSuffix("open.db") {
                others.append(other)
            } else {
                try other.write { try $0.execute(sql: "CREATE TABLE a (b)") }
                try other.close()
            }
            throw TestFailure()
        }
        for name in ["committed", "open"] {
            await #expect(throws: TestFailure.self) { try await pools.create(name) }
            let exists = DatabaseFileError(.exists, path: directory.path("\(name).db"))
            await #expect(throws: exists) { try await pools.create(name) }
        }
        for other in others.values { try other.close() }
        #expect(directory.fileNames() == ["committed.db", "open.db"])
    }

    // MARK: Errors

    @Test("a file that is missing is not created, and the next request finds a file that was")
    func missingFile() async throws {
        let pools = makePools(1)
        let path = directory.path("a.db")
        await #expect(throws: DatabaseFileError(.missing, path: path)) { try await pools.lease("a") }
        #expect(directory.fileNames().isEmpty && pools.statistics.usedSlotCount == 0)
        try await pools.create("a")
        await #expect(throws: DatabaseFileError(.exists, path: path)) { try await pools.create("a") }
        #expect(try await count("a", in: pools) == 0)
    }

    @Test("a request for a missing file waits for no other database, and closes none")
    func manyMissingFiles() async throws {
        let pools = makePools(2)
        let names = try await makeFiles(2, in: pools)
        for name in names { #expect(try await count(name, in: pools) == 0) }
        for number in 0..<20 {
            let missing = DatabaseFileError(.missing, path: directory.path("\(number).db"))
            await #expect(throws: missing) { try await pools.lease("\(number)") }
        }
        #expect(pools.statistics.openCount == 2)
        let leases = [try await pools.lease(names[0]), try await pools.lease(names[1])]
        let missing = DatabaseFileError(.missing, path: directory.path("a.db"))
        await #expect(throws: missing) { try await pools.lease("a", timeout: 0) }
        #expect(pools.statistics.leasedCount == leases.count)
    }

    /// Removes the file of a database, with its log and the log's index.
    private func removeFiles(of name: String) throws {
        for path in ["", "-wal", "-shm"].map({ directory.path("\(name).db\($0)") })
        where FileManager.default.fileExists(atPath: path) {
            try FileManager.default.removeItem(atPath: path)
        }
    }

    private func insert(into name: String, of pools: DatabasePools) async throws {
        try await pools.withPool(name) { pool in try await pool.write { try $0.insertPlayer() } }
    }

    @Test("a database whose file was deleted while it was open is closed, and can be created again")
    func deletedFile() async throws {
        let pools = makePools()
        let path = directory.path("a.db")
        for isRequested in [true, false] {
            try await pools.create("a")
            try await insert(into: "a", of: pools)
            try removeFiles(of: "a")
            guard isRequested else { continue }
            let missing = DatabaseFileError(.missing, path: path)
            await #expect(throws: missing) { try await pools.lease("a") }
        }
        try await pools.create("a")
        #expect(try await count("a", in: pools) == 0)
        do {
            let lease = try await pools.lease("a")
            try removeFiles(of: "a")
            let error = await #expect(throws: DatabaseFileError.self) { try await pools.create("a") }
            if case .busy? = error?.reason {} else { Issue.record("\(String(describing: error))") }
            withExtendedLifetime(lease) {}
        }
        #expect(await eventuallyAwaited { pools.statistics.leasedCount == 0 })
        try await pools.create("a")
        try await insert(into: "a", of: pools)
        #expect(try await count("a", in: pools) == 1)
    }

    @Test("a database whose file was replaced while it was open is closed, and the new file is opened")
    func replacedFile() async throws {
        let pools = makePools()
        try await pools.create("a")
        try await insert(into: "a", of: pools)
        let copy = directory.path("a.copy")
        try await pools.withPool("a") { pool in try await pool.vacuum(into: copy) }
        for _ in 0..<2 { try await insert(into: "a", of: pools) }
        try removeFiles(of: "a")
        try FileManager.default.moveItem(atPath: copy, toPath: directory.path("a.db"))
        #expect(try await count("a", in: pools) == 1)
        try await insert(into: "a", of: pools)
        #expect(try await count("a", in: pools) == 2)
    }

    @Test(
        "names that lead elsewhere are refused", arguments: ["", ".", "..", "a/b", "../a", "/a", "a\0", ".a"])
    func names(name: String) async throws {
        let pools = makePools()
        func isRefused(_ body: () async throws -> Void) async -> Bool {
            do {
                try await body()
                return false
            } catch {
                return isError(.SQLITE_MISUSE)(error)
            }
        }
        #expect(await isRefused { _ = try await pools.lease(name) })
        #expect(await isRefused { try await pools.create(name) })
        #expect(await isRefused { _ = try pools.path(of: name) })
        #expect(directory.fileNames().isEmpty)
    }

    @Test("files that cannot be opened have typed errors, and do not keep a slot")
    func unusableFiles() async throws {
        let pools = makePools(1)
        try makeOther(directory.makeQueue("other-key.db", .rawKeyed(7)))
        try directory.write(Array("this is no database at all, and never was".utf8), to: "text.db")
        try await pools.create("damaged")
        try await pools.withPool("damaged") { pool in try await pool.write { try $0.insertPlayer() } }
        try await pools.create("good")
        #expect(try await count("good", in: pools) == 0)  // closes the other
        var bytes = try directory.bytes(of: "damaged.db")
        for offset in 100..<200 { bytes[offset] ^= 0xff }
        try directory.write(bytes, to: "damaged.db")
        let failures: [String: EncryptionFailure?] = [
            "other-key": .wrongKey, "text": .notADatabase, "damaged": .damaged(pages: [1]),
        ]
        for (name, failure) in failures {
            for _ in 0..<2 {
                let error = await #expect(throws: DatabaseError.self) { try await pools.lease(name) }
                #expect(error?.encryptionFailure == failure)
            }
        }
        #expect(try await count("good", in: pools) == 0)
        #expect(pools.statistics.usedSlotCount <= 1)
    }

    @Test("errors of the closures are thrown to all requests, and the next request tries again")
    func closureErrors() async throws {
        let mended = Notes<Void>()
        let directory = directory
        try makeOther(directory.makeQueue("a.db"))
        let pools = DatabasePools(folder: directory.path) { _ in
            .rawKeyed
        } prepare: { _ in
            if mended.values.isEmpty { throw TestFailure() }
        }
        let tasks = (0..<20).map { _ in Task { try await pools.withPool("a") { _ in } } }
        for task in tasks { await #expect(throws: TestFailure.self) { try await task.value } }
        #expect(pools.statistics.usedSlotCount == 0)
        mended.append(())
        try await pools.withPool("a") { _ in }
        let others = DatabasePools(folder: directory.path) { _ in throw TestFailure() }
        await #expect(throws: TestFailure.self) { try await others.lease("a") }
    }

    // MARK: Rotation

    @Test("all keys are rotated, one after the other, and databases with the new key are skipped")
    func rotation() async throws {
        let generation = Generation()
        let pools = makePools(2, generation: generation)
        let names = try await makeFiles(5, in: pools)
        for name in names {
            try await pools.withPool(name) { pool in try await pool.write { try $0.insertPlayer() } }
        }
        // One was rotated by a run that did not get further.
        generation.advance()
        var outcomes = try await pools.rotateAll([names[3]])
        #expect(try outcomes.map { try $0.result.get().isChanged } == [true])
        let ended = Notes<String>()
        outcomes = try await pools.rotateAll { ended.append($0.name) }
        #expect(outcomes.map(\.name) == names && ended.values == names)
        #expect(try outcomes.map { try $0.result.get().isChanged } == [true, true, true, false, true])
        outcomes = try await pools.rotateAll()
        #expect(try outcomes.map { try $0.result.get().isChanged } == [false, false, false, false, false])
        try await pools.close(within: .zero)
        for name in names {
            let key = KeyGenerations(of: name, from: master)[2]
            let queue = try directory.makeQueue("\(name).db", Configuration.rawKeyed.with { $0.key = key })
            #expect(try await queue.read { try $0.playerCount() } == 1)
        }
    }

    @Test("all keys are rotated while the databases are in use")
    func rotationInUse() async throws {
        let generation = Generation()
        let pools = makePools(3, generation: generation)
        let names = try await makeFiles(4, in: pools)
        let end = Flag()
        let users = names.map { name in
            Task {
                var count = 0
                while !end.isOpen {
                    try await pools.withPool(name) { pool in try await pool.write { try $0.insertPlayer() } }
                    count += 1
                    await Task.yield()
                }
                return count
            }
        }
        generation.advance()
        var options = DatabaseFile.RotationOptions()
        options.whileInUse = DatabaseFile.WhileInUse()
        let outcomes = try await pools.rotateAll(options: options)
        end.open()
        #expect(outcomes.allSatisfy { (try? $0.result.get())?.isChanged == true })
        for (name, user) in zip(names, users) {
            #expect(try await user.value == count(name, in: pools))
            #expect(try await pools.withPool(name) { await $0.health().usedKey } == .current)
        }
    }

    @Test("a rotation that fails for one database continues with the next, and its observer can end it")
    func failedRotation() async throws {
        let generation = Generation()
        let pools = makePools(generation: generation)
        let names = try await makeFiles(3, in: pools)
        try makeOther(directory.makeQueue("\(names[1]).db.db", .rawKeyed(7)))
        generation.advance()
        let outcomes = try await pools.rotateAll(["missing"] + names + ["\(names[1]).db"])
        let changes = outcomes.map { (try? $0.result.get())?.isChanged }
        #expect(changes == [nil, true, true, true, nil])
        #expect(throws: DatabaseFileError(.missing, path: directory.path("missing.db"))) {
            try outcomes[0].result.get()
        }
        generation.advance()
        await #expect(throws: TestFailure.self) {
            try await pools.rotateAll(names) { _ in throw TestFailure() }
        }
        #expect(
            try await pools.rotateAll(names).map { try $0.result.get().isChanged } == [false, true, true])
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await pools.rotateAll(names)
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    // MARK: Several objects

    @Test("two objects on one folder see each other's writes, and block each other's rotations")
    func twoObjects() async throws {
        let generation = Generation()
        let (first, second) = (makePools(generation: generation), makePools(generation: generation))
        let names = try await makeFiles(2, in: first)
        for pools in [first, second, first] {
            try await pools.withPool(names[0]) { pool in try await pool.write { try $0.insertPlayer() } }
        }
        #expect(try await count(names[0], in: first) == 3)
        #expect(try await count(names[0], in: second) == 3)
        generation.advance()
        let outcomes = try await first.rotateAll()
        let error = #expect(throws: DatabaseFileError.self) { try outcomes[0].result.get() }
        if case .busy? = error?.reason {} else { Issue.record("\(String(describing: error))") }
        #expect(try outcomes[1].result.get().isChanged)
        try await second.close(within: .zero)
        #expect(try await first.rotateAll().map { try $0.result.get().isChanged } == [true, false])
    }

    // MARK: Closing

    @Test("closing waits for leases, ends waiting requests, and refuses later ones")
    func closing() async throws {
        let pools = makePools(1)
        let names = try await makeFiles(2, in: pools)
        let end = Flag()
        let user = try await use(names[0], of: pools, until: end)
        let waiting = Task { try await pools.withPool(names[1]) { _ in } }
        #expect(await eventuallyAwaited { pools.statistics.waitingCount == 1 })
        let closing = Task { try await pools.close(within: .seconds(1000)) }
        let error = await #expect(throws: DatabaseError.self) { try await waiting.value }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        await #expect(throws: DatabaseError.self) { try await pools.lease(names[0]) }
        #expect(pools.statistics.leasedCount == 1)
        end.open()
        try await user.value
        try await closing.value
        #expect(pools.statistics.usedSlotCount == 0)
        try await pools.close()
        #expect(directory.fileNames() == names.map { "\($0).db" })
    }

    @Test("closing waits for a database that is being opened, for as long as the grace")
    func closingWhileOpening() async throws {
        let (isOpening, mayOpen) = (Flag(), Flag())
        let pools = DatabasePools(folder: directory.path) { _ in
            .rawKeyed
        } prepare: { _ in
            isOpening.open()
            while !mayOpen.isOpen { Thread.sleep(forTimeInterval: 0.001) }
        }
        try makeOther(directory.makeQueue("a.db"))
        let user = Task { try await pools.withPool("a") { _ in } }
        #expect(await eventuallyAwaited { isOpening.isOpen })
        await #expect(throws: DatabaseWaitError.self) { try await pools.close(within: .zero, grace: .zero) }
        let closing = Task { try await pools.close(within: .zero, grace: .seconds(1000)) }
        mayOpen.open()
        try await closing.value
        #expect(pools.statistics.usedSlotCount == 0)
        _ = await user.result
    }

    @Test("of several creations of one database one succeeds, closing waits for it, and refuses later ones")
    func closingWhileCreating() async throws {
        let (isPreparing, mayEnd) = (Flag(), Flag())
        let pools = DatabasePools(folder: directory.path) { _ in
            .rawKeyed
        } prepare: { _ in
            isPreparing.open()
            while !mayEnd.isOpen { Thread.sleep(forTimeInterval: 0.001) }
        }
        let first = Task { try await pools.create("a") }
        #expect(await eventuallyAwaited { isPreparing.isOpen })
        let exists = DatabaseFileError(.exists, path: directory.path("a.db"))
        await #expect(throws: exists) { try await pools.create("a") }
        await #expect(throws: DatabaseWaitError.self) { try await pools.close(within: .zero, grace: .zero) }
        let closing = Task { try await pools.close() }
        let error = await #expect(throws: DatabaseError.self) { try await pools.create("b") }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        mayEnd.open()
        try await closing.value
        #expect(directory.fileNames() == ["a.db"])
        try await first.value
    }

    @Test("closing cancels the accesses of leases that do not end in time")
    func forcedClosing() async throws {
        let pools = makePools()
        let names = try await makeFiles(20, in: pools)
        let hasBegun = Notes<Void>()
        let tasks = names.map { name in
            Task {
                try await pools.withPool(name) { pool in
                    try await pool.write { db in
                        try db.insertPlayer()
                        hasBegun.append(())
                        _ = try db.int(Self.endless)
                    }
                }
            }
        }
        #expect(await eventuallyAwaited { hasBegun.values.count == names.count })
        try await pools.close(within: .zero, grace: .seconds(Int64(Patience.seconds)))
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        #expect(await eventuallyAwaited { pools.statistics.usedSlotCount == 0 })
        #expect(directory.fileNames().count == names.count)
        for name in names {
            let key = KeyGenerations(of: name, from: master)[1]
            let queue = try directory.makeQueue("\(name).db", Configuration.rawKeyed.with { $0.key = key })
            #expect(try await queue.read { try $0.playerCount() } == 0)
        }
    }

    @Test("an object that is released closes its databases, and a lease outlives it")
    func release() async throws {
        var pools: DatabasePools? = makePools()
        let names = try await makeFiles(2, in: #require(pools))
        var lease = try await pools?.lease(names[0])
        #expect(try await count(names[1], in: #require(pools)) == 0)
        pools = nil
        #expect(try await lease?.pool.read { try $0.playerCount() } == 0)
        lease = nil
        let files = names.map { "\($0).db" }
        #expect(await eventuallyAwaited { directory.fileNames() == files })
    }
}
