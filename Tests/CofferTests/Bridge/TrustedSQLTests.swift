import SQLCipherBridge
import Testing

@testable import Coffer

/// SQL of the package itself: an answer that is followed by an error is none.
@Suite("Trusted SQL")
struct TrustedSQLTests {
    /// Gives its first row, and fails at the second one.
    private static let failing = "SELECT 1 UNION ALL SELECT abs(-9223372036854775807 - 1)"

    private func open() throws -> ConnectionHandle {
        try ConnectionHandle.open(path: ":memory:", flags: [.readWrite, .create, .memory])
    }

    @Test("a query that fails after its first row throws, whatever of it is asked for")
    func failure() throws {
        let connection = try open()
        defer { connection.closeEventually() }
        var rows = 0
        let asked: [() throws -> Void] = [
            { _ = try connection.firstText(trusted: TrustedSQLTests.failing) },
            { _ = try connection.column(trusted: TrustedSQLTests.failing) },
            { try connection.forEachRow(trusted: TrustedSQLTests.failing) { _ in rows += 1 } },
            { try connection.execute(trusted: TrustedSQLTests.failing) },
        ]
        for ask in asked {
            #expect(throws: EngineError.self) { try ask() }
        }
        #expect(rows == 1)
        #expect(connection.pendingStatements.isEmpty)
    }

    @Test("the first row is the answer, NULL and no row are none")
    func answers() throws {
        let connection = try open()
        defer { connection.closeEventually() }
        let first = try connection.firstText(trusted: "SELECT 'a' UNION ALL SELECT 'b'")
        #expect(first == "a")
        for none in ["SELECT NULL UNION ALL SELECT 'b'", "SELECT 1 WHERE 0", ""] {
            let answer = try connection.firstText(trusted: none)
            #expect(answer == nil, "\(none)")
        }
        let all = try connection.column(trusted: "SELECT 'a' UNION ALL SELECT 'b'")
        #expect(all == ["a", "b"])
    }
}
