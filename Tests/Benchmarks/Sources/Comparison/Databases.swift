import Foundation

/// Creates the files of a run: queues or pools, plain or encrypted.
final class Databases {
    let folder: String
    let isEncrypted: Bool
    let isPool: Bool
    private var count = 0

    init(folder: String, isEncrypted: Bool, isPool: Bool) {
        self.folder = folder
        self.isEncrypted = isEncrypted
        self.isPool = isPool
    }

    var configuration: Configuration { Library.configuration(encrypted: isEncrypted) }

    /// Creates an empty database.
    func make(_ configure: (inout Configuration) -> Void = { _ in }) throws -> any DatabaseWriter {
        count += 1
        var configuration = configuration
        configure(&configuration)
        return try open("\(folder)/\(Library.name)-\(count).db", configuration)
    }

    func open(_ path: String, _ configuration: Configuration) throws -> any DatabaseWriter {
        isPool
            ? try DatabasePool(path: path, configuration: configuration)
            : try DatabaseQueue(path: path, configuration: configuration)
    }

    /// Creates a database with owners, vaults, items, and their associated rows.
    func sample(_ configure: (inout Configuration) -> Void = { _ in }) throws -> any DatabaseWriter {
        let writer = try make(configure)
        try writer.write { try $0.execute(sql: Fixture.schema) }
        return writer
    }
}
