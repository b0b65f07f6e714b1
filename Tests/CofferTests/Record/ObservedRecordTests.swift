import Coffer
import CofferTestSupport
import Testing

/// An observer that records each commit in the database itself.
private final class Diarist: TransactionObserver {
    private var isWriting = false

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidRollback(_ db: Database) {}

    func databaseDidCommit(_ db: Database) {
        guard !isWriting else { return }
        isWriting = true
        defer { isWriting = false }
        #expect(throws: Never.self) {
            for _ in 0..<5 { try db.execute(sql: "INSERT INTO diary (text) VALUES ('commit')") }
            try db.execute(sql: "UPDATE diary SET text = 'x' WHERE 0")
        }
    }
}

@Suite("Records with observers that write")
struct ObservedRecordTests {
    @Test(
        "in autocommit, operations report only their own row IDs and change counts",
        arguments: Access.allCases)
    func autocommit(access: Access) throws {
        try withTestDirectory { directory in
            let database = try directory.make(access)
            try database.writeWithoutTransaction { (db) throws in
                try Athlete.createTable(db)
                try db.execute(sql: "CREATE TABLE diary (id INTEGER PRIMARY KEY, text)")
                let diarist = Diarist()
                db.add(transactionObserver: diarist)
                defer { db.remove(transactionObserver: diarist) }

                var athlete = Athlete(name: "Ada", score: 1)
                try athlete.insert(db)
                #expect(athlete.id == 1)
                #expect(db.lastInsertedRowID == 1 && db.changesCount == 1)
                athlete.score = 2
                try athlete.update(db)
                try athlete.save(db)
                #expect(try athlete.updateAndFetch(db) == athlete)
                let other = try Athlete(name: "Bob", score: 3).inserted(db)
                #expect(other.id == 2)
                #expect(try Athlete.updateAll(db, Column("score") += 1) == 2)
                #expect(try Athlete.filter(key: 99).updateAll(db, Column("score") += 1) == 0)
                try athlete.upsert(db)
                #expect(athlete.id == 1)
                #expect(try athlete.delete(db))
                #expect(try !athlete.delete(db))
                #expect(throws: RecordError.self) { try athlete.update(db) }
                #expect(try Athlete.deleteOne(db, key: 2))
                #expect(try Athlete.deleteAll(db) == 0)
                #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM diary").map { $0 > 5 } == true)
            }
        }
    }

    @Test("the next statement updates the change count, even if it changes nothing")
    func counting() throws {
        try DatabaseQueue().writeWithoutTransaction { (db) throws in
            try db.execute(sql: "CREATE TABLE diary (id INTEGER PRIMARY KEY, text); CREATE TABLE t (a)")
            let diarist = Diarist()
            db.add(transactionObserver: diarist)
            try db.execute(sql: "INSERT INTO t VALUES (1), (2), (3)")
            #expect(db.changesCount == 3 && db.lastInsertedRowID == 3)
            db.remove(transactionObserver: diarist)
            #expect(db.changesCount == 3)
            try db.execute(sql: "DELETE FROM t WHERE a = 9")
            #expect(db.changesCount == 0)
            try db.execute(sql: "INSERT INTO t VALUES (4)")
            #expect(db.changesCount == 1 && db.lastInsertedRowID == 4)
        }
    }
}
