import SQLCipherBridge
import Testing

/// SQL of the package itself. A result that is followed by an error does not count.
@Suite("Trusted SQL")
struct TrustedSQLTests {
    private func withConnection<T>(_ body: (ConnectionHandle) throws -> T) throws -> T {
        let connection = try EngineConnection(path: ":memory:", flags: [.readWrite, .create])
        return try body(connection.handle)
    }

    /// A query that returns its first row and fails at the second.
    private static let failing = "SELECT 1 UNION ALL SELECT abs(-9223372036854775807 - 1)"

    @Test("a query that fails after its first row throws, even if only the first row is requested")
    func failure() throws {
        try withConnection { (connection) throws in
            #expect(throws: EngineError.self) { try connection.firstText(trusted: TrustedSQLTests.failing) }
            #expect(throws: EngineError.self) { try connection.column(trusted: TrustedSQLTests.failing) }
            var rows = 0
            #expect(throws: EngineError.self) {
                try connection.forEachRow(trusted: TrustedSQLTests.failing) { _ in rows += 1 }
            }
            #expect(rows == 1)
            #expect(throws: EngineError.self) { try connection.execute(trusted: TrustedSQLTests.failing) }
            #expect(connection.pendingStatements.isEmpty)
        }
    }

    @Test("the result is the first row; NULL and a missing row are nil")
    func answers() throws {
        try withConnection { (connection) throws in
            #expect(try connection.firstText(trusted: "SELECT 'a' UNION ALL SELECT 'b'") == "a")
            #expect(try connection.firstText(trusted: "SELECT NULL UNION ALL SELECT 'b'") == nil)
            #expect(try connection.firstText(trusted: "SELECT 1 WHERE 0") == nil)
            #expect(try connection.firstText(trusted: "") == nil)
            #expect(try connection.column(trusted: "SELECT 'a' UNION ALL SELECT 'b'") == ["a", "b"])
        }
    }
}
