import Coffer
import CofferServices
import Foundation
import Hummingbird
import Logging
import ServiceLifecycle

/// The databases of all tenants, in one folder:
///
///     generations.db     the newest generation of keys
///     tenants/NAME.db    the notes of a tenant
///     backups/           copies
public struct Tenants: Sendable {
    let pools: DatabasePools
    let generations: Generations
    private let backupFolder: String
    private let backupKey: @Sendable (String) -> DatabaseKey

    /// Opens the service's own database, and creates the folders.
    ///
    /// - Parameters:
    ///   - folder: an existing folder.
    ///   - master: a raw key, from which all others are derived.
    public static func open(_ folder: String, master: DatabaseKey, logger: Logger) async throws -> Tenants {
        for name in ["tenants", "backups"] {
            try FileManager.default.createDirectory(
                atPath: "\(folder)/\(name)", withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        }
        let generations = try await Generations.open("\(folder)/generations.db", master: master)
        let (log, timers) = (AccessLog(logger, slowerThan: .milliseconds(200)), AccessTimers(name: "tenants"))
        var limits = DatabasePools.Limits()
        limits.poolCount = 50
        limits.maximumWait = 2
        limits.maximumWaiterCount = 500
        let pools = DatabasePools(folder: "\(folder)/tenants", limits: limits) { name in
            var configuration = Configuration()
            configuration.setKey(
                KeyGenerations(of: "notes of \(name)", from: master), generation: try generations.newest())
            configuration.maximumWait = 2
            configuration.addAccessObserver(log.record)
            configuration.addAccessObserver(timers.record)
            return configuration
        } prepare: { pool in
            try Note.migrator.migrate(pool)
        }
        return Tenants(
            pools: pools, generations: generations, backupFolder: "\(folder)/backups",
            backupKey: { .derived(from: master, info: "backup of \($0)") })
    }

    /// The services of the databases, in the order for a group, which shuts down the last one first.
    /// Tenants close before the generations that they are opened with.
    public var services: [any Service] {
        [
            DatabaseService(generations.pool), DatabaseService(pools, closingWithin: .seconds(3)),
            DatabaseMetrics(generations.pool, name: "generations"), DatabaseMetrics(pools, name: "tenants"),
        ]
    }

    /// Runs `body` with the database of a tenant.
    func use<T: Sendable>(
        _ name: String, _ body: @Sendable (DatabasePool) async throws -> T
    ) async throws -> T {
        try await pools.withPool(Self.checked(name), body)
    }

    func create(_ name: String) async throws { try await pools.create(Self.checked(name)) }

    /// Copies a tenant's database, with a key that is independent of rotations, and returns the file's name.
    func backUp(_ name: String) async throws -> String {
        let file = "\(name).\(UUID().uuidString).backup"
        let (path, key) = ("\(backupFolder)/\(file)", backupKey(name))
        try await use(name) { pool in try await pool.vacuum(into: path, key: key) }
        return file
    }

    /// Gives all databases new keys while they are used, and returns the names of those that failed. If it
    /// was interrupted, it continues.
    func rotate() async throws -> [String] {
        let generation = try await generations.begin()
        var options = DatabaseFile.RotationOptions()
        options.whileInUse = DatabaseFile.WhileInUse()
        let outcomes = try await pools.rotateAll(options: options)
        let failed = outcomes.filter { outcome in (try? outcome.result.get()) == nil }.map(\.name)
        if failed.isEmpty { try await generations.end(generation) }
        return failed
    }

    /// Returns the name if it has only lowercase letters and digits.
    ///
    /// - Throws: an HTTP status otherwise.
    static func checked(_ name: String) throws -> String {
        let letters = "abcdefghijklmnopqrstuvwxyz0123456789"
        guard (1...40).contains(name.utf8.count), name.allSatisfy(letters.contains) else {
            throw HTTPError(.badRequest, message: "A tenant's name has letters from a to z and digits.")
        }
        return name
    }
}
