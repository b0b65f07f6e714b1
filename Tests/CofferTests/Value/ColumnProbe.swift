import Foundation
import SQLCipherBridge

@testable import Coffer

/// Evaluates an SQL expression on a separate in-memory connection, and reads or binds values directly through
/// the C statement.
enum ColumnProbe {
    /// Calls `body` with a statement that is on the only row of `SELECT expression`.
    static func column<Result>(
        _ expression: String, binding value: (any StatementBinding)? = nil, encoding: String = "UTF-8",
        _ body: (OpaquePointer) throws -> Result
    ) throws -> Result {
        let opened = try EngineConnection(path: ":memory:", flags: [.readWrite, .create])
        let connection = opened.handle
        try connection.execute(trusted: "PRAGMA encoding = '\(encoding)'; CREATE TABLE t (a)")
        var offset = 0
        let sql = Array("SELECT \(expression)".utf8CString)
        guard let prepared = try connection.prepare(sql, offset: &offset, persistent: false) else {
            throw ProbeError.noStatement
        }
        let statement = prepared.handle
        if let value { try connection.check(unsafe value.bind(to: statement.pointer, at: 1)) }
        guard statement.step() == 100 else { throw ProbeError.noRow }
        return try unsafe body(statement.pointer)
    }

    /// Returns the first column, read directly by the type.
    static func read<Value: StatementColumnConvertible>(
        _ type: Value.Type, _ expression: String, encoding: String = "UTF-8"
    ) throws -> Value? {
        try unsafe column(expression, encoding: encoding) {
            unsafe Value.fromStatement($0, atUncheckedIndex: 0)
        }
    }

    static func databaseValue(_ expression: String, encoding: String = "UTF-8") throws -> DatabaseValue {
        try unsafe column(expression, encoding: encoding) {
            unsafe DatabaseValue(sqliteStatement: $0, index: 0)
        }
    }

    /// Returns the value that SQLite stores after binding a value.
    static func stored(_ value: some StatementBinding) throws -> DatabaseValue {
        try unsafe column("?", binding: value) { unsafe DatabaseValue(sqliteStatement: $0, index: 0) }
    }

    /// Binds a value and reads it back, without a `DatabaseValue`.
    static func roundTrip<Value: StatementBinding & StatementColumnConvertible>(_ value: Value) throws
        -> Value?
    {
        try unsafe column("?", binding: value) { unsafe Value.fromStatement($0, atUncheckedIndex: 0) }
    }

    enum ProbeError: Error { case noRow, noStatement }
}
