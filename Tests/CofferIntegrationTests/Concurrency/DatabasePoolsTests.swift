import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

/// Many files under one limit. No test measures a time.
@Suite("DatabasePools", .timeLimit(.minutes(Patience.minutes)))
struct DatabasePoolsTests {
    private let folder: TenantFolder
    private static let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT sum(i) FROM n"

    init() throws { folder = try TenantFolder() }

    /// Makes a file without `prepare`, by a queue that is closed again.
    private func makeOther(_ queue: DatabaseQueue) throws {
        try queue.write { try $0.execute(sql: "CREATE TABLE a (b)") }
        try queue.close()
    }

    // MARK: Opening

    @Test("a database is opened when it is first used, and stays open")
    func opening() async throws {
        let pools = folder.makePools()
        let names = try await folder.makeFiles(3, in: pools)
        #expect(pools.statistics.usedSlotCount == 0)
        #expect(try await pools.names() == names)
        #expect(try await folder.count(names[0], in: pools) == 0)
        #expect(pools.statistics.openCount == 1 && pools.statistics.leasedCount == 0)
        let lease = try await pools.lease(names[0])
        let again = try await pools.lease(names[0])
        #expect(lease.pool === again.pool && lease.name == names[0])
        #expect(pools.statistics.openCount == 1 && pools.statistics.leasedCount == 1)
        try await pools.close(within: .zero)
        #expect(folder.directory.fileNames() == names.map { "\($0).db" })
    }

