// Dumps for developers. They contain plaintext: consider who can read the stream.

/// Options for the table name above the rows of a table: see
/// ``Database/dumpTables(_:format:tableHeader:stableOrder:to:)``.
public enum DumpTableHeaderOptions: Sendable {
    /// The name is written only if there are several tables.
    case automatic

    /// The name is always written.
    case always
}

extension Database {
    /// Writes the rows of SQL statements.
    ///
    ///     try db.dumpSQL("SELECT id, fileName FROM attachment WHERE size > \(4096)")
    ///     // 1|deed.pdf
    ///
    /// Statements that return no rows are executed, but write nothing.
    ///
    /// - Parameters:
    ///   - sql: one or several statements.
    ///   - format: the format of the rows.
    ///   - stream: the destination; nil is the standard output. Pass an object to be able to read the text.
    /// - Throws: a ``DatabaseError`` if a statement does not compile or fails. The output before it remains.
    public func dumpSQL(
        _ sql: SQL, format: some DumpFormat = .debug(), to stream: (any TextOutputStream)? = nil
    ) throws {
        var stream = DumpStream(stream)
        let (text, arguments) = try sql.build(self)
        let statements = try allStatements(sql: text, arguments: arguments)
        while let statement = try statements.next() {
            try writeRows(of: statement, format, to: &stream)
        }
    }

    /// Writes the rows of a request.
    ///
    ///     try db.dumpRequest(Attachment.filter { $0.size > 4096 }, format: .line())
    ///
    /// The columns of joined tables follow the columns of the request's own table. Row adapters have no
    /// effect. The rows that `including(all:)` fetches come last, below the names of the associations that
    /// lead to them:
    ///
    ///     try db.dumpRequest(Owner.including(all: Owner.items))
    ///     // 1|Ada
    ///     // 2|Grace
    ///     //
    ///     // items
    ///     // 1|1|ring
    ///     // 2|1|safe
    ///
    /// - Parameters:
    ///   - format: the format of the rows.
    ///   - stream: the destination; nil is the standard output. Pass an object to be able to read the text.
    /// - Throws: a ``DatabaseError`` if a statement does not compile or fails. The output before it remains.
    public func dumpRequest(
        _ request: some FetchRequest, format: some DumpFormat = .debug(),
        to stream: (any TextOutputStream)? = nil
    ) throws {
        var stream = DumpStream(stream)
        try writeRows(of: request.makePreparedRequest(self, forSingleResult: false), format, to: &stream)
    }

    /// Writes the rows of tables and views.
    ///
    ///     try db.dumpTables(["owner", "attachment"])
    ///     // owner
    ///     // 1|Ada
    ///     // 2|Grace
    ///     //
    ///     // attachment
    ///     // 1|deed.pdf|41920
    ///
    /// The rows of a table are sorted by the primary key, or by the row ID if it has none.
    ///
    /// - Parameters:
    ///   - tables: the names of tables and views.
    ///   - format: the format of the rows.
    ///   - tableHeader: controls the table name above the rows of a table.
    ///   - stableOrder: if true, views are sorted too: by the primary key from the schema source, or by all
    ///     columns.
    ///   - stream: the destination; nil is the standard output. Pass an object to be able to read the text.
    /// - Throws: a ``DatabaseError`` if a statement does not compile or fails. The output before it remains.
    public func dumpTables(
        _ tables: [String], format: some DumpFormat = .debug(),
        tableHeader: DumpTableHeaderOptions = .automatic, stableOrder: Bool = false,
        to stream: (any TextOutputStream)? = nil
    ) throws {
        var stream = DumpStream(stream)
        try writeTables(
            tables, format, hasHeaders: tableHeader == .always || tables.count > 1, stableOrder: stableOrder,
            to: &stream)
    }

