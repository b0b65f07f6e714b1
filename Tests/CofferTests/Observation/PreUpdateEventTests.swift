import Coffer
import CofferTestSupport
import Testing

@Suite("Rows before they change", .timeLimit(.minutes(Patience.minutes)))
struct PreUpdateEventTests {
    /// An observer that logs its notifications and keeps copies of the events.
    private final class Historian: TransactionObserver {
        var log: [String] = []
        var events: [DatabasePreUpdateEvent] = []
        var observed: Set<String> = ["item", "share", "receipt"]
        var stopsAtOnce = false

        func takeLog() -> [String] {
            defer { log = [] }
            return log
        }

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
            observed.contains(eventKind.tableName)
        }

        func databaseWillChange(with event: DatabasePreUpdateEvent) {
            func words(_ values: [DatabaseValue]?) -> String {
                values.map { $0.map { "\($0)" }.joined(separator: ",") } ?? "none"
            }
            let rows = [event.initialRowID, event.finalRowID].map { $0.map(String.init) ?? "none" }.joined(
                separator: "-")
            log.append(
                "will \(event.kind) \(event.tableName) \(rows) \(words(event.initialDatabaseValues)) > \(words(event.finalDatabaseValues))"
            )
            events.append(event.copy())
            if stopsAtOnce { stopObservingDatabaseChangesUntilNextTransaction() }
        }

