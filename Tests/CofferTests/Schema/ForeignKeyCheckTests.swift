import Coffer
import Testing

@Suite("Checks of foreign keys")
struct ForeignKeyCheckTests {
    private func makeLibrary(_ more: String = "") throws -> DatabaseQueue {
        try makeDatabase(
            """
            PRAGMA foreign_keys = OFF;
            CREATE TABLE author (id INTEGER PRIMARY KEY);
            CREATE TABLE book (id INTEGER PRIMARY KEY, authorId REFERENCES author (id), name);
            INSERT INTO author VALUES (1);
            INSERT INTO book VALUES (1, 2, 'Moby-Dick'), (2, 1, 'Typee'), (3, NULL, 'Omoo');
            \(more)
            """)
    }

    @Test("violations show the row, both tables and the foreign key")
    func violations() throws {
        try makeLibrary().read { (db) throws in
            for violations in try [
                Array(db.foreignKeyViolations()), Array(db.foreignKeyViolations(in: "BOOK")),
            ] {
                #expect(violations.count == 1)
                let violation = try #require(violations.first)
                #expect(violation.originTable == "book")
                #expect(violation.originRowID == 1)
                #expect(violation.destinationTable == "author")
                #expect(violation.foreignKeyId == 0)
                #expect(
                    violation.description
                        == "FOREIGN KEY constraint violation - from book to author, in rowid 1")
                #expect(
                    try violation.failureDescription(db)
                        == "FOREIGN KEY constraint violation - from book(authorId) to author(id), "
                        + "in [id:1 authorId:2 name:\"Moby-Dick\"]")
            }
            #expect(try db.foreignKeyViolations(in: "author").next() == nil)
        }
    }

    @Test("the checks throw the description of the first violation")
    func checks() throws {
        try makeLibrary().write { (db) throws in
            for check in [{ try db.checkForeignKeys() }, { try db.checkForeignKeys(in: "book") }] {
                #expect {
                    try check()
                } throws: {
                    let error = $0 as? DatabaseError
                    return error?.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY
                        && error?.message
                            == "FOREIGN KEY constraint violation - from book(authorId) to author(id), "
                            + "in [id:1 authorId:2 name:\"Moby-Dick\"]"
                }
            }
            try db.checkForeignKeys(in: "author")
            try db.execute(sql: "DELETE FROM book WHERE id = 1")
            try db.checkForeignKeys()
        }
    }

    @Test("rows without an ID, and foreign keys to missing tables, are described as far as possible")
    func incompleteDescriptions() throws {
        let queue = try makeDatabase(
            """
            PRAGMA foreign_keys = OFF;
            CREATE TABLE a (k PRIMARY KEY, x REFERENCES gone) WITHOUT ROWID;
            INSERT INTO a VALUES (1, 2);
            """)
        try queue.read { (db) throws in
            let violation = try #require(try db.foreignKeyViolations().next())
            #expect(violation.originRowID == nil)
            #expect(violation.description == "FOREIGN KEY constraint violation - from a to gone")
            #expect(try violation.failureDescription(db) == violation.description)
        }
    }

    @Test("the row is found even if a column is named rowid")
    func shadowedRowID() throws {
        let queue = try makeDatabase(
            """
            PRAGMA foreign_keys = OFF;
            CREATE TABLE p (id INTEGER PRIMARY KEY);
            CREATE TABLE c (rowid TEXT, x REFERENCES p);
            INSERT INTO c VALUES ('n', 5);
            """)
        try queue.read { (db) throws in
            let violation = try #require(try db.foreignKeyViolations().next())
            #expect(
                try violation.failureDescription(db).hasSuffix("from c(x) to p(id), in [rowid:\"n\" x:5]"))
        }
    }

    @Test("a table of a given schema is checked, and named")
    func schemas() throws {
        let queue = try makeLibrary(
            """
            ATTACH DATABASE ':memory:' AS other;
            CREATE TABLE other.author (id INTEGER PRIMARY KEY);
            CREATE TABLE other.book (id INTEGER PRIMARY KEY, authorId REFERENCES author (id), name);
            INSERT INTO other.book VALUES (1, 9, 'Mardi');
            """)
        try queue.read { (db) throws in
            #expect(throws: DatabaseError.self) { try db.checkForeignKeys(in: "book", in: "other") }
            let violation = try #require(try db.foreignKeyViolations(in: "book", in: "other").next())
            #expect(try violation.failureDescription(db).hasSuffix("[id:1 authorId:9 name:\"Mardi\"]"))
            #expect(try db.foreignKeyViolations(in: "book", in: "main").next()?.originRowID == 1)
        }
    }

    @Test("violations are records, and can be fetched from the pragma")
    func records() throws {
        try makeLibrary().read { (db) throws in
            let cursor: RecordCursor<ForeignKeyViolation> = try db.foreignKeyViolations()
            #expect(try cursor.next()?.originRowID == 1)
            #expect(try cursor.next() == nil)
            let table: RecordCursor<ForeignKeyViolation> = try db.foreignKeyViolations(in: "book")
            #expect(try table.next()?.destinationTable == "author")
            let violations = try ForeignKeyViolation.fetchAll(db, sql: "PRAGMA foreign_key_check")
            #expect(violations.count == 1)
            #expect(
                try violations.first?.failureDescription(db).hasSuffix(
                    "in [id:1 authorId:2 name:\"Moby-Dick\"]") == true)
        }
    }
}
