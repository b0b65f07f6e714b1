import Coffer
import Foundation

/// A folder with one encrypted database file. The folder is removed when the object is deallocated.
final class DatabaseFolder {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("coffer-schema-\(UUID())")
    let configuration: Configuration

    init() throws {
        var configuration = Configuration()
        // A raw key with its salt, which needs no key derivation.
        configuration.key = .rawKey(Array(repeating: 7, count: 32), salt: Array(repeating: 9, count: 16))
        self.configuration = configuration
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    var path: String { url.appendingPathComponent("a.sqlite").path }

    func makeQueue() throws -> DatabaseQueue { try DatabaseQueue(path: path, configuration: configuration) }
    func makePool() throws -> DatabasePool { try DatabasePool(path: path, configuration: configuration) }
}

/// Makes an in-memory database with a schema.
func makeDatabase(_ sql: String) throws -> DatabaseQueue {
    let queue = try DatabaseQueue()
    try queue.inDatabase { try $0.execute(sql: sql) }
    return queue
}

/// Returns true if an error is SQLite's error for a missing table.
func isNoSuchTable(_ error: any Error, _ name: String) -> Bool {
    guard let error = error as? DatabaseError else { return false }
    return error.resultCode == .SQLITE_ERROR && error.message == "no such table: \(name)"
}