    @Test("many tasks that want one database at the same time open it once")
    func concurrentOpening() async throws {
        let opened = Notes<String>()
        let pools = DatabasePools(folder: folder.directory.path) { name in
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
        let pools = folder.makePools { $0.readerCount = 3 }
        try await pools.create("a")
        try await pools.withPool("a") { #expect($0.configuration.maximumReaderCount == 3) }
    }

    @Test("the descriptor limit bounds the number of open databases")
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
        let pools = folder.makePools { $0.descriptorCount = 70 }
        let names = try await folder.makeFiles(12, in: pools)
        for name in names {
            try await pools.withPool(name) { pool in
                let busy = [BusyConnection.reading(pool), .reading(pool), .writing(pool)]
                for access in busy { try access.end() }
            }
        }
        #expect(openDescriptors(below: folder.directory.path).count <= 70)
        #expect(pools.statistics.usedSlotCount <= 10)
        try await pools.close(within: .zero)
        #expect(openDescriptors(below: folder.directory.path).isEmpty)
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
        let pools = folder.makePools(3)
        let names = try await folder.makeFiles(10, in: pools)
        var random = SeededRandom("eviction")
        var counts = [String: Int]()
        for _ in 0..<200 {
            let name = names.randomElement(using: &random)!
            counts[name, default: 0] += 1
            try await pools.withPool(name) { pool in try await pool.write { try $0.insertPlayer() } }
            #expect(pools.statistics.usedSlotCount <= 3)
        }
        for name in names { #expect(try await folder.count(name, in: pools) == counts[name, default: 0]) }
        try await pools.close()
        #expect(folder.directory.fileNames().count == 10)
    }

    @Test(
        "concurrent tasks on many databases never exceed the limit, and lose no write", arguments: [1, 2, 5])
    func stress(limit: Int) async throws {
        let pools = folder.makePools(limit)
        let names = try await folder.makeFiles(12, in: pools)
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
        for name in names { #expect(try await folder.count(name, in: pools) == 25) }
        #expect(pools.statistics.waitingCount == 0)
    }

    @Test("a request waits until a database is released, within its bounds")
    func bounds() async throws {
        let pools = folder.makePools(1) { $0.maximumWaiterCount = 2 }
        let names = try await folder.makeFiles(4, in: pools)
        let end = TenantFolder.Flag()
        let user = try await folder.use(names[0], of: pools, until: end)
        for timeout in [0, -1, 0.01] {
            let error = await #expect(throws: DatabaseWaitError.self) {
                try await pools.withPool(names[1], timeout: timeout) { _ in }
            }
            #expect(error?.resource == .openDatabase)
        }
        // An open database needs no wait.
        try await pools.withPool(names[0], timeout: 0) { _ in }
        let waiting = names[1...2].map { name in Task { try await folder.count(name, in: pools) } }
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
        let pools = folder.makePools(1)
        let names = try await folder.makeFiles(3, in: pools)
        let end = TenantFolder.Flag()
        let user = try await folder.use(names[0], of: pools, until: end)
        let tasks = (0..<3000).map { number in
            Task { try await pools.withPool(names[1 + number % 2]) { _ in Issue.record("It has no slot.") } }
        }
        #expect(await eventuallyAwaited { pools.statistics.waitingCount == tasks.count })
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        #expect(pools.statistics.waitingCount == 0 && pools.statistics.leasedCount == 1)
        end.open()
        try await user.value
        #expect(try await folder.count(names[2], in: pools) == 0)
    }

    @Test("a cancelled task keeps no lease")
    func cancelledLease() async throws {
        let pools = folder.makePools(1)
        let names = try await folder.makeFiles(2, in: pools)
        for _ in 0..<50 {
            let task = Task { try await pools.withPool(names[0]) { _ in } }
            task.cancel()
            _ = await task.result
        }
        #expect(await eventuallyAwaited { pools.statistics.leasedCount == 0 })
        #expect(try await folder.count(names[1], in: pools) == 0)
    }

    @Test("slow openings do not block other tasks")
    func blockedOpenings() async throws {
        let (asked, mayAnswer) = (Notes<String>(), Gate())
        let names = (0..<12).map { "\($0)" }
        for name in names {
            try makeOther(folder.directory.makeQueue("\(name).db"))
        }
        let pools = DatabasePools(folder: folder.directory.path) { name in
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

    // MARK: Errors

    @Test(
        "names that are not plain file names are refused",
        arguments: ["", ".", "..", "a/b", "../a", "/a", "a\0", ".a"])
    func names(name: String) async throws {
        let pools = folder.makePools()
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
        #expect(folder.directory.fileNames().isEmpty)
    }

    @Test("files that cannot be opened have typed errors, and do not keep a slot")
    func unusableFiles() async throws {
        let pools = folder.makePools(1)
        try makeOther(folder.directory.makeQueue("other-key.db", .rawKeyed(7)))
        try folder.directory.write(Array("this is no database at all, and never was".utf8), to: "text.db")
        try await pools.create("damaged")
        try await pools.withPool("damaged") { pool in try await pool.write { try $0.insertPlayer() } }
        try await pools.create("good")
        #expect(try await folder.count("good", in: pools) == 0)  // closes the other
        var bytes = try folder.directory.bytes(of: "damaged.db")
        for offset in 100..<200 { bytes[offset] ^= 0xff }
        try folder.directory.write(bytes, to: "damaged.db")
        let failures: [String: EncryptionFailure?] = [
            "other-key": .wrongKey, "text": .notADatabase, "damaged": .damaged(pages: [1]),
        ]
        for (name, failure) in failures {
            for _ in 0..<2 {
                let error = await #expect(throws: DatabaseError.self) { try await pools.lease(name) }
                #expect(error?.encryptionFailure == failure)
            }
        }
        #expect(try await folder.count("good", in: pools) == 0)
        #expect(pools.statistics.usedSlotCount <= 1)
    }

    @Test("errors of the closures are thrown to all requests, and the next request tries again")
    func closureErrors() async throws {
        let mended = Notes<Void>()
        try makeOther(folder.directory.makeQueue("a.db"))
        let pools = DatabasePools(folder: folder.directory.path) { _ in
            .rawKeyed
        } prepare: { _ in
            if mended.values.isEmpty { throw TestFailure() }
        }
        let tasks = (0..<20).map { _ in Task { try await pools.withPool("a") { _ in } } }
        for task in tasks { await #expect(throws: TestFailure.self) { try await task.value } }
        #expect(pools.statistics.usedSlotCount == 0)
        mended.append(())
        try await pools.withPool("a") { _ in }
        let others = DatabasePools(folder: folder.directory.path) { _ in throw TestFailure() }
        await #expect(throws: TestFailure.self) { try await others.lease("a") }
    }

    // MARK: Rotation

    @Test("all keys are rotated, one after the other, and databases with the new key are skipped")
    func rotation() async throws {
        let generation = TenantFolder.Generation()
        let pools = folder.makePools(2, generation: generation)
        let names = try await folder.makeFiles(5, in: pools)
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
            let key = KeyGenerations(of: name, from: folder.master)[2]
            let queue = try folder.directory.makeQueue(
                "\(name).db", Configuration.rawKeyed.with { $0.key = key })
            #expect(try await queue.read { try $0.playerCount() } == 1)
        }
    }

    @Test("all keys are rotated while the databases are in use")
    func rotationInUse() async throws {
        let generation = TenantFolder.Generation()
        let pools = folder.makePools(3, generation: generation)
        let names = try await folder.makeFiles(4, in: pools)
        let end = TenantFolder.Flag()
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
            #expect(try await user.value == folder.count(name, in: pools))
            #expect(try await pools.withPool(name) { await $0.health().usedKey } == .current)
        }
    }

    @Test("a rotation that fails for one database continues with the next, and its observer can end it")
    func failedRotation() async throws {
        let generation = TenantFolder.Generation()
        let pools = folder.makePools(generation: generation)
        let names = try await folder.makeFiles(3, in: pools)
        try makeOther(folder.directory.makeQueue("\(names[1]).db.db", .rawKeyed(7)))
        generation.advance()
        let outcomes = try await pools.rotateAll(["missing"] + names + ["\(names[1]).db"])
        let changes = outcomes.map { (try? $0.result.get())?.isChanged }
        #expect(changes == [nil, true, true, true, nil])
        #expect(throws: DatabaseFileError(.missing, path: folder.directory.path("missing.db"))) {
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
        let generation = TenantFolder.Generation()
        let (first, second) = (
            folder.makePools(generation: generation), folder.makePools(generation: generation)
        )
        let names = try await folder.makeFiles(2, in: first)
        for pools in [first, second, first] {
            try await pools.withPool(names[0]) { pool in try await pool.write { try $0.insertPlayer() } }
        }
        #expect(try await folder.count(names[0], in: first) == 3)
        #expect(try await folder.count(names[0], in: second) == 3)
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
        let pools = folder.makePools(1)
        let names = try await folder.makeFiles(2, in: pools)
        let end = TenantFolder.Flag()
        let user = try await folder.use(names[0], of: pools, until: end)
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
        #expect(folder.directory.fileNames() == names.map { "\($0).db" })
    }

    @Test("closing waits for a database that is being opened, until the grace period ends")
    func closingWhileOpening() async throws {
        let (isOpening, mayOpen) = (TenantFolder.Flag(), TenantFolder.Flag())
        let pools = DatabasePools(folder: folder.directory.path) { _ in
            .rawKeyed
        } prepare: { _ in
            isOpening.open()
            while !mayOpen.isOpen { Thread.sleep(forTimeInterval: 0.001) }
        }
        try makeOther(folder.directory.makeQueue("a.db"))
        let user = Task { try await pools.withPool("a") { _ in } }
        #expect(await eventuallyAwaited { isOpening.isOpen })
        await #expect(throws: DatabaseWaitError.self) { try await pools.close(within: .zero, grace: .zero) }
        let closing = Task { try await pools.close(within: .zero, grace: .seconds(1000)) }
        mayOpen.open()
        try await closing.value
        #expect(pools.statistics.usedSlotCount == 0)
        _ = await user.result
    }

    @Test("only one creation of a database succeeds; closing waits for it, and refuses later ones")
    func closingWhileCreating() async throws {
        let (isPreparing, mayEnd) = (TenantFolder.Flag(), TenantFolder.Flag())
        let pools = DatabasePools(folder: folder.directory.path) { _ in
            .rawKeyed
        } prepare: { _ in
            isPreparing.open()
            while !mayEnd.isOpen { Thread.sleep(forTimeInterval: 0.001) }
        }
        let first = Task { try await pools.create("a") }
        #expect(await eventuallyAwaited { isPreparing.isOpen })
        let exists = DatabaseFileError(.exists, path: folder.directory.path("a.db"))
        await #expect(throws: exists) { try await pools.create("a") }
        await #expect(throws: DatabaseWaitError.self) { try await pools.close(within: .zero, grace: .zero) }
        let closing = Task { try await pools.close() }
        let error = await #expect(throws: DatabaseError.self) { try await pools.create("b") }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        mayEnd.open()
        try await closing.value
        #expect(folder.directory.fileNames() == ["a.db"])
        try await first.value
    }

    @Test("closing cancels the accesses of leases that do not end in time")
    func forcedClosing() async throws {
        let pools = folder.makePools()
        let names = try await folder.makeFiles(20, in: pools)
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
        #expect(folder.directory.fileNames().count == names.count)
        for name in names {
            let key = KeyGenerations(of: name, from: folder.master)[1]
            let queue = try folder.directory.makeQueue(
                "\(name).db", Configuration.rawKeyed.with { $0.key = key })
            #expect(try await queue.read { try $0.playerCount() } == 0)
        }
    }

    @Test("an object that is released closes its databases, and a lease outlives it")
    func release() async throws {
        var pools: DatabasePools? = folder.makePools()
        let names = try await folder.makeFiles(2, in: #require(pools))
        var lease = try await pools?.lease(names[0])
        #expect(try await folder.count(names[1], in: #require(pools)) == 0)
        pools = nil
        #expect(try await lease?.pool.read { try $0.playerCount() } == 0)
        lease = nil
        let files = names.map { "\($0).db" }
        #expect(await eventuallyAwaited { folder.directory.fileNames() == files })
    }
}
