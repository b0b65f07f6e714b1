import Coffer
import Foundation

/// A record without `Codable`, with an ID that the database assigns.
struct Athlete: FetchableRecord, MutablePersistableRecord, Hashable {
    enum Columns {
        static let id = Column("id")
        static let name = Column("name")
        static let score = Column("score")
    }

    var id: Int64?
    var name: String
    var score: Int

    init(id: Int64? = nil, name: String, score: Int = 0) {
        self.id = id
        self.name = name
        self.score = score
    }

    init(row: Row) {
        id = row[Columns.id]
        name = row[Columns.name]
        score = row[Columns.score]
    }

    func encode(to container: inout PersistenceContainer) {
        container[Columns.id] = id
        container[Columns.name] = name
        container[Columns.score] = score
    }

    mutating func didInsert(_ inserted: InsertionSuccess) {
        id = inserted.rowID
    }

    static func createTable(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE athlete (
                    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, score INTEGER NOT NULL \
                DEFAULT 7,
                    double INTEGER AS (score * 2))
                """)
    }
}

/// A record that is `Codable`.
struct Nation: Codable, FetchableRecord, PersistableRecord, Hashable, Identifiable {
    enum Columns {
        static let code = Column(CodingKeys.code)
        static let name = Column(CodingKeys.name)
    }

    var code: String
    var name: String
    var population: Int?
    var id: String { code }

    static func createTable(_ db: Database) throws {
        try db.execute(
            sql:
                "CREATE TABLE nation (code TEXT PRIMARY KEY, name TEXT NOT NULL, population INTEGER) WITHOUT ROWID"
        )
    }
}

/// A record with a key of two columns.
struct Passport: Codable, FetchableRecord, PersistableRecord, Hashable {
    var citizenId: Int64
    var countryCode: String?
    var since: Int?

    static func createTable(_ db: Database) throws {
        try db.execute(
            sql:
                "CREATE TABLE passport (citizenId INTEGER NOT NULL, countryCode TEXT, since INTEGER, PRIMARY KEY (citizenId, countryCode))"
        )
    }
}
