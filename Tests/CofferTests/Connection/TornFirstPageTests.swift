import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("A first page that a checkpoint has left torn")
struct TornFirstPageTests {
    let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    /// Sector 1 contains only content. Sector 7, the last one, contains the IV with which the whole page is
    /// decrypted.
    @Test("is read from the log", arguments: Access.allCases, [1, 7])
    func tornByPowerLoss(access: Access, sector: UInt64) throws {
        var configuration = Configuration.rawKeyed
        configuration.journalMode = .wal
        let pool = try DatabasePool(path: directory.path("a.db"), configuration: configuration)
        try pool.write { db in
            try db.execute(sql: "CREATE TABLE vault (name TEXT); INSERT INTO vault VALUES ('home')")
        }
        // The state after a power loss: the WAL is synced before a checkpoint writes any page to the file.
        for ending in ["", "-wal"] {
            try FileManager.default.copyItem(
                atPath: directory.path("a.db\(ending)"), toPath: directory.path("b.db\(ending)"))
        }
        try pool.close()
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: directory.path("b.db")))
        // The first sector begins with the salt, which is never rewritten.
        try file.seek(toOffset: 512 * sector)
        try file.write(contentsOf: Data((0..<512).map { _ in UInt8.random(in: 0...255) }))
        try file.close()

        let writer: any DatabaseWriter =
            access == .pool
            ? try DatabasePool(path: directory.path("b.db"), configuration: configuration)
            : try DatabaseQueue(path: directory.path("b.db"), configuration: configuration)
        #expect(try writer.read { try String.fetchAll($0, sql: "SELECT name FROM vault") } == ["home"])
        try writer.write { try $0.execute(sql: "INSERT INTO vault VALUES ('office')") }
        try Bank.inspect(writer)
        try writer.close()
    }
}
