import Foundation

/// An observer that records all of its calls.
private final class Observer: TransactionObserver {
    let lines: Lines
    let name: String
    let filter: @Sendable (DatabaseEventKind) -> Bool
    var refuses = false
    var stops = false

    init(
        _ lines: Lines, name: String = "",
        filter: @escaping @Sendable (DatabaseEventKind) -> Bool = { _ in true }
    ) {
        self.lines = lines
        self.name = name
        self.filter = filter
    }
    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { filter(eventKind) }
    func databaseDidChange() { lines.add(name + "changes unknown") }
    func databaseDidChange(with event: DatabaseEvent) {
        lines.add(name + "\(event.kind) \(event.databaseName).\(event.tableName) \(event.rowID)")
        if stops { stopObservingDatabaseChangesUntilNextTransaction() }
    }
    func databaseWillCommit() throws {
        lines.add(name + "willCommit")
        if refuses { throw DatabaseError(resultCode: .SQLITE_INTERRUPT, message: "refused") }
    }
    func databaseDidCommit(_ db: Database) { lines.add(name + "didCommit") }
    func databaseDidRollback(_ db: Database) { lines.add(name + "didRollback") }
}

extension Comparison {
    private struct Stop: Error {}

    static func transactions(_ area: Area) {
        @Sendable func owners(_ db: Database) throws -> Int? {
            try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM owner")
        }
        let insert = "INSERT INTO owner (name) VALUES ('new')"

        area.bare("commit") { db in
            try db.inTransaction {
                try db.execute(sql: insert); return .commit
            }; return try owners(db)
        }
        area.bare("rollback") { db in
            try db.inTransaction {
                try db.execute(sql: insert); return .rollback
            }; return try owners(db)
        }
        area.bare("throws") { db in
            do {
                try db.inTransaction {
                    try db.execute(sql: insert); throw Stop()
                }
            } catch {}
            return (try owners(db), db.isInsideTransaction)
        }
        for kind in [Database.TransactionKind.deferred, .immediate, .exclusive] {
            area.bare("kind.\(kind)") { db in try db.inTransaction(kind) { .commit } }
        }
        area.bare("begin") { db in
            try db.beginTransaction()
            let inside = db.isInsideTransaction
            try db.execute(sql: insert)
            try db.commit()
            try db.beginTransaction(.immediate)
            try db.rollback()
            return (inside, try owners(db))
        }
        area.bare("begin.twice") { db in
            try db.beginTransaction()
            defer { try? db.rollback() }
            try db.beginTransaction()
        }
        area.bare("commit.none") { db in try db.commit() }
        area.bare("rollback.none") { db in try db.rollback() }
        area.bare("savepoint") { db in
            try db.inSavepoint {
                try db.execute(sql: insert); return .commit
            }
            return try owners(db)
        }
        area.bare("savepoint.nested") { db in
            try db.inTransaction {
                try db.execute(sql: insert)
                try db.inSavepoint {
                    try db.execute(sql: insert); return .rollback
                }
                try db.inSavepoint {
                    try db.execute(sql: insert)
                    try db.inSavepoint {
                        try db.execute(sql: insert); return .commit
                    }
                    return .commit
                }
                do {
                    try db.inSavepoint {
                        try db.execute(sql: insert); throw Stop()
                    }
                } catch {}
                return .commit
            }
            return try owners(db)
        }
        area.bare("savepoint.rollback") { db in
            try db.inSavepoint {
                try db.execute(sql: insert); return .rollback
            }
            return (try owners(db), db.isInsideTransaction)
        }
        area.bare("savepoint.sql") { db in
            try db.execute(sql: "SAVEPOINT a; \(insert); SAVEPOINT b; \(insert); ROLLBACK TO b; RELEASE a")
            return (try owners(db), db.isInsideTransaction)
        }
        area.bare("error.rollback") { db in
            do {
                try db.inTransaction {
                    try db.execute(sql: insert)
                    try db.execute(sql: "INSERT OR ROLLBACK INTO owner (id, name) VALUES (1, 'x')")
                    return .commit
                }
            } catch { return (Text.lines(of: error), try owners(db), db.isInsideTransaction) }
            return ([], nil, false)
        }
        area.bare("error.deferred") { db in
            try db.inTransaction {
                try db.execute(
                    sql: "PRAGMA defer_foreign_keys = ON; INSERT INTO vault (ownerId, title) VALUES (99, 'x')"
                ); return .commit
            }
        }
        area.bare("readOnly") { db in
            do { try db.readOnly { try db.execute(sql: insert) } } catch {
                return (Text.lines(of: error), try owners(db))
            }
            return ([], nil)
        }
        area.bare("readOnly.temp") { db in try db.readOnly { try db.execute(sql: "CREATE TEMP TABLE x (a)") }
        }
        area.bare("changes") { db in
            try db.execute(sql: "UPDATE owner SET born = 1")
            let first = db.changesCount
            try db.execute(sql: "DELETE FROM transfer WHERE id = 1")
            return (first, db.changesCount, db.totalChangesCount, db.lastInsertedRowID)
        }
        area.bare("transactionDate") { db in
            try db.inTransaction {
                let first = try db.transactionDate;
                return first == (try db.transactionDate) ? .commit : .rollback
            }
        }
        area.bare("begin.sql") { db in
            try db.execute(sql: "BEGIN; \(insert); COMMIT; BEGIN EXCLUSIVE; END")
            return db.isInsideTransaction
        }
        area.bare("afterNext") { db in
            let lines = Lines()
            db.afterNextTransaction { _ in
                lines.add("committed")
            } onRollback: { _ in
                lines.add("rolled back")
            }
            try db.inTransaction {
                try db.execute(sql: insert); return .rollback
            }
            db.afterNextTransaction { _ in lines.add("committed again") }
            try db.inTransaction {
                try db.execute(sql: insert); return .commit
            }
            try db.inTransaction {
                try db.execute(sql: insert); return .commit
            }
            return lines.all
        }
        area.bare("afterNext.inside") { db in
            let lines = Lines()
            try db.inTransaction {
                db.afterNextTransaction { db in lines.add("outer \(db.isInsideTransaction)") }
                try db.inSavepoint {
                    db.afterNextTransaction { _ in
                        lines.add("inner")
                    } onRollback: { _ in
                        lines.add("inner rolled back")
                    }; return .rollback
                }
                return .commit
            }
            return lines.all
        }

        area.sample("write") { writer in
            let value = try writer.write { db in
                try db.execute(sql: insert); return db.isInsideTransaction
            }
            do {
                try writer.write { db in
                    try db.execute(sql: insert); throw Stop()
                }
            } catch {}
            return (
                value, try writer.read(owners), try writer.read(\.isInsideTransaction),
                try writer.writeWithoutTransaction(\.isInsideTransaction)
            )
        }
        area.sample("write.read") { writer in try writer.read { try $0.execute(sql: insert) } }
        area.sample("write.commitInside") { writer in
            try writer.write { db in
                try db.execute(sql: insert); try db.commit(); try db.execute(sql: insert)
            }
        }
        area.sample("write.rollbackInside") { writer in
            try writer.write { db in
                try db.execute(sql: insert); try db.rollback()
            }
            return try writer.read(owners)
        }
        area.sample("unsafe") { writer in
            (
                try writer.unsafeRead(owners), try writer.unsafeReentrantRead(owners),
                try writer.unsafeReentrantWrite { try owners($0) }
            )
        }
        area.sample("reentrant") { writer in
            try writer.write { db in
                try writer.unsafeReentrantWrite { inner in
                    try inner.execute(sql: insert); return try owners(inner)
                }
            }
        }
        area.sample("interrupt.none") { writer in
            writer.interrupt(); return try writer.read(owners)
        }
        area.sample("closed.twice") { writer in
            try writer.close(); try writer.close()
        }
        area.sample("path") { writer in
            [
                "\((writer.path as NSString).lastPathComponent.hasSuffix(".db"))",
                writer.configuration.label ?? "-",
            ]
        }
        area.sample("concurrentRead") { writer in
            let lines = Lines(), done = DispatchSemaphore(value: 0)
            writer.writeWithoutTransaction { db in
                writer.spawnConcurrentRead { result in
                    lines.add("\((try? owners(result.get())) as Any)")
                    done.signal()
                }
            }
            done.wait()
            return lines.all
        }

        func observed(
            _ name: String, filter: @escaping @Sendable (DatabaseEventKind) -> Bool = { _ in true },
            _ body: @escaping (Database, Observer) throws -> Void
        ) {
            area.sample("observer." + name) { writer in
                let lines = Lines(), observer = Observer(lines, filter: filter)
                writer.add(transactionObserver: observer)
                do { try writer.writeWithoutTransaction { try body($0, observer) } } catch {
                    lines.add(Text.lines(of: error))
                }
                writer.remove(transactionObserver: observer)
                return lines.all
            }
        }
        observed("insert") { db, _ in try db.execute(sql: insert) }
        observed("transaction") { db, _ in
            try db.inTransaction {
                try db.execute(
                    sql: insert + "; UPDATE owner SET born = 1 WHERE id < 3; DELETE FROM transfer");
                return .commit
            }
        }
        observed("rollback") { db, _ in
            try db.inTransaction {
                try db.execute(sql: insert); return .rollback
            }
        }
        observed("nothing") { db, _ in
            try db.inTransaction { .commit }; try db.execute(sql: "UPDATE owner SET born = 1 WHERE 0")
        }
        observed("select") { db, _ in
            _ = try owners(db);
            try db.inTransaction(.deferred) {
                _ = try owners(db); return .commit
            }
        }
        observed("savepoint") { db, _ in
            try db.inTransaction {
                try db.inSavepoint {
                    try db.execute(sql: insert); return .rollback
                }
                try db.inSavepoint {
                    try db.execute(sql: insert); return .commit
                }
                return .commit
            }
        }
        observed("savepoint.all") { db, _ in
            try db.inTransaction {
                try db.inSavepoint {
                    try db.execute(sql: insert); return .rollback
                }; return .commit
            }
        }
        observed("failure") { db, _ in
            try? db.execute(sql: "INSERT INTO owner (id, name) VALUES (1, 'x')"); try db.execute(sql: insert)
        }
        observed("failure.inside") { db, _ in
            try db.inTransaction {
                try? db.execute(sql: "INSERT INTO owner (id, name) VALUES (1, 'x')"); return .commit
            }
        }
        observed("failure.rollback") { db, _ in
            try db.execute(sql: "INSERT OR ROLLBACK INTO owner (id, name) VALUES (1, 'x')")
        }
        observed("refuses") { db, observer in
            observer.refuses = true; try db.execute(sql: insert)
        }
        observed("refuses.transaction") { db, observer in
            observer.refuses = true;
            try db.inTransaction {
                try db.execute(sql: insert); return .commit
            }
        }
        observed("deferred.foreignKey") { db, _ in
            try? db.inTransaction {
                try db.execute(
                    sql: "PRAGMA defer_foreign_keys = ON; INSERT INTO vault (ownerId, title) VALUES (99, 'x')"
                ); return .commit
            }
        }
        observed("truncate") { db, _ in try db.execute(sql: "DELETE FROM transfer") }
        observed("cascade") { db, _ in try db.execute(sql: "DELETE FROM vault WHERE id = 2") }
        observed("ddl") { db, _ in
            try db.execute(sql: "CREATE TABLE x (a); INSERT INTO x VALUES (1); DROP TABLE x")
        }
        observed("stops") { db, observer in
            observer.stops = true; try db.execute(sql: "UPDATE owner SET born = 1")
        }
        observed("filter.table", filter: { $0.tableName == "vault" }) { db, _ in
            try db.execute(sql: insert + "; UPDATE vault SET title = 'x' WHERE id = 1")
        }
        observed(
            "filter.column",
            filter: {
                if case .update(let table, let columns) = $0 {
                    return table == "owner" && columns.contains("born")
                } else {
                    return false
                }
            }
        ) { db, _ in
            try db.execute(
                sql:
                    "UPDATE owner SET name = 'x' WHERE id = 1; UPDATE owner SET born = 2 WHERE id = 2; "
                    + "DELETE FROM transfer"
            )
        }
        observed("notify") { db, _ in
            try db.inTransaction {
                try db.notifyChanges(in: Table("owner")); return .commit
            }
        }
        observed("attached") { db, _ in
            try db.execute(sql: "CREATE TEMP TABLE t (a); INSERT INTO t VALUES (1)")
        }
        area.sample("observer.extents") { writer in
            let lines = Lines()
            var weak: Observer? = Observer(lines, name: "weak ")
            writer.add(transactionObserver: weak!, extent: .observerLifetime)
            writer.add(transactionObserver: Observer(lines, name: "once "), extent: .nextTransaction)
            writer.add(transactionObserver: Observer(lines, name: "long "), extent: .databaseLifetime)
            try writer.write { try $0.execute(sql: insert) }
            weak = nil
            try writer.write { try $0.execute(sql: insert) }
            return lines.all
        }
    }
}
