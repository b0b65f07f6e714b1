import Coffer
import Testing

/// The records of the README, as they are there.
@Suite("Records of the README")
struct ReadmeShelfTests {
    struct Author: Codable, FetchableRecord, PersistableRecord {
        static let books = hasMany(Book.self)
        var id: Int64
        var name: String
    }

    struct Book: Codable, FetchableRecord, PersistableRecord {
        enum Columns { static let title = Column("title") }
        static let author = belongsTo(Author.self)
        static let reviews = hasMany(Review.self)
        var id: Int64
        var authorId: Int64
        var title: String
    }

    struct Review: Codable, FetchableRecord, PersistableRecord {
        var id: Int64
        var bookId: Int64
        var stars: Int
    }

    struct Shelf: Decodable, FetchableRecord {
        struct ReviewedBook: Decodable {
            var book: Book
            var reviewCount: Int
        }
        var author: Author
        var books: [ReviewedBook]
    }

    @Test("are on their shelves, with the number of reviews")
    func shelves() throws {
        let queue = try DatabaseQueue()
        try queue.write { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE author(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
                    CREATE TABLE book(id INTEGER PRIMARY KEY, authorId INTEGER NOT NULL REFERENCES author, title TEXT NOT NULL);
                    CREATE TABLE review(id INTEGER PRIMARY KEY, bookId INTEGER NOT NULL REFERENCES book, stars INTEGER NOT NULL);
                    """)
            for (id, name) in [(1, "Ursula"), (2, "Jorge"), (3, "Nobody")] { try Author(id: Int64(id), name: name).insert(db) }
            for (id, author, title) in [(1, 1, "Searoad"), (2, 1, "Malafrena"), (3, 2, "Ficciones")] {
                try Book(id: Int64(id), authorId: Int64(author), title: title).insert(db)
            }
            for (id, book) in [(1, 1), (2, 1), (3, 3)] { try Review(id: Int64(id), bookId: Int64(book), stars: 5).insert(db) }
        }
        let books = Author.books.order(\.title).annotated(with: Book.reviews.count)
        let shelves = try queue.read { db throws in
            try Author.including(all: books).asRequest(of: Shelf.self).fetchAll(db)
        }
        #expect(shelves.map(\.author.name) == ["Ursula", "Jorge", "Nobody"])
        #expect(shelves.map { $0.books.map(\.book.title) } == [["Malafrena", "Searoad"], ["Ficciones"], []])
        #expect(shelves.map { $0.books.map(\.reviewCount) } == [[0, 2], [1], []])
        let lonely = try queue.read { db throws in try Author.having(Author.books.isEmpty).fetchAll(db) }
        #expect(lonely.map(\.name) == ["Nobody"])
        let ofOne = try queue.read { db throws in try shelves[0].author.request(for: Author.books).fetchCount(db) }
        #expect(ofOne == 2)
    }
}
