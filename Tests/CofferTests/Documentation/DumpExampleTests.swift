import Coffer
import Testing

/// The documentation's examples of dumps, with the output that it shows. `Scripts/check-docs` looks for their
/// lines in this folder.
@Suite("Examples of dumps")
struct DumpExampleTests {
    private final class TextBuffer: TextOutputStream {
        var text = ""
        func write(_ string: String) { text += string }
    }

    private struct Owner: TableRecord {
        static let items = hasMany(Item.self)
    }

    private struct Item: TableRecord {}

    private struct Attachment: TableRecord {
        enum Columns { static let size = Column("size") }
    }

    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE owner (id INTEGER PRIMARY KEY, name TEXT);
                    CREATE INDEX ownerName ON owner(name);
                    INSERT INTO owner VALUES (1, 'Ada'), (2, 'Grace');
                    """)
        }
    }

    private func makeItems() throws {
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE item (id INTEGER PRIMARY KEY, ownerId INTEGER REFERENCES owner, name TEXT);
                    CREATE TABLE attachment (id INTEGER PRIMARY KEY, fileName TEXT, size INTEGER);
                    INSERT INTO item VALUES (1, 1, 'ring'), (2, 1, 'safe');
                    INSERT INTO attachment VALUES (1, 'deed.pdf', 41920);
                    """)
        }
    }

    /// Returns the output of a dump that does not go to standard output.
    private func text(_ dump: (Database, TextBuffer) throws -> Void) throws -> String {
        let buffer = TextBuffer()
        try queue.read { db in try dump(db, buffer) }
        return buffer.text
    }

    @Test("the schema")
    func schema() throws {
        try queue.read { db in
            try db.dumpSchema()
        }
        let schema = try text { try $0.dumpSchema(to: $1) }
        #expect(
            schema == """
                sqlite_master
                CREATE TABLE owner (id INTEGER PRIMARY KEY, name TEXT);
                CREATE INDEX ownerName ON owner(name);

                """)
    }

    @Test("rows of statements, requests and tables")
    func rows() throws {
        try makeItems()
        try queue.read { db in
            try db.dumpSQL("SELECT id, fileName FROM attachment WHERE size > \(4096)")
            try db.dumpRequest(Attachment.filter { $0.size > 4096 }, format: .line())
            try db.dumpRequest(Owner.including(all: Owner.items))
            try db.dumpTables(["owner", "attachment"])
        }
        let statement: SQL = "SELECT id, fileName FROM attachment WHERE size > \(4096)"
        #expect(try text { try $0.dumpSQL(statement, to: $1) } == "1|deed.pdf\n")
        #expect(
            try text { try $0.dumpRequest(Owner.including(all: Owner.items), to: $1) } == """
                1|Ada
                2|Grace

                items
                1|1|ring
                2|1|safe

                """)
        #expect(
            try text { try $0.dumpTables(["owner", "attachment"], to: $1) } == """
                owner
                1|Ada
                2|Grace

                attachment
                1|deed.pdf|41920

                """)
    }

    @Test("formats")
    func formats() throws {
        try makeItems()
        try queue.read { db in
            try db.dumpRequest(Attachment.all())  // 1|deed.pdf|41920
            try db.dumpRequest(Attachment.all(), format: .json())
            try db.dumpRequest(Attachment.all(), format: .line())
            try db.dumpRequest(Attachment.all(), format: .list())  // 1|deed.pdf|41920
            try db.dumpRequest(Attachment.all(), format: .quote())  // 1,'deed.pdf',41920
        }
        #expect(try text { try $0.dumpRequest(Attachment.all(), to: $1) } == "1|deed.pdf|41920\n")
        #expect(
            try text { try $0.dumpRequest(Attachment.all(), format: .json(), to: $1) }
                == "[{\"id\":1,\"fileName\":\"deed.pdf\",\"size\":41920}]\n")
        #expect(
            try text { try $0.dumpRequest(Attachment.all(), format: .line(), to: $1) }
                == "      id = 1\nfileName = deed.pdf\n    size = 41920\n")
        #expect(
            try text { try $0.dumpRequest(Attachment.all(), format: .list(), to: $1) } == "1|deed.pdf|41920\n"
        )
        #expect(
            try text { try $0.dumpRequest(Attachment.all(), format: .quote(), to: $1) }
                == "1,'deed.pdf',41920\n")
        #expect(try text { try $0.dumpRequest(Owner.all(), format: CountDumpFormat(), to: $1) } == "2 rows\n")
    }
}

private struct CountDumpFormat: DumpFormat {
    private var count = 0

    mutating func writeRow(_ db: Database, statement: Statement, to stream: inout DumpStream) { count += 1 }

    mutating func finalize(_ db: Database, statement: Statement, to stream: inout DumpStream) {
        stream.write("\(count) rows\n")
    }
}
