import Coffer
import CofferTestSupport
import Testing

extension Database {
    func int(_ sql: String, _ arguments: StatementArguments = []) throws -> Int? {
        try Row.fetchOne(self, sql: sql, arguments: arguments)?[0]
    }

    func playerCount() throws -> Int { try int("SELECT COUNT(*) FROM player") ?? 0 }

    func insertPlayer() throws { try execute(sql: "INSERT INTO player DEFAULT VALUES") }
}

extension TestDirectory {
    /// Makes an encrypted database with an empty table.
    func makePlayers(_ access: Access, _ configuration: Configuration = .rawKeyed) throws
        -> any DatabaseWriter
    {
        let writer = try make(access, "players.db", configuration)
        try writer.write { try $0.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT)") }
        return writer
    }

    func makePlayersPool(_ configuration: Configuration = .rawKeyed) throws -> DatabasePool {
        let pool = try makePool("players.db", configuration)
        try pool.write { try $0.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT)") }
        return pool
    }
}

/// Returns a predicate that is true for a `DatabaseError` with this code.
func isError(_ code: ResultCode) -> @Sendable (any Error) -> Bool {
    { ($0 as? DatabaseError)?.resultCode == code }
}

struct TestFailure: Error {}
