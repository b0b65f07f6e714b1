import Foundation

extension Comparison {
    /// Errors: codes, messages, descriptions.
    static func failures(_ area: Area) {
        func failure(_ name: String, _ body: @escaping (Database) throws -> Void) {
            area.call(name) { db in
                do { try body(db); return ["no error"] } catch let error as DatabaseError {
                    return [
                        "\(error.resultCode.rawValue) \(error.extendedResultCode.rawValue) "
                            + "\(error.message ?? "-") / \(error.sql ?? "-") / "
                            + "\(error.arguments.map { "\($0)" } ?? "-")",
                        error.description, error.expandedDescription,
                        "\(error.resultCode) \(error.extendedResultCode)",
                        "\((error as NSError).code) \((error as NSError).domain)",
                    ]
                }
            }
        }
        failure("notNull") { try $0.execute(sql: "INSERT INTO owner (name) VALUES (NULL)") }
        failure("primaryKey") {
            try $0.execute(sql: "INSERT INTO owner (id, name) VALUES (?, ?)", arguments: [1, "x"])
        }
        failure("unique") {
            try $0.execute(
                sql: "INSERT INTO owner (name, email) VALUES (:n, :e)",
                arguments: ["n": "x", "e": "ann@example.com"])
        }
        failure("foreignKey") { try $0.execute(sql: "INSERT INTO vault (ownerId, title) VALUES (99, 'x')") }
        failure("check") { try $0.execute(sql: "CREATE TABLE c (a CHECK (a > 1)); INSERT INTO c VALUES (0)") }
        failure("datatype") {
            try $0.execute(sql: "CREATE TABLE c (a INTEGER) STRICT; INSERT INTO c VALUES ('x')")
        }
        failure("rowid") { try $0.execute(sql: "INSERT INTO tag VALUES ('alpha', 1)") }
        failure("trigger") {
            try $0.execute(
                sql:
                    "CREATE TRIGGER t BEFORE DELETE ON tag BEGIN SELECT RAISE(ABORT, 'kept'); END; DELETE "
                    + "FROM tag"
            )
        }
        failure("syntax") { try $0.execute(sql: "SELEC 1") }
        failure("syntax.end") { try $0.execute(sql: "SELECT") }
        failure("table") { try $0.execute(sql: "SELECT * FROM nowhere WHERE a = ?", arguments: [1]) }
        failure("column") { _ = try Row.fetchAll($0, sql: "SELECT nope FROM owner") }
        failure("function") { _ = try Row.fetchAll($0, sql: "SELECT nope(1)") }
        failure("arguments") { _ = try Row.fetchAll($0, sql: "SELECT ?", arguments: []) }
        failure("arguments.names") { _ = try Row.fetchAll($0, sql: "SELECT :a, :b", arguments: ["c": 1]) }
        failure("arguments.many") { _ = try Row.fetchAll($0, sql: "SELECT 1", arguments: [1]) }
        failure("overflow") {
            _ = try Int.fetchOne(
                $0, sql: "SELECT SUM(x) FROM (SELECT 9223372036854775807 AS x UNION ALL SELECT 1)")
        }
        failure("json") { _ = try Row.fetchAll($0, sql: "SELECT json('nope')") }
        failure("readonly") { db in try db.readOnly { try db.execute(sql: "DELETE FROM tag") } }
        failure("strings") { db in try db.execute(sql: #"SELECT "no such column""#) }
        failure("drop") { try $0.drop(table: "nope") }
        failure("alter") { db in try db.alter(table: "nope") { t in t.add(column: "a") } }
        failure("alter.steps") { db in
            try db.alter(table: "owner") { t in
                t.drop(column: "nope")
                t.add(column: "more")
            }
        }
        failure("cte.columns") { db in
            let broken = CommonTableExpression(named: "broken", sql: "SELECT * FROM nowhere")
            _ = try Row.fetchAll(
                db, Owner.with(broken).including(optional: Owner.association(to: broken)))
        }
        failure("view") { try $0.execute(sql: "DELETE FROM pinned") }
        failure("attach") { try $0.execute(sql: "DETACH nothing") }
        failure("vacuum") { try $0.execute(sql: "VACUUM") }
        failure("nested") { try $0.execute(sql: "BEGIN") }
        failure("own") { _ in
            throw DatabaseError(resultCode: .SQLITE_FULL, message: "full", sql: "SELECT ?", arguments: [1])
        }
        failure("own.code") { _ in throw DatabaseError(resultCode: .SQLITE_BUSY_SNAPSHOT) }
        failure("own.message") { _ in throw DatabaseError(message: "just words") }
        area.value("codes") {
            [DatabaseError.SQLITE_CONSTRAINT_UNIQUE, .SQLITE_BUSY, .SQLITE_MISUSE].map {
                "\($0) \($0.rawValue) \($0.primaryResultCode)"
            }
        }
        area.value("codes.match") {
            let error = DatabaseError(resultCode: .SQLITE_CONSTRAINT_UNIQUE)
            return [
                error.resultCode == .SQLITE_CONSTRAINT, error.extendedResultCode == .SQLITE_CONSTRAINT,
                ResultCode.SQLITE_CONSTRAINT ~= error, ResultCode.SQLITE_BUSY ~= error,
            ]
        }
        area.call("decoding") { db in
            try Int.fetchAll(
                db, sql: "SELECT 1 AS a UNION ALL SELECT 'x' ORDER BY a DESC LIMIT ?", arguments: [1])
        }
        area.call("decoding.null") { db in try String.fetchAll(db, sql: "SELECT NULL AS a, 2 AS b") }
        area.call("decoding.row") { db in
            try Row.fetchOne(db, sql: "SELECT 'x' AS a")!.decode(Date.self, forColumn: "a")
        }
        area.call("decoding.index") { db in
            try Row.fetchOne(db, sql: "SELECT 'x' AS a")!.decode(URL.self, atIndex: 0)
        }
        area.fresh("missing.file") { _ in
            try DatabaseQueue(path: "/nowhere/at/all.db", configuration: area.databases.configuration)
        }
        area.sample("missing.key") { writer in
            try writer.close()
            return try DatabaseQueue(
                path: writer.path,
                configuration: Library.configuration(encrypted: !area.databases.isEncrypted)
            ).read {
                try Owner.fetchCount($0)
            }
        }
    }
}
