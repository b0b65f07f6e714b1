import CofferTestSupport
import Foundation
import Synchronization
import Testing

@testable import Coffer

/// A folder of databases with a table of players, for ``DatabasePools``.
struct TenantFolder {
    let directory: TestDirectory
    let master = DatabaseKey.rawKey([UInt8](repeating: 0x42, count: 32))

    init() throws { directory = try TestDirectory() }

    /// The newest generation of all keys.
    final class Generation: Sendable {
        private let number = Atomic<Int>(1)
        var current: Int { number.load(ordering: .sequentiallyConsistent) }
        func advance() { number.add(1, ordering: .sequentiallyConsistent) }
    }

    /// A flag that tasks poll, because they must not block a thread.
    final class Flag: Sendable {
        private let value = Atomic<Bool>(false)
        var isOpen: Bool { value.load(ordering: .sequentiallyConsistent) }
        func open() { value.store(true, ordering: .sequentiallyConsistent) }
    }

    func makePools(
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

    func makeFiles(_ count: Int, in pools: DatabasePools) async throws -> [String] {
        let names = (0..<count).map { "tenant-\($0)" }
        for name in names { try await pools.create(name) }
        return names
    }

    func count(_ name: String, in pools: DatabasePools) async throws -> Int {
        try await pools.withPool(name) { pool in try await pool.read { try $0.playerCount() } }
    }

    /// Keeps a database in use until the gate opens.
    func use(_ name: String, of pools: DatabasePools, until end: Flag) async throws -> Task<
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

    /// Removes the file of a database, with its log and the log's index.
    func removeFiles(of name: String) throws {
        for path in ["", "-wal", "-shm"].map({ directory.path("\(name).db\($0)") })
        where FileManager.default.fileExists(atPath: path) {
            try FileManager.default.removeItem(atPath: path)
        }
    }

    func insert(into name: String, of pools: DatabasePools) async throws {
        try await pools.withPool(name) { pool in try await pool.write { try $0.insertPlayer() } }
    }
}
