#if Services
import Coffer
import CofferServices
import CofferTestSupport
import InMemoryLogging
import Logging
import Testing

@Suite("Logs of accesses", .timeLimit(.minutes(Patience.minutes)))
struct AccessLogTests {
    let directory: TestDirectory
    private let handler = InMemoryLogHandler()

    init() throws { directory = try TestDirectory() }

    private func makePool(slowerThan limit: Duration) async throws -> DatabasePool {
        let handler = handler
        let logger = Logger(label: "test") { _ in handler }
        let pool = try DatabasePool(
            path: directory.path("note.db"),
            configuration: .rawKeyed.with { configuration in
                configuration.addAccessObserver(AccessLog(logger, slowerThan: limit).record)
            })
        try await pool.write { db in try db.execute(sql: "CREATE TABLE note (text UNIQUE)") }
        handler.clear()
        return pool
    }

    @Test("a slow access is logged with its statement, without values")
    func slow() async throws {
        let pool = try await makePool(slowerThan: .zero)
        try await pool.writeWithoutTransaction { db in
            try db.execute(sql: "INSERT INTO note VALUES ('secret' || ?)", arguments: ["hidden"])
        }
        let entry = try #require(handler.entries.first)
        #expect(handler.entries.count == 1 && entry.level == .notice)
        #expect(entry.metadata["file"] == "note.db" && entry.metadata["kind"] == "write")
        #expect(entry.metadata["statement"] == "INSERT INTO note VALUES (? || ?)")
        #expect(entry.metadata["changed_rows"] == "1")
        #expect(!"\(entry)".contains("secret") && !"\(entry)".contains("hidden"))
        try pool.close()
    }

    @Test("a failed access is logged with its code and its statement, without values")
    func failure() async throws {
        let pool = try await makePool(slowerThan: .seconds(1000))
        await #expect(throws: DatabaseError.self) {
            try await pool.write { db in
                for _ in 0..<2 { try db.execute(sql: "INSERT INTO note VALUES ('secret')") }
            }
        }
        let entry = try #require(handler.entries.first)
        #expect(handler.entries.count == 1 && entry.level == .warning)
        #expect(entry.metadata["statement"] == "INSERT INTO note VALUES (?)")
        #expect("\(entry.metadata["error"] ?? "")".contains("2067"))
        #expect(!"\(entry)".contains("secret"))
        try pool.close()
    }

    @Test("an error of the application is logged by its type only")
    func applicationError() async throws {
        struct Refusal: Error { var name = "secret" }
        let pool = try await makePool(slowerThan: .seconds(1000))
        await #expect(throws: Refusal.self) { try await pool.read { _ in throw Refusal() } }
        let entry = try #require(handler.entries.first)
        #expect("\(entry.metadata["error"] ?? "")".contains("Refusal") && !"\(entry)".contains("secret"))
        try pool.close()
    }

    @Test("fast and cancelled accesses are not logged")
    func silence() async throws {
        let pool = try await makePool(slowerThan: .seconds(1000))
        try await pool.read { _ in }
        await #expect(throws: CancellationError.self) {
            try await pool.read { _ in throw CancellationError() }
        }
        #expect(handler.entries.isEmpty)
        try pool.close()
    }
}
#endif
