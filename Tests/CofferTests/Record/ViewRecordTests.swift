import Coffer
import CofferTestSupport
import Testing

/// The captain of a team: a row of a view whose triggers write to the table of players.
private struct Captain: Codable, FetchableRecord, PersistableRecord, Identifiable, Hashable {
    enum Columns {
        static let name = Column(CodingKeys.name)
    }

    var id: String
    var name: String
    var team: String
}

private struct ViewKeys: DatabaseSchemaSource {
    func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? { ["id"] }
}

private let captainsSQL = """
    CREATE TABLE member (id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, team TEXT NOT NULL, isCaptain \
    BOOLEAN NOT NULL);
    CREATE VIEW captain AS SELECT id, name, team FROM member WHERE isCaptain;
    CREATE TRIGGER captainInsert INSTEAD OF INSERT ON captain BEGIN
        UPDATE member SET isCaptain = 0 WHERE team = NEW.team;
        INSERT INTO member VALUES (NEW.id, NEW.name, NEW.team, 1);
    END;
    CREATE TRIGGER captainUpdate INSTEAD OF UPDATE ON captain BEGIN
        UPDATE member SET isCaptain = 0 WHERE team = NEW.team AND id <> NEW.id;
        UPDATE member SET name = NEW.name, team = NEW.team, isCaptain = 1 WHERE id = NEW.id;
    END;
    CREATE TRIGGER captainDelete INSTEAD OF DELETE ON captain BEGIN DELETE FROM member WHERE id = OLD.id; END;
    """

@Suite("Records of views")
struct ViewRecordTests {
    private func withView(_ access: Access, _ body: (Database) throws -> Void) throws {
        try withTestDirectory { directory in
            let database = try directory.make(
                access, "a.db", Configuration.rawKeyed.with { $0.schemaSource = ViewKeys() })
            try database.write { db throws in
                try db.execute(sql: captainsSQL)
                try body(db)
            }
        }
    }

    private func members(_ db: Database) throws -> [String] {
        try String.fetchAll(
            db, sql: "SELECT concat_ws('|', id, name, team, isCaptain) FROM member ORDER BY id")
    }

    @Test("are inserted by triggers", arguments: Access.allCases)
    func insert(access: Access) throws {
        try withView(access) { db throws in
            try Captain(id: "diane", name: "Diane", team: "green").insert(db)
            try Captain(id: "eugene", name: "Eugene", team: "green").insert(db)
            #expect(try members(db) == ["diane|Diane|green|0", "eugene|Eugene|green|1"])
            #expect(try Captain.fetchAll(db).map(\.id) == ["eugene"])
            let fetched = try Captain(id: "fred", name: "Fred", team: "red").insertAndFetch(db)
            #expect(fetched == Captain(id: "fred", name: "Fred", team: "red"))
        }
    }

    @Test("are updated by triggers, and not found where there is no such row", arguments: Access.allCases)
    func update(access: Access) throws {
        try withView(access) { db throws in
            try Captain(id: "alice", name: "Alice", team: "red").insert(db)
            var bob = Captain(id: "bob", name: "Bob", team: "blue")
            try bob.insert(db)
            #expect(
                try bob.updateChanges(db) {
                    $0.name = "Bobby"
                    $0.team = "red"
                })
            #expect(try members(db) == ["alice|Alice|red|0", "bob|Bobby|red|1"])
            bob.name = "Rob"
            try bob.update(db)
            #expect(try bob.updateAndFetch(db).name == "Rob")
            bob.name = "Robert"
            try bob.save(db)
            #expect(try members(db) == ["alice|Alice|red|0", "bob|Robert|red|1"])
            // The view has rows only for captains, not for other members.
            let alice = Captain(id: "alice", name: "A", team: "red")
            #expect(throws: RecordError.self) { try alice.update(db) }
            #expect(throws: RecordError.self) { try alice.updateAndFetch(db) }
            try Captain(id: "carl", name: "Carl", team: "blue").save(db)
            #expect(try Captain.fetchCount(db) == 2)
            try Captain.filter(id: "carl").updateAll(db) { $0.name.set(to: "C") }
            #expect(try Captain.find(db, id: "carl").name == "C")
        }
    }

    @Test("are deleted by triggers, and the result says whether the row existed", arguments: Access.allCases)
    func delete(access: Access) throws {
        try withView(access) { db throws in
            for id in ["a", "b", "c", "d", "e"] { try Captain(id: id, name: id, team: id).insert(db) }
            #expect(try Captain.deleteOne(db, id: "a"))
            #expect(try !Captain.deleteOne(db, id: "a"))
            #expect(try Captain.deleteOne(db, key: "b"))
            #expect(try Table("captain").deleteOne(db, key: ["id": "c"]))
            let d = try Captain.find(db, id: "d")
            #expect(try d.delete(db))
            #expect(try !d.delete(db))
            #expect(try d.exists(db) == false)
            try Captain.deleteAll(db)
            #expect(try members(db).isEmpty)
        }
    }

    @Test("follow a schema source that is set temporarily")
    func temporarySource() throws {
        try DatabaseQueue().write { db throws in
            try db.execute(sql: captainsSQL)
            let ada = Captain(id: "ada", name: "Ada", team: "red")
            try ada.insert(db)
            #expect(throws: (any Error).self) { try ada.update(db) }
            #expect(throws: DatabaseError.self) { try Captain.fetchOne(db, id: "ada") }
            try db.withSchemaSource(ViewKeys()) { () throws in
                try Captain(id: "ada", name: "Eve", team: "red").update(db)
                #expect(try Captain.fetchOne(db, id: "ada")?.name == "Eve")
                #expect(try ada.exists(db))
            }
            #expect(throws: (any Error).self) { try ada.update(db) }
            #expect(throws: DatabaseError.self) { try Captain.fetchOne(db, id: "ada") }
        }
    }
}
