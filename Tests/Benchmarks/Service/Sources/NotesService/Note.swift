import GRDB
import Hummingbird

/// A note of a tenant.
struct Note: Codable, FetchableRecord, MutablePersistableRecord, ResponseCodable {
    var id: Int64?
    var title: String
    var body: String
    var change: Double

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }

    static let migrator: DatabaseMigrator = {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("notes") { db in
            try db.create(table: "note") { table in
                table.autoIncrementedPrimaryKey("id")
                table.column("title", .text).notNull()
                table.column("body", .text).notNull()
                table.column("change", .double).notNull()
            }
            try db.create(virtualTable: "noteText", using: FTS5()) { table in
                table.synchronize(withTable: "note")
                table.column("title")
                table.column("body")
            }
            for number in 1...30 {
                var note = sample(number)
                try note.insert(db)
            }
        }
        return migrator
    }()

    /// Returns a note of 40 words, each of which is also in up to four other notes.
    private static func sample(_ number: Int) -> Note {
        let words = (0..<40).map { position in "word\((number * 7 + position * position) % 320)" }
        return Note(
            id: nil, title: "Note \(number)", body: words.joined(separator: " "), change: Double(number))
    }
}

/// The body of a request that adds a note.
struct NewNote: Codable {
    var title: String
    var body: String
}

/// A note that a search found, with the words around the first match.
struct Match: Codable, FetchableRecord, ResponseCodable {
    var id: Int64
    var title: String
    var snippet: String

    static func find(_ word: String, _ db: Database) throws -> [Match] {
        try fetchAll(
            db,
            sql: """
                SELECT rowid AS id, title, snippet(noteText, 1, '[', ']', '...', 8) AS snippet
                FROM noteText WHERE noteText MATCH ? ORDER BY rank LIMIT 10
                """,
            arguments: [FTS5Pattern(matchingAllTokensIn: word)])
    }
}