        func databaseDidChange(with event: DatabaseEvent) { log.append("did \(event.kind) \(event.rowID)") }
        func databaseWillCommit() { log.append("will commit") }
        func databaseDidCommit(_ db: Database) { log.append("commit") }
        func databaseDidRollback(_ db: Database) { log.append("rollback") }
    }

    private let historian = Historian()

    private func makeVault() throws -> DatabaseQueue {
        let vault = try DatabaseQueue(configuration: .rawKeyed)
        try vault.write { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE item (id INTEGER PRIMARY KEY, title TEXT, size INTEGER);
                    CREATE TABLE share (name TEXT PRIMARY KEY, item) WITHOUT ROWID;
                    CREATE TABLE receipt (itemId);
                    CREATE TRIGGER receipts AFTER INSERT ON item BEGIN INSERT INTO receipt VALUES (new.id); \
                    END;
                    """)
        }
        vault.add(transactionObserver: historian)
        return vault
    }

    @Test(
        "each change is reported before it happens, with the values before and after it",
        .enabled(if: EngineFeature.preUpdateEvents.isAvailable))
    func values() throws {
        let vault = try makeVault()
        try EngineFeature.preUpdateEvents.require()
        historian.observed = ["item"]
        try vault.write { db throws in
            try db.execute(sql: "INSERT INTO item VALUES (7, 'Passport', NULL)")
            try db.execute(sql: "UPDATE item SET id = 8, title = ?", arguments: ["Visa"])
            try db.execute(sql: "DELETE FROM item")
        }
        #expect(
            historian.takeLog() == [
                "will insert item none-7 none > 7,\"Passport\",NULL", "did insert 7",
                "will update item 7-8 7,\"Passport\",NULL > 8,\"Visa\",NULL", "did update 8",
                "will delete item 8-none 8,\"Visa\",NULL > none", "did delete 8", "will commit", "commit",
            ])
    }

    @Test("a copy keeps the content of the event", .enabled(if: EngineFeature.preUpdateEvents.isAvailable))
    func copy() throws {
        let vault = try makeVault()
        try vault.write { db throws in
            try db.execute(sql: "INSERT INTO item VALUES (1, 'Deed', 10)")
            try db.execute(sql: "UPDATE item SET size = 11")
        }
        #expect(historian.events.count == 3)
        let (insert, receipt, update) = (historian.events[0], historian.events[1], historian.events[2])
        #expect(
            insert.databaseName == "main" && insert.count == 3 && insert.depth == 0 && insert.kind == .insert)
        #expect(insert.initialDatabaseValues == nil && insert.initialDatabaseValue(atIndex: 0) == nil)
        #expect(
            insert.finalDatabaseValue(atIndex: 1) == "Deed".databaseValue
                && insert.copy().finalDatabaseValues?.count == 3)
        #expect(receipt.tableName == "receipt" && receipt.depth == 1)
        #expect(
            update.initialDatabaseValue(atIndex: 2) == 10.databaseValue
                && update.finalDatabaseValue(atIndex: 2) == 11.databaseValue)
        #expect(
            update.matchesKind(.update(tableName: "item", columnNames: ["size"]))
                && !update.matchesKind(.delete(tableName: "item")))
    }

    @Test(
        "changes in savepoints are reported on release, and never if they are rolled back",
        .enabled(if: EngineFeature.preUpdateEvents.isAvailable))
    func savepoints() throws {
        let vault = try makeVault()
        historian.observed = ["item"]
        try vault.write { db throws in
            try db.inSavepoint {
                try db.execute(sql: "INSERT INTO item VALUES (1, 'Lost', 0)")
                return .rollback
            }
            #expect(historian.takeLog() == [])
            try db.inSavepoint {
                try db.execute(sql: "INSERT INTO item VALUES (2, 'Kept', 0)")
                #expect(historian.takeLog() == [])
                return .commit
            }
            #expect(historian.takeLog() == ["will insert item none-2 none > 2,\"Kept\",0", "did insert 2"])
        }
    }

    @Test(
        "tables without row IDs are reported as well", .enabled(if: EngineFeature.preUpdateEvents.isAvailable)
    )
    func withoutRowID() throws {
        let vault = try makeVault()
        try vault.write { try $0.execute(sql: "INSERT INTO share VALUES ('Barbara', 1)") }
        #expect(
            historian.takeLog() == ["will insert share none-0 none > \"Barbara\",1", "will commit", "commit"])
    }

    @Test(
        "an observer that has stopped observing, or never observed, is not notified",
        .enabled(if: EngineFeature.preUpdateEvents.isAvailable))
    func enough() throws {
        let vault = try makeVault()
        historian.observed = ["item"]
        historian.stopsAtOnce = true
        try vault.write { try $0.execute(sql: "INSERT INTO item VALUES (1, 'a', 1), (2, 'b', 2)") }
        #expect(historian.takeLog().filter { $0.hasPrefix("will insert") }.count == 1)
        historian.observed = []
        try vault.write { try $0.execute(sql: "DELETE FROM item") }
        #expect(historian.takeLog() == ["will commit", "commit"])
    }

    @Test(
        "databaseWillChange is called for all events, even if another observer does not implement it",
        .enabled(if: EngineFeature.preUpdateEvents.isAvailable))
    func others() throws {
        final class Plain: TransactionObserver {
            var count = 0
            func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
            func databaseDidChange(with event: DatabaseEvent) { count += 1 }
            func databaseDidCommit(_ db: Database) {}
            func databaseDidRollback(_ db: Database) {}
        }
        let (vault, plain) = (try makeVault(), Plain())
        vault.add(transactionObserver: plain)
        for id in 1...3 {
            try vault.write { try $0.execute(sql: "INSERT INTO item VALUES (?, 'a', 1)", arguments: [id]) }
        }
        #expect(plain.count == 6)
        #expect(historian.events.count == 6)
        vault.remove(transactionObserver: historian)
        try vault.write { try $0.execute(sql: "DELETE FROM item") }
        #expect(plain.count == 9 && historian.events.count == 6)
    }

    @Test(
        "reading an event after the call traps, and does not read freed memory",
        .enabled(if: EngineFeature.preUpdateEvents.isAvailable))
    func afterTheCall() async {
        final class Careless: TransactionObserver {
            var event: DatabasePreUpdateEvent?
            func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
            func databaseWillChange(with event: DatabasePreUpdateEvent) { self.event = event }
            func databaseDidChange(with event: DatabaseEvent) {}
            func databaseDidCommit(_ db: Database) {}
            func databaseDidRollback(_ db: Database) {}
        }
        await #expect(processExitsWith: .failure) {
            let (vault, careless) = (try DatabaseQueue(), Careless())
            vault.add(transactionObserver: careless)
            try vault.write { try $0.execute(sql: "CREATE TABLE item (a); INSERT INTO item VALUES (1)") }
            guard let event = careless.event else { return }
            _ = event.finalDatabaseValues
        }
    }

    @Test(
        "without the pre-update hook, only databaseDidChange is called; the error names the build script",
        .enabled(if: !EngineFeature.preUpdateEvents.isAvailable))
    func withoutHook() throws {
        let vault = try makeVault()
        historian.observed = ["item"]
        try vault.write { try $0.execute(sql: "INSERT INTO item VALUES (1, 'Deed', 10)") }
        #expect(historian.takeLog() == ["did insert 1", "will commit", "commit"])
        let error = try #require(
            #expect(throws: EngineFeatureError.self) { try EngineFeature.preUpdateEvents.require() })
        #expect(error.feature == .preUpdateEvents && "\(error)".contains("Scripts/build-engine"))
    }

    @Test("an engine has the features of its compile options")
    func options() throws {
        let options = try DatabaseQueue().read { try String.fetchAll($0, sql: "PRAGMA compile_options") }
        #expect(EngineFeature.preUpdateEvents.isAvailable == options.contains("ENABLE_PREUPDATE_HOOK"))
        #expect(EngineFeature.walSnapshots.isAvailable == options.contains("ENABLE_SNAPSHOT"))
    }
}
