import Testing

@testable import Coffer

@Suite struct NotifyChangesTests {
    @Test("observers of anything in the region are notified of a change")
    func regions() throws {
        let (queue, observer) = try makeObservedQueue()
        observer.observes = { $0.tableName == "player" }
        try queue.write { db throws in
            try db.notifyChanges(in: DatabaseRegion(table: "team"))
            #expect(observer.takeLog() == [])
            try db.notifyChanges(in: DatabaseRegion())
            #expect(observer.takeLog() == [])
            try db.notifyChanges(in: DatabaseRegion(table: "PLAYER"))
            #expect(observer.takeLog() == ["something changed"])
            try db.notifyChanges(in: .fullDatabase)
            #expect(observer.takeLog() == ["something changed"])
        }
        #expect(observer.takeLog() == ["will commit", "commit"])
    }

    @Test("the event kinds are all those that could modify the region")
    func kinds() throws {
        let (queue, observer) = try makeObservedQueue()
        observer.observes = { _ in false }
        try queue.write { db throws in
            try db.notifyChanges(in: DatabaseRegion(table: "Team"))
            #expect(
                Set(observer.takeKinds()) == [
                    .insert(tableName: "team"), .delete(tableName: "team"),
                    .update(tableName: "team", columnNames: ["id", "name"]),
                ])
            try db.notifyChanges(in: DatabaseRegion(table: "team", columns: ["name"]))
            #expect(observer.takeKinds().contains(.update(tableName: "team", columnNames: ["name"])))
            try db.notifyChanges(in: .fullDatabase)
            #expect(Set(observer.takeKinds().map(\.tableName)) == ["team", "player"])
            try db.notifyChanges(in: Table("SQLITE_MASTER"))
            #expect(Set(observer.takeKinds().map(\.tableName)) == ["sqlite_master"])
        }
    }

    @Test("nothing is reported in reads, and for tables that do not exist")
    func nothing() throws {
        let (queue, observer) = try makeObservedQueue()
        try queue.read { try $0.notifyChanges(in: .fullDatabase) }
        #expect(observer.takeLog() == [])
        try queue.write { db in
            try db.readOnly { try db.notifyChanges(in: .fullDatabase) }
            try db.notifyChanges(in: Table("missing"))
            try db.notifyChanges(in: Table("sqlite_temp_master"))
            try db.notifyChanges(in: DatabaseRegion())
            #expect(observer.takeLog() == [])
            try db.execute(sql: "CREATE TEMPORARY TABLE draft (a)")
            _ = observer.takeLog()
            try db.notifyChanges(in: Table("sqlite_temp_master"))
            #expect(observer.takeLog() == ["something changed"])
        }
        let empty = try DatabaseQueue()
        empty.add(transactionObserver: observer)
        _ = observer.takeLog()
        try empty.writeWithoutTransaction { try $0.notifyChanges(in: .fullDatabase) }
        #expect(observer.takeLog() == [])
    }

    @Test("changes of the schema are reported as changes of sqlite_master")
    func schema() throws {
        let (queue, observer) = try makeObservedQueue()
        observer.observes = DatabaseRegion(table: "sqlite_master").isModified(byEventsOfKind:)
        try queue.write { db throws in
            try db.notifyChanges(in: DatabaseRegion(table: "sqlite_master"))
        }
        #expect(observer.takeLog() == ["something changed", "will commit", "commit"])
    }

    @Test("outside of a transaction, a change is its own transaction, which can be refused")
    func withoutTransaction() throws {
        let (queue, observer) = try makeObservedQueue()
        try queue.writeWithoutTransaction { db throws in
            try db.notifyChanges(in: .fullDatabase)
            #expect(observer.takeLog() == ["something changed", "will commit", "commit"])
            observer.refusesCommits = true
            #expect(throws: RecordingObserver.Refusal()) { try db.notifyChanges(in: .fullDatabase) }
            #expect(observer.takeLog() == ["something changed", "will commit", "rollback"])
        }
    }

    @Test("a function can provide a region when it is needed")
    func anyRegion() throws {
        let (queue, observer) = try makeObservedQueue()
        try queue.write { db throws in
            let region = AnyDatabaseRegionConvertible { db in
                DatabaseRegion(
                    table: try Row.fetchOne(db, sql: "SELECT 'player'") == nil ? "nothing" : "player")
            }
            observer.observes = { $0.tableName == "player" }
            try db.notifyChanges(in: AnyDatabaseRegionConvertible(region))
            #expect(observer.takeLog() == ["something changed"])
        }
    }
}
