import Coffer
import CofferTestSupport
import Testing

// The tables of the specification of associations.

struct Garden: Codable, Hashable, FetchableRecord, PersistableRecord, Identifiable {
    static let beds = hasMany(Bed.self)
    static let plants = hasMany(Plant.self, through: beds, using: Bed.plants)

    var id: Int64
    var name: String?
}

struct Bed: Codable, Hashable, FetchableRecord, PersistableRecord, Identifiable {
    enum Columns {
        static let id = Column("id")
        static let gardenId = Column("gardenId")
        static let name = Column("name")
    }

    static let garden = belongsTo(Garden.self)
    static let plants = hasMany(Plant.self)
    static let labels = hasMany(Label.self)

    var id: Int64
    var gardenId: Int64?
    var name: String?
}

struct Plant: Codable, Hashable, FetchableRecord, PersistableRecord, Identifiable {
    enum Columns {
        static let name = Column("name")
        static let height = Column("height")
    }

    static let bed = belongsTo(Bed.self)
    static let garden = hasOne(Garden.self, through: bed, using: Bed.garden)

    var id: Int64
    var bedId: Int64?
    var name: String?
    var height: Int?
}

struct Label: Codable, Hashable, FetchableRecord, PersistableRecord {
    var id: Int64
    var bedId: Int64?
    var text: String?
}

struct Person: Codable, Hashable, FetchableRecord, PersistableRecord {
    static let parent = belongsTo(Person.self, key: "parent")
    static let children = hasMany(Person.self, key: "children")

    var id: Int64
    var parentId: Int64?
    var name: String?
}

struct Parcel: Codable, Hashable, FetchableRecord, PersistableRecord {
    static let sender = belongsTo(Person.self, key: "sender", using: ForeignKey(["senderId"]))
    static let receiver = belongsTo(Person.self, key: "receiver", using: ForeignKey(["receiverId"]))

    var id: Int64
    var senderId: Int64?
    var receiverId: Int64?
}

struct Room: Codable, Hashable, FetchableRecord, PersistableRecord {
    static let desks = hasMany(Desk.self)

    var building: String
    var number: Int
}

struct Desk: Codable, Hashable, FetchableRecord, PersistableRecord {
    static let room = belongsTo(Room.self)

    var id: Int64
    var building: String?
    var number: Int?
}

private let gardenSQL = """
    CREATE TABLE garden(id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE bed(id INTEGER PRIMARY KEY, gardenId INTEGER REFERENCES garden(id), name TEXT);
    CREATE TABLE plant(id INTEGER PRIMARY KEY, bedId INTEGER REFERENCES bed(id), name TEXT, height INTEGER);
    CREATE TABLE label(id INTEGER PRIMARY KEY, bedId INTEGER REFERENCES bed(id), text TEXT);
    CREATE TABLE person(id INTEGER PRIMARY KEY, parentId INTEGER REFERENCES person(id), name TEXT);
    CREATE TABLE parcel(id INTEGER PRIMARY KEY, senderId INTEGER REFERENCES person(id), receiverId INTEGER \
    REFERENCES person(id));
    CREATE TABLE room(building TEXT, number INTEGER, PRIMARY KEY (building, number));
    CREATE TABLE desk(
        id INTEGER PRIMARY KEY, building TEXT, number INTEGER, FOREIGN KEY (building, number) REFERENCES \
    room(building, number));
    INSERT INTO garden VALUES (1, 'Eden'), (2, 'Kew'), (3, NULL);
    INSERT INTO bed VALUES (1, 1, 'A'), (2, 1, 'B'), (3, 2, 'A'), (4, NULL, 'Z');
    INSERT INTO plant VALUES (1, 1, 'Rose', 150), (2, 1, 'Mint', 40), (3, 2, 'Fern', 90), (4, 3, 'Rose', \
    120), (5, NULL, 'Ivy', 300);
    INSERT INTO label VALUES (1, 1, 'sunny'), (2, 1, 'dry'), (3, 3, 'wet');
    INSERT INTO person VALUES (1, NULL, 'Ada'), (2, 1, 'Ben'), (3, 1, 'Cleo'), (4, 2, 'Dan');
    INSERT INTO parcel VALUES (1, 1, 2), (2, 4, NULL);
    INSERT INTO room VALUES ('A', 1), ('B', 1), ('B', 7);
    INSERT INTO desk VALUES (1, 'B', 7), (5, 'B', 1), (6, 'B', 7), (7, 'B', 7), (8, 'B', NULL), (9, 'A', 1);
    """

/// The kinds of databases that contain the tables. Every test must pass with both.
enum GardenStore: CaseIterable, Sendable {
    case plainMemory, encryptedFile
}

/// A connection to the tables that records statements with their values.
struct GardenConnection {
    let db: Database
    fileprivate let recorder: SQLRecorder

    /// Returns the statements that `body` executes, without those that read the schema.
    func statements(_ body: () throws -> Void) rethrows -> [String] {
        recorder.clear()
        try body()
        return recorder.statements.filter { statement in
            !["PRAGMA", "BEGIN", "COMMIT", "ROLLBACK"].contains { statement.hasPrefix($0) }
                && !statement.contains("sqlite_master")
        }
    }

    /// Returns the statements that fetch a request.
    func sql(_ request: any FetchRequest) throws -> [String] {
        func fetch(_ request: some FetchRequest) throws { _ = try Row.fetchAll(db, request) }
        return try statements { try fetch(request) }
    }

    /// Checks the statements that fetch a request.
    func expect(
        _ request: any FetchRequest, _ sql: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(try self.sql(request) == sql, sourceLocation: sourceLocation)
    }

    /// Returns the message of the error that a request throws.
    func message(_ request: any FetchRequest) -> String? {
        do {
            _ = try sql(request)
            return nil
        } catch let error as DatabaseError {
            return error.message
        } catch {
            return nil
        }
    }

    func execute(_ sql: String) throws { try db.execute(sql: sql) }

    func rows(_ request: any FetchRequest) throws -> [Row] {
        func fetch(_ request: some FetchRequest) throws -> [Row] { try Row.fetchAll(db, request) }
        return try fetch(request)
    }
}

func withGardens(_ store: GardenStore, _ body: (GardenConnection) throws -> Void) throws {
    try withTestDirectory { directory throws in
        let recorder = SQLRecorder()
        let base: Configuration = store == .plainMemory ? Configuration() : .rawKeyed
        let configuration = base.with { $0.publicStatementArguments = true }
        let queue =
            try store == .plainMemory
            ? DatabaseQueue(configuration: configuration) : directory.makeQueue("a.db", configuration)
        try queue.writeWithoutTransaction { db throws in
            try db.execute(sql: gardenSQL)
            recorder.record(db)
            try body(GardenConnection(db: db, recorder: recorder))
        }
    }
}

extension Row {
    /// Returns the text of a column in a scope.
    func text(_ column: String, in scope: String) -> String? { scopes[scope].flatMap { $0[column] } }
}
