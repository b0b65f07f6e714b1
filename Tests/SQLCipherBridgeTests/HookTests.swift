import Foundation
import SQLCipherBridge
import Testing

@Suite struct HookTests {
    private func withConnection<T>(_ path: String = ":memory:", _ body: (ConnectionHandle) throws -> T) throws
        -> T
    {
        let connection = try EngineConnection(path: path, flags: [.readWrite, .create])
        return try body(connection.handle)
    }

    @Test("a busy handler is asked with the number of tries, until it gives up")
    func busyHandler() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.appendingPathComponent("db").path
        try withConnection(path) { writer in
            try writer.execute("CREATE TABLE t (a); BEGIN IMMEDIATE")
            try withConnection(path) { other in
                var tries: [Int] = []
                let handler = BusyHandler(other) { count in
                    tries.append(count)
                    return count < 3
                }
                let error = #expect(throws: EngineError.self) { try other.execute("BEGIN IMMEDIATE") }
                #expect(error?.code == EngineCode.busy)
                #expect(tries == [0, 1, 2, 3])
                handler.remove(from: other)
                #expect(throws: EngineError.self) { try other.execute("BEGIN IMMEDIATE") }
                #expect(tries.count == 4)
            }
        }
    }

    @Test("a progress handler can end a statement")
    func progressHandler() throws {
        try withConnection { connection in
            var calls = 0
            let handler = ProgressHandler(connection, every: 100) {
                calls += 1
                return calls < 5
            }
            let error = #expect(throws: EngineError.self) {
                try connection.execute(
                    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT COUNT(*) FROM c")
            }
            #expect(error?.code == EngineCode.interrupt)
            #expect(calls == 5)
            handler.remove(from: connection)
            try connection.execute(
                "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 1000) SELECT COUNT(*) FROM c"
            )
            #expect(calls == 5)
        }
    }

    @Test("an interruption while a table-valued pragma is prepared throws SQLITE_INTERRUPT")
    func interruptedDeclaration() throws {
        try withConnection { connection in
            let sql = "SELECT name FROM pragma_database_list"
            // Otherwise, the interruption would hit the query of the schema.
            try connection.execute("CREATE TABLE t (a)")
            // SQLite forgets an interruption before it compiles a statement, unless another one is active.
            guard let active = try connection.prepare(trusted: "SELECT 1 UNION ALL SELECT 2") else {
                throw EngineError(code: EngineCode.misuse, message: nil)
            }
            let hasRow = try connection.step(active.handle)
            #expect(hasRow)
            let hook = AuthorizerHook { _ in
                connection.interrupt()
                return .allow
            }
            hook.install(on: connection)
            let error = #expect(throws: EngineError.self) { _ = try connection.prepare(trusted: sql) }
            #expect(error?.code == EngineCode.interrupt)
            hook.remove(from: connection)
            active.handle.reset()
            #expect(try connection.firstText(trusted: sql) == "main")
        }
    }

    @Test("a hook is released once it is removed from its connection")
    func lifetimes() throws {
        try withConnection { connection in
            weak var weakHook: TransactionHooks?
            do {
                let hook = TransactionHooks(willCommit: { true }, didRollBack: {})
                weakHook = hook
                hook.install(on: connection)
                hook.remove(from: connection)
            }
            #expect(weakHook == nil)
        }
    }

    @Test("a function or collation that SQLite rejects is released")
    func refusedRegistrations() throws {
        final class Token {}
        try withConnection { connection in
            weak var weakToken: Token?
            do {
                let token = Token()
                weakToken = token
                #expect(throws: EngineError.self) {
                    try connection.createFunction("f", argumentCount: 100_000, isDeterministic: false) {
                        context, _ in
                        withExtendedLifetime(token) { context.setNull() }
                    }
                }
            }
            #expect(weakToken == nil)

            // A collation that a running statement may use cannot be replaced.
            try connection.createCollation("c") { _, _ in 0 }
            let sql = Array("SELECT 1 UNION ALL SELECT 2".utf8CString)
            var offset = 0
            guard let statement = try connection.prepare(sql, offset: &offset, persistent: false) else {
                Issue.record("nothing was compiled")
                return
            }
            let code = statement.handle.step()
            #expect(code == EngineCode.row)
            do {
                let token = Token()
                weakToken = token
                let error = #expect(throws: EngineError.self) {
                    try connection.createCollation("c") { _, _ in withExtendedLifetime(token) { 0 } }
                }
                #expect(error?.code == EngineCode.busy)
            }
            #expect(weakToken == nil)
        }
    }
}
