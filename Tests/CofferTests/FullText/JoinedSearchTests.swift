import Coffer
import CofferTestSupport
import Testing

@Suite("Searches of tables that are joined")
struct JoinedSearchTests {
    private struct Owner: TableRecord, FetchableRecord, Decodable, Equatable {
        static let notes = hasMany(Note.self)

        var id: Int64
        var name: String
    }

    private struct Note: TableRecord, FetchableRecord, Decodable, Equatable {
        enum Columns {
            static let id = Column("id")
            static let tags = JSONColumn("tags")
        }

        static let owner = belongsTo(Owner.self)
        static let text = hasOne(NoteText.self, using: ForeignKey(["rowid"], to: ["id"]))
        static let oldText = hasOne(OldText.self, using: ForeignKey(["rowid"], to: ["id"]))

        var id: Int64
        var ownerId: Int64
        var title: String
    }

    /// The full-text index of the notes.
    private struct NoteText: TableRecord {
        static let note = belongsTo(Note.self, using: ForeignKey(["rowid"], to: ["id"]))
    }

    private struct OldText: TableRecord {}

    private func inDatabase(_ body: (Database) throws -> Void) throws {
        try withTestDirectory { directory throws in
            try directory.make(.queue).write { db throws in
                try db.execute(
                    sql: """
                        CREATE TABLE owner(id INTEGER PRIMARY KEY, name TEXT);
                        CREATE TABLE note(
                            id INTEGER PRIMARY KEY, ownerId INTEGER REFERENCES owner(id), title TEXT, body \
                        TEXT, tags TEXT)
                        """)
                try db.create(virtualTable: "noteText", using: FTS5()) { t in
                    t.synchronize(withTable: "note"); t.column("title"); t.column("body")
                }
                try db.create(virtualTable: "oldText", using: FTS4()) { t in
                    t.synchronize(withTable: "note"); t.column("title"); t.column("body")
                }
                try db.execute(
                    sql: """
                        INSERT INTO owner VALUES (1, 'Ada'), (2, 'Grace'), (3, 'Joan');
                        INSERT INTO note VALUES
                            (1, 1, 'Tulips', 'A red tulip, and another tulip', '{"color": "red", "places": \
                        ["bed", "pot"]}'),
                            (2, 2, 'Roses', 'The red rose beside the tulip', '{"color": "pink", "places": \
                        []}'),
                            (3, 1, 'Oaks', 'green', NULL)
                        """)
                try body(db)
            }
        }
    }

    @Test("a request joins the index of its table, searches it, and sorts by rank")
    func joinedIndex() throws {
        let pattern = try #require(FTS5Pattern(matchingAllPrefixesIn: "tul"))
        let older = try FTS3Pattern(rawPattern: "tul*")
        try inDatabase { db throws in
            let found = Note.joining(required: Note.text.matching(pattern))
            let statement = try found.makePreparedRequest(db, forSingleResult: false).statement
            #expect(
                BuiltSQL(statement.sql, statement.arguments)
                    == BuiltSQL(
                        #"SELECT "note".* FROM "note" JOIN "noteText" ON ("noteText"."rowid" = "note"."id") AND ("noteText" MATCH ?)"#,
                        ["tul*"]))
            #expect(try found.order(Note.Columns.id).fetchAll(db).map(\.id) == [1, 2])
            #expect(try found.fetchCount(db) == 2)
            #expect(
                try Note.joining(required: Note.oldText.matching(older)).order(Note.Columns.id).fetchAll(db)
                    .map(\.id) == [1, 2])
            let text = TableAlias<NoteText>()
            let ranked = Note.joining(required: Note.text.aliased(text).matching(pattern))
                .annotated(with: text[FTS5.highlight(Column("title"), from: "[", to: "]")].forKey("found"))
                .order(text[FTS5.bm25(weights: [5, 1])])
            #expect(try Row.fetchAll(db, ranked).map { $0["found"] as String } == ["[Tulips]", "Roses"])
        }
    }

    @Test("a search includes the indexed rows, and the rows associated with them")
    func joinedContent() throws {
        struct Found: Decodable, FetchableRecord, Equatable {
            var note: Note
            var owner: Owner
        }
        let pattern = try #require(FTS5Pattern(matchingAllTokensIn: "red tulip"))
        try inDatabase { db throws in
            let request = NoteText.matching(pattern).order(Column.rank)
                .including(required: NoteText.note.including(required: Note.owner))
            #expect(
                try Found.fetchAll(db, request) == [
                    Found(note: Note(id: 1, ownerId: 1, title: "Tulips"), owner: Owner(id: 1, name: "Ada")),
                    Found(note: Note(id: 2, ownerId: 2, title: "Roses"), owner: Owner(id: 2, name: "Grace")),
                ])
        }
    }

    @Test("owners include the notes that match a search and a JSON condition")
    func prefetchedAndCounted() throws {
        struct Found: Decodable, FetchableRecord, Equatable {
            var owner: Owner
            var notes: [Note]
        }
        let pattern = try #require(FTS5Pattern(matchingAllPrefixesIn: "tul"))
        try inDatabase { db throws in
            let notes = Owner.notes.joining(required: Note.text.matching(pattern)).filter(
                Note.Columns.tags["color"] == "red")
            let tulips = Note(id: 1, ownerId: 1, title: "Tulips")
            #expect(
                try Found.fetchAll(db, Owner.orderByPrimaryKey().including(all: notes)) == [
                    Found(owner: Owner(id: 1, name: "Ada"), notes: [tulips]),
                    Found(owner: Owner(id: 2, name: "Grace"), notes: []),
                    Found(owner: Owner(id: 3, name: "Joan"), notes: []),
                ])
            let counts = Owner.annotated(with: Owner.notes.filter(Note.Columns.tags["color"] != nil).count)
                .orderByPrimaryKey()
            #expect(try Row.fetchAll(db, counts).map { $0["noteCount"] as Int } == [1, 1, 0])
            let place = TableAlias<Note>()
            let joined = Owner.joining(required: Owner.notes.aliased(place))
                .select(Column("name"), place[Note.Columns.tags]["$.places[1]"].forKey("place")).filter(
                    place[Note.Columns.tags] != nil
                )
                .order(Column("name"))
            #expect(try Row.fetchAll(db, joined).map { $0["place"] as String? } == ["pot", nil])
        }
    }
}
