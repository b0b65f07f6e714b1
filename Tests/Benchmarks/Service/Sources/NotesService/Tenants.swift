import GRDB
import Hummingbird

/// The databases of all tenants, whose names are `t0`, `t1` and so on.
protocol Tenants: Sendable {
    func use<T: Sendable>(
        _ name: String, _ body: @Sendable (DatabasePool) async throws -> T
    ) async throws -> T
}

#if !PLAINTEXT
private let master = DatabaseKey.hexadecimal(String(repeating: "5a", count: 32))
#endif

/// The same configuration with both libraries, except for the key and the defaults.
func configuration(of name: String) -> Configuration {
    var configuration = Configuration()
    configuration.maximumReaderCount = 2
    #if !PLAINTEXT
    configuration.key = .derived(from: master, info: name)
    #endif
    return configuration
}

/// Opens a file, and creates its tables and notes if it is new.
func openPool(_ name: String, folder: String) throws -> DatabasePool {
    let pool = try DatabasePool(path: "\(folder)/\(name).db", configuration: configuration(of: name))
    try Note.migrator.migrate(pool)
    return pool
}

/// Databases that are all open all the time.
struct OpenTenants: Tenants {
    let pools: [String: DatabasePool]

    init(folder: String, count: Int) throws {
        let names = (0..<count).map { number in "t\(number)" }
        pools = try Dictionary(
            uniqueKeysWithValues: names.map { name in (name, try openPool(name, folder: folder)) })
    }

    func use<T: Sendable>(
        _ name: String, _ body: @Sendable (DatabasePool) async throws -> T
    ) async throws -> T {
        guard let pool = pools[name] else { throw HTTPError(.notFound) }
        return try await body(pool)
    }
}

#if !PLAINTEXT
/// Databases of which a limited number is open. The least recently used one is closed for another one.
struct LeasedTenants: Tenants {
    let pools: DatabasePools

    init(folder: String, count: Int, openCount: Int) throws {
        for number in 0..<count { try openPool("t\(number)", folder: folder).close() }
        var limits = DatabasePools.Limits()
        limits.poolCount = openCount
        pools = DatabasePools(
            folder: folder, fileExtension: "db", limits: limits, configuration: configuration(of:)
        ) { pool in try Note.migrator.migrate(pool) }
    }

    func use<T: Sendable>(
        _ name: String, _ body: @Sendable (DatabasePool) async throws -> T
    ) async throws -> T {
        try await pools.withPool(name, body)
    }
}
#endif