    /// Writes the schema, and the rows of all tables.
    ///
    /// The tables of SQLite and of this library are left out, and so are the shadow tables of virtual tables.
    ///
    /// - Parameters:
    ///   - format: the format of the rows.
    ///   - stream: the destination; nil is the standard output. Pass an object to be able to read the text.
    /// - Throws: a ``DatabaseError`` if a statement does not compile or fails. The output before it remains.
    public func dumpContent(format: some DumpFormat = .debug(), to stream: (any TextOutputStream)? = nil)
        throws
    {
        var stream = DumpStream(stream)
        let objects = try dumpedObjects()
        writeSchema(objects, to: &stream)
        let tables = objects.filter { $0.type == "table" }.map(\.name)
        guard !tables.isEmpty else { return }
        stream.margin()
        try writeTables(tables, format, hasHeaders: true, stableOrder: true, to: &stream)
    }

    /// Writes the SQL of the schema: each table, with its indexes, views, and triggers.
    ///
    ///     try db.dumpSchema()
    ///     // sqlite_master
    ///     // CREATE TABLE owner (id INTEGER PRIMARY KEY, name TEXT);
    ///     // CREATE INDEX ownerName ON owner(name);
    ///
    /// Internal objects of SQLite, of this library, and of virtual tables are left out.
    ///
    /// - Parameter stream: the destination; nil is the standard output. Pass an object to be able to read the
    ///   text.
    /// - Throws: a ``DatabaseError`` if the schema cannot be read.
    public func dumpSchema(to stream: (any TextOutputStream)? = nil) throws {
        var stream = DumpStream(stream)
        writeSchema(try dumpedObjects(), to: &stream)
    }
}

extension DatabaseReader {
    /// Writes the rows of SQL statements, outside of any transaction: see ``Database/dumpSQL(_:format:to:)``.
    ///
    ///     let text = TextBuffer()
    ///     try queue.dumpSQL("SELECT name, worth FROM item", format: .line(), to: text)
    ///
    /// - Throws: a ``DatabaseError`` if a statement fails.
    public func dumpSQL(
        _ sql: SQL, format: some DumpFormat = .debug(), to stream: (any TextOutputStream)? = nil
    ) throws {
        try unsafeReentrantRead { db in try db.dumpSQL(sql, format: format, to: stream) }
    }

    /// Writes the rows of a request: see ``Database/dumpRequest(_:format:to:)``.
    ///
    /// - Throws: a ``DatabaseError`` if a statement fails.
    public func dumpRequest(
        _ request: some FetchRequest, format: some DumpFormat = .debug(),
        to stream: (any TextOutputStream)? = nil
    ) throws {
        try unsafeReentrantRead { db in try db.dumpRequest(request, format: format, to: stream) }
    }

    /// Writes the rows of tables and views: see
    /// ``Database/dumpTables(_:format:tableHeader:stableOrder:to:)``.
    ///
    /// - Throws: a ``DatabaseError`` if a statement fails.
    public func dumpTables(
        _ tables: [String], format: some DumpFormat = .debug(),
        tableHeader: DumpTableHeaderOptions = .automatic, stableOrder: Bool = false,
        to stream: (any TextOutputStream)? = nil
    ) throws {
        try unsafeReentrantRead { db in
            try db.dumpTables(
                tables, format: format, tableHeader: tableHeader, stableOrder: stableOrder, to: stream)
        }
    }

    /// Writes the schema, and the rows of all tables: see ``Database/dumpContent(format:to:)``.
    ///
    /// - Throws: a ``DatabaseError`` if a statement fails.
    public func dumpContent(format: some DumpFormat = .debug(), to stream: (any TextOutputStream)? = nil)
        throws
    {
        try unsafeReentrantRead { db in try db.dumpContent(format: format, to: stream) }
    }

    /// Writes the SQL of the schema: see ``Database/dumpSchema(to:)``.
    ///
    /// - Throws: a ``DatabaseError`` if a statement fails.
    public func dumpSchema(to stream: (any TextOutputStream)? = nil) throws {
        try unsafeReentrantRead { db in try db.dumpSchema(to: stream) }
    }
}
