import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

/// The files of ``DatabasePools``: created, missing, deleted and replaced ones. No test measures a time.
@Suite("The files of DatabasePools", .timeLimit(.minutes(Patience.minutes)))
struct DatabasePoolsFilesTests {
    private let folder: TenantFolder

    init() throws { folder = try TenantFolder() }

    // MARK: Work on files

    @Test("nothing is created next to the log of a former file")
    func orphanedLog() async throws {
        let pools = folder.makePools()
        try folder.directory.write([1], to: "a.db-wal")
        let exists = DatabaseFileError(.exists, path: folder.directory.path("a.db-wal"))
        await #expect(throws: exists) { try await pools.create("a") }
        #expect(folder.directory.fileNames() == ["a.db-wal"])
        try FileManager.default.removeItem(atPath: folder.directory.path("a.db-wal"))
        try await pools.create("a")
    }

    @Test("databases with keyrings have their key already, and are not rotated", arguments: [false, true])
    func keyrings(isInUse: Bool) async throws {
        let secret = DatabaseKeyring.Secret.rawKey([UInt8](repeating: 1, count: 32))
        let pools = DatabasePools(folder: folder.directory.path) { _ in
            Configuration().with { $0.key = .keyring(unlockedBy: secret) }
        }
        try DatabaseKeyring(databasePath: pools.path(of: "a")).make([.secret(secret)])
        try await pools.create("a")
        var options = DatabaseFile.RotationOptions()
        if isInUse { options.whileInUse = DatabaseFile.WhileInUse() }
        #expect(try await pools.rotateAll(options: options).map { try $0.result.get().isChanged } == [false])
        let one = try await pools.withPool("a") {
            try await $0.read { try Int.fetchOne($0, sql: "SELECT 1") }
        }
        #expect(one == 1)
        try await pools.close()
    }

    @Test("names that are equal in Swift, and differ for the system, are different databases")
    func equivalentNames() async throws {
        let generation = TenantFolder.Generation()
        let pools = folder.makePools(generation: generation)
        let names = ["caf\u{e9}", "cafe\u{301}"]
        try await pools.create(names[0])
        try await pools.withPool(names[0]) { _ in
            await #expect(throws: DatabaseFileError.self) { try await pools.withPool(names[1]) { _ in } }
            try await pools.create(names[1])
        }
        for name in names {
            try await pools.withPool(name) { pool in
                try await pool.write {
                    try $0.execute(sql: "INSERT INTO player (name) VALUES (?)", arguments: [name])
                }
            }
        }
        generation.advance()
        #expect(try await pools.rotateAll().map { try $0.result.get().isChanged } == [true, true])
        try await pools.close()
        let again = folder.makePools(generation: generation)
        for name in names {
            let found = try await again.withPool(name) { pool in
                try await pool.read { try String.fetchAll($0, sql: "SELECT hex(name) FROM player") }
            }
            #expect(found == [name.utf8.map { String($0, radix: 16, uppercase: true) }.joined()])
        }
    }

