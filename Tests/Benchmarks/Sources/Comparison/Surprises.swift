import Foundation

extension Comparison {
    /// Behavior that is easily taken for granted, but is not part of any signature.
    static func surprises(_ area: Area) {
        area.call("cursor.again") { db in
            let statement = try db.makeStatement(sql: "SELECT value FROM json_each('[1, 2, 3]')")
            let first = try Int.fetchCursor(statement)
            let begin = try first.next()
            let second = try Int.fetchCursor(statement)
            return "\(begin as Any) \(try second.next() as Any) \(try second.next() as Any)"
        }
        area.call("cursor.last") { db in
            let cursor = try Int.fetchCursor(db, sql: "SELECT value FROM json_each('[1, 2]')")
            return
                "\(try cursor.next() as Any) \(try cursor.next() as Any) \(try cursor.next() as Any) "
                + "\(try cursor.next() as Any)"
        }
        area.call("columns.same") { db in
            let row = try Row.fetchOne(db, sql: "SELECT 1 AS a, 2 AS A, 3 AS a")!
            let (lower, upper): (Int, Int) = (row["a"], row["A"])
            return "\(row.count) \(Array(row.columnNames)) \(lower) \(upper) \(row.hasColumn("B")) \(row)"
        }
        area.value("rows.equal") {
            let row = Row(["a": 1])
            return
                "\(Row(["a": nil]) == Row(["a": nil])) \(row == Row(["A": 1])) \(row == Row(["a": 1.0])) "
                + "\(row == Row(["a": "1"]))"
        }
        area.call("rows.none") { db in
            let row = try Row.fetchOne(db, sql: "CREATE TABLE made (a)")
            return
                "\(row as Any) \(try db.tableExists("made")) "
                + "\(try Int.fetchAll(db, sql: "DROP TABLE made")) \(try db.tableExists("made"))"
        }
        area.call("optional.one") { db in
            let null = try Int?.fetchOne(db, sql: "SELECT NULL")
            let none = try Int?.fetchOne(db, sql: "SELECT 1 WHERE 0")
            return
                "\(null as Any) \(none as Any) "
                + "\(try Int?.fetchAll(db, sql: "SELECT NULL UNION ALL SELECT 2"))"
        }
        area.call("optional.null") { db in try Int.fetchAll(db, sql: "SELECT 1 UNION ALL SELECT NULL") }
        area.call("returning.one") { db in
            try db.execute(sql: "INSERT INTO tag VALUES ('x', 7), ('y', 8)")
            let weight = try Int.fetchOne(db, sql: "DELETE FROM tag WHERE weight > 6 RETURNING weight")
            return
                "\(weight as Any) \(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM tag WHERE weight > 6") as Any) \(db.changesCount)"
        }
        area.call("inserted.ignored") { db in
            try db.execute(
                sql: "CREATE TABLE one (id INTEGER PRIMARY KEY, a UNIQUE); INSERT INTO one VALUES (5, 'a')")
            try db.execute(sql: "INSERT OR IGNORE INTO one VALUES (6, 'a')")
            let failure = Result { try db.execute(sql: "INSERT INTO one VALUES (7, 'a')") }
            return "\(db.lastInsertedRowID) \(db.changesCount) \((try? failure.get()) == nil)"
        }
        area.value("arguments.twice") {
            "\(StatementArguments(["a": 1]) &+ ["a": 2]) "
                + "\(StatementArguments([1]) + StatementArguments(["b": 2]))"
        }
        area.call("arguments.mixed") { db in
            try Row.fetchOne(
                db, sql: "SELECT ? AS x, :b AS y, ? AS z", arguments: StatementArguments([1, 2]) + ["b": 3])
        }
        area.call("literals.empty") { db in
            let names: [String] = []
            return [
                try Int.fetchOne(db, SQLRequest<Int>("SELECT COUNT(*) FROM tag WHERE name IN \(names)")),
                try Int.fetchOne(db, SQLRequest<Int>("SELECT COUNT(*) FROM tag WHERE name NOT IN \(names)")),
            ]
        }
        area.value("literals.joined") { "\([SQL]().joined().isEmpty) \(SQL("").isEmpty) \(SQL(" ").isEmpty)" }
        area.bare("transaction.nested") { db in
            try db.inTransaction {
                try db.inTransaction { .commit }
                return .commit
            }
        }
        area.bare("transaction.ended") { db in
            try db.inTransaction {
                try db.execute(sql: "INSERT INTO tag VALUES ('x', 1)")
                try db.rollback()
                try db.execute(sql: "INSERT INTO tag VALUES ('y', 1)")
                return .commit
            }
        }
        area.bare("transaction.deferred") { db in
            try db.execute(
                sql:
                    "CREATE TABLE up (id INTEGER PRIMARY KEY); CREATE TABLE down (up REFERENCES up "
                    + "DEFERRABLE INITIALLY DEFERRED)"
            )
            do {
                try db.inTransaction {
                    try db.execute(sql: "INSERT INTO down VALUES (9)")
                    return .commit
                }
                return "committed"
            } catch {
                return
                    "\(Text.lines(of: error)) \(db.isInsideTransaction) "
                    + "\(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM down")!)"
            }
        }
        area.bare("transaction.after") { db in
            let lines = Lines()
            for number in 1...2 {
                try db.inTransaction {
                    db.afterNextTransaction(
                        onCommit: { _ in lines.add("commit \(number)") },
                        onRollback: { _ in lines.add("rollback \(number)") })
                    db.afterNextTransaction { _ in lines.add("second \(number)") }
                    return number == 1 ? .commit : .rollback
                }
            }
            db.afterNextTransaction { _ in lines.add("later") }
            try db.execute(sql: "DELETE FROM tag")
            return lines.all
        }
        area.call("function.gone") { db in
            let function = DatabaseFunction("double", argumentCount: 1, pure: true) { values in
                Int.fromDatabaseValue(values[0]).map { $0 * 2 }
            }
            db.add(function: function)
            let statement = try db.makeStatement(sql: "SELECT double(4)")
            let before = try Int.fetchOne(statement)
            db.remove(function: function)
            let after = Result { try Int.fetchOne(statement) }
            return ["\(before as Any)"] + ((try? after.get()).map { ["\($0 as Any)"] } ?? ["gone"])
        }
        area.call("cursors.transformed") { db in
            let cursor = try Int.fetchCursor(db, sql: "SELECT value FROM json_each('[5, 1, 4, 1]')")
            return try Array(cursor.enumerated().filter { $0.1 != 4 }.map { "\($0.0):\($0.1)" }.dropFirst())
        }
        area.call("cursors.ends") { db in
            func cursor() throws -> some Cursor<Int> {
                try Int.fetchCursor(db, sql: "SELECT value FROM json_each('[5, 1, 4]')")
            }
            return
                "\(try cursor().max() as Any) \(try cursor().contains(4)) \(try cursor().isEmpty) "
                + "\(try Array(cursor().suffix(2)))"
        }
        area.call("set.rows") { db in
            try Row.fetchSet(db, sql: "SELECT 1 AS a UNION ALL SELECT 1 UNION ALL SELECT 2").count
        }
        area.sample("read.writes") { writer in try writer.read { try $0.execute(sql: "DELETE FROM tag") } }
        area.sample("read.pragma") { writer in
            try writer.read { try $0.execute(sql: "PRAGMA user_version = 3") }
            return try writer.read { try Int.fetchOne($0, sql: "PRAGMA user_version") }
        }
    }
}
