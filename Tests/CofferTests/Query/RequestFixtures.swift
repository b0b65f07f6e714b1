import Coffer
import CofferTestSupport
import Testing

// The tables in the documentation of requests, with a few rows.

struct Player: TableRecord, Identifiable {
    enum Columns {
        static let id = Column("id")
        static let name = Column("name")
        static let email = Column("email")
        static let score = Column("score")
        static let bonus = Column("bonus")
        static let teamId = Column("teamId")
        static let coachId = Column("coachId")
    }

    var id: Int64
}

struct Team: TableRecord, Identifiable {
    enum Columns {
        static let id = Column("id")
        static let color = Column("color")
    }

    var id: Int64
}

struct Country: TableRecord, Identifiable {
    enum Columns {
        static let isoCode = Column("isoCode")
        static let population = Column("population")
    }

    var isoCode: String
    var id: String { isoCode }
}

struct Citizenship: TableRecord {
    enum Columns {
        static let citizenId = Column("citizenId")
        static let countryCode = Column("countryCode")
    }
}

/// A table without a primary key.
struct Note: TableRecord {
    enum Columns {
        static let text = Column("text")
    }
}

/// The table of players, with fewer columns selected.
struct PlayerName: TableRecord {
    static let databaseTableName = "player"
    static var databaseSelection: [any SQLSelectable] { [Column("id"), Column("name")] }
}

let leagueSQL = """
    CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT NOT NULL, color TEXT);
    CREATE TABLE player (
        id INTEGER PRIMARY KEY, name TEXT, email TEXT UNIQUE, score INTEGER NOT NULL, bonus INTEGER,
        teamId INTEGER REFERENCES team (id), coachId INTEGER REFERENCES player (id));
    CREATE TABLE country (isoCode TEXT PRIMARY KEY NOT NULL, name TEXT, population INTEGER) WITHOUT ROWID;
    CREATE TABLE citizenship (citizenId INTEGER NOT NULL, countryCode TEXT NOT NULL, PRIMARY KEY (citizenId, \
    countryCode));
    CREATE TABLE note (text TEXT);
    CREATE VIEW coach AS SELECT * FROM player WHERE id IN (SELECT coachId FROM player);
    INSERT INTO team VALUES (1, 'Reds', 'red'), (2, 'Blues', 'blue'), (3, 'Nobodies', NULL);
    INSERT INTO player VALUES
        (1, 'Arthur', 'arthur@example.com', 1000, 10, 1, NULL), (2, 'Barbara', 'barbara@example.com', 250, \
    NULL, 1, 1),
        (3, 'Craig', NULL, 1000, 5, 2, 1), (4, NULL, 'd@example.com', 0, 0, 2, 3), (5, 'arthur', NULL, 40, \
    3, NULL, NULL),
        (6, 'O''Brien', 'o''brien@example.com', -7, 2, NULL, 3);
    INSERT INTO country VALUES ('FR', 'France', 67), ('US', 'United States', 331), ('DE', NULL, 83);
    INSERT INTO citizenship VALUES (1, 'FR'), (1, 'US'), (2, 'FR'), (3, 'DE');
    INSERT INTO note VALUES ('first'), ('second'), (NULL);
    """

/// Makes an in-memory database with these tables.
func makeLeague() throws -> DatabaseQueue {
    let queue = try DatabaseQueue()
    try queue.write { db throws in try db.execute(sql: leagueSQL) }
    return queue
}

/// A request with its expected SQL and an equivalent handwritten statement.
struct RequestCase: Sendable {
    let request: any FetchRequest
    let expected: BuiltSQL
    let handwritten: String

    init(
        _ request: any FetchRequest, _ sql: String, _ arguments: StatementArguments = [],
        same handwritten: String
    ) {
        self.request = request
        self.expected = BuiltSQL(sql, arguments)
        self.handwritten = handwritten
    }

    /// Checks the SQL, and compares the rows with the rows of the handwritten statement.
    func check(_ db: Database, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let statement = try request.makePreparedRequest(db, forSingleResult: false).statement
        #expect(BuiltSQL(statement.sql, statement.arguments) == expected, sourceLocation: sourceLocation)
        let rows = try rows(db)
        #expect(
            try rows == RequestCase.values(Row.fetchAll(db, sql: handwritten)), "\(expected)",
            sourceLocation: sourceLocation)
        #expect(try request.fetchCount(db) == rows.count, "\(expected)", sourceLocation: sourceLocation)
    }

    func rows(_ db: Database) throws -> [[DatabaseValue]] {
        // A generic function opens the existential, which makes the rows of any request fetchable.
        func fetch(_ request: some FetchRequest) throws -> [Row] { try Row.fetchAll(db, request) }
        return try RequestCase.values(fetch(request))
    }

    private static func values(_ rows: [Row]) -> [[DatabaseValue]] { rows.map { Array($0.databaseValues) } }
}

func check(_ cases: [RequestCase], sourceLocation: SourceLocation = #_sourceLocation) throws {
    try makeLeague().read { db throws in
        for requestCase in cases { try requestCase.check(db, sourceLocation: sourceLocation) }
    }
}