    @Test("work on a file waits for leases of its database, and new requests wait for the work")
    func work() async throws {
        let pools = folder.makePools(2)
        try await pools.create("a")
        var lease: DatabasePools.Lease? = try await pools.lease("a")
        let (hasBegun, mayEnd) = (TenantFolder.Flag(), TenantFolder.Flag())
        let working = Task {
            try await pools.withFile(of: "a") { file in
                hasBegun.open()
                while !mayEnd.isOpen { Thread.sleep(forTimeInterval: 0.001) }
                try file.erase(confirming: "a.db")
                return file.path
            }
        }
        #expect(await eventuallyAwaited { pools.statistics.waitingCount == 1 })
        #expect(!hasBegun.isOpen)
        // A task that has a lease can get another one.
        #expect(try await folder.count("a", in: pools) == 0)
        withExtendedLifetime(lease) {}
        lease = nil
        #expect(await eventuallyAwaited { hasBegun.isOpen })
        #expect(pools.statistics.openCount == 0 && pools.statistics.usedSlotCount == 1)
        await #expect(throws: DatabaseWaitError.self) { _ = try await pools.lease("a", timeout: 0.01) }
        let late = Task { try await pools.lease("a") }
        #expect(await eventuallyAwaited { pools.statistics.waitingCount == 1 })
        mayEnd.open()
        #expect(try await working.value == folder.directory.path("a.db"))
        await #expect(throws: DatabaseFileError(.missing, path: folder.directory.path("a.db"))) {
            _ = try await late.value
        }
        try await pools.create("a")
        #expect(try await folder.count("a", in: pools) == 0)
        try await pools.close()
        await #expect(throws: DatabaseError.self) { try await pools.withFile(of: "a") { _ in } }
    }

    @Test("a database is usable after work on its file fails, times out or is cancelled")
    func failedWork() async throws {
        struct Failure: Error {}
        let pools = folder.makePools(1)
        try await pools.create("a")
        await #expect(throws: Failure.self) { try await pools.withFile(of: "a") { _ in throw Failure() } }
        let lease = try await pools.lease("a")
        await #expect(throws: DatabaseWaitError.self) {
            try await pools.withFile(of: "a", timeout: 0.01) { _ in Issue.record("the database is in use") }
        }
        let waiting = Task {
            try await pools.withFile(of: "a") { _ in Issue.record("the task was cancelled") }
        }
        #expect(await eventuallyAwaited { pools.statistics.waitingCount == 1 })
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(try await folder.count("a", in: pools) == 0)
        withExtendedLifetime(lease) {}
        await #expect(throws: DatabaseError.self) { try await pools.withFile(of: "../a") { _ in } }
    }

    // MARK: Creating

    @Test("creations use slots like openings, and wait for a free slot")
    func limitOfCreations() async throws {
        let (mayEnd, preparing) = (TenantFolder.Flag(), Notes<String>())
        var limits = DatabasePools.Limits()
        limits.poolCount = 2
        let pools = DatabasePools(folder: folder.directory.path, limits: limits) { _ in
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
        #expect(folder.directory.fileNames() == (0..<5).map { "\($0).db" })
        #expect(pools.statistics.usedSlotCount == 0)
    }

    @Test("a creation waits within its limits, closes idle databases, and can be cancelled")
    func boundsOfCreations() async throws {
        let pools = folder.makePools(1) { $0.maximumWait = 0.01 }
        try await pools.create("a")
        var lease: DatabasePools.Lease? = try await pools.lease("a", timeout: 1000)
        await #expect(throws: DatabaseWaitError.self) { try await pools.create("b") }
        let patient = folder.makePools(1)
        let other = try await patient.lease("a")
        let task = Task { try await patient.create("b") }
        #expect(await eventuallyAwaited { patient.statistics.waitingCount == 1 })
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(patient.statistics.waitingCount == 0 && !folder.directory.fileNames().contains("b.db"))
        withExtendedLifetime((lease, other)) {}
        lease = nil
        #expect(await eventuallyAwaited { pools.statistics.leasedCount == 0 })
        let impatient = folder.makePools(1)
        #expect(try await folder.count("a", in: impatient) == 0)
        try await impatient.create("b")
        #expect(try await folder.count("b", in: impatient) == 0)
    }

    @Test("a lease waits for the creation of its database, and a second creation fails")
    func leaseWhileCreating() async throws {
        let (isPreparing, mayEnd, events) = (TenantFolder.Flag(), TenantFolder.Flag(), Notes<String>())
        let pools = DatabasePools(folder: folder.directory.path) { _ in
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
        let exists = DatabaseFileError(.exists, path: folder.directory.path("a.db"))
        await #expect(throws: exists) { try await pools.create("a") }
        mayEnd.open()
        try await creation.value
        for lease in leases { try await lease.value }
        #expect(try await folder.count("a", in: pools) == 3)
        #expect(events.values == ["open", "prepared", "open", "prepared"])
    }

    @Test("a creation that fails leaves no file, and can be repeated")
    func failedCreation() async throws {
        let mended = Notes<Void>()
        let pools = DatabasePools(folder: folder.directory.path) { name in
            switch name {
            case "no-key": Configuration()
            case "unknown": throw TestFailure()
            default: .rawKeyed
            }
        } prepare: { pool in
            try pool.write { db in
                try db.execute(sql: "CREATE TABLE IF NOT EXISTS player (id INTEGER PRIMARY KEY, name TEXT)")
                try db.insertPlayer()
                if mended.values.isEmpty { throw TestFailure() }
            }
        }
        await #expect(throws: DatabaseError.self) { try await pools.create("no-key") }
        for name in ["unknown", "a", "a"] {
            await #expect(throws: TestFailure.self) { try await pools.create(name) }
        }
        #expect(folder.directory.fileNames().isEmpty && pools.statistics.usedSlotCount == 0)
        mended.append(())
        try await pools.create("a")
        #expect(folder.directory.fileNames() == ["a.db"])
    }

    @Test("the file of a failed creation is kept if another connection uses it, or has committed")
    func usedFileOfFailedCreation() async throws {
        let others = Notes<DatabaseQueue>()
        let pools = DatabasePools(folder: folder.directory.path) { _ in
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
            let exists = DatabaseFileError(.exists, path: folder.directory.path("\(name).db"))
            await #expect(throws: exists) { try await pools.create(name) }
        }
        for other in others.values { try other.close() }
        #expect(folder.directory.fileNames() == ["committed.db", "open.db"])
    }

    // MARK: Missing and replaced files

    @Test("a request does not create a missing file, and succeeds once the file has been created")
    func missingFile() async throws {
        let pools = folder.makePools(1)
        let path = folder.directory.path("a.db")
        await #expect(throws: DatabaseFileError(.missing, path: path)) { try await pools.lease("a") }
        #expect(folder.directory.fileNames().isEmpty && pools.statistics.usedSlotCount == 0)
        try await pools.create("a")
        await #expect(throws: DatabaseFileError(.exists, path: path)) { try await pools.create("a") }
        #expect(try await folder.count("a", in: pools) == 0)
    }

    @Test("a request for a missing file neither waits for another database nor closes one")
    func manyMissingFiles() async throws {
        let pools = folder.makePools(2)
        let names = try await folder.makeFiles(2, in: pools)
        for name in names { #expect(try await folder.count(name, in: pools) == 0) }
        for number in 0..<20 {
            let missing = DatabaseFileError(.missing, path: folder.directory.path("\(number).db"))
            await #expect(throws: missing) { try await pools.lease("\(number)") }
        }
        #expect(pools.statistics.openCount == 2)
        let leases = [try await pools.lease(names[0]), try await pools.lease(names[1])]
        let missing = DatabaseFileError(.missing, path: folder.directory.path("a.db"))
        await #expect(throws: missing) { try await pools.lease("a", timeout: 0) }
        #expect(pools.statistics.leasedCount == leases.count)
    }

    @Test("a database whose file was deleted while it was open is closed, and can be created again")
    func deletedFile() async throws {
        let pools = folder.makePools()
        let path = folder.directory.path("a.db")
        for isRequested in [true, false] {
            try await pools.create("a")
            try await folder.insert(into: "a", of: pools)
            try folder.removeFiles(of: "a")
            guard isRequested else { continue }
            let missing = DatabaseFileError(.missing, path: path)
            await #expect(throws: missing) { try await pools.lease("a") }
        }
        try await pools.create("a")
        #expect(try await folder.count("a", in: pools) == 0)
        do {
            let lease = try await pools.lease("a")
            try folder.removeFiles(of: "a")
            let error = await #expect(throws: DatabaseFileError.self) { try await pools.create("a") }
            if case .busy? = error?.reason {} else { Issue.record("\(String(describing: error))") }
            withExtendedLifetime(lease) {}
        }
        #expect(await eventuallyAwaited { pools.statistics.leasedCount == 0 })
        try await pools.create("a")
        try await folder.insert(into: "a", of: pools)
        #expect(try await folder.count("a", in: pools) == 1)
    }

    @Test("a database whose file was replaced while it was open is closed, and the new file is opened")
    func replacedFile() async throws {
        let pools = folder.makePools()
        try await pools.create("a")
        try await folder.insert(into: "a", of: pools)
        let copy = folder.directory.path("a.copy")
        try await pools.withPool("a") { pool in try await pool.vacuum(into: copy) }
        for _ in 0..<2 { try await folder.insert(into: "a", of: pools) }
        try folder.removeFiles(of: "a")
        try FileManager.default.moveItem(atPath: copy, toPath: folder.directory.path("a.db"))
        #expect(try await folder.count("a", in: pools) == 1)
        try await folder.insert(into: "a", of: pools)
        #expect(try await folder.count("a", in: pools) == 2)
    }
}
