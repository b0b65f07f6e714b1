// What developers look into a database with. What is dumped is plaintext: mind where the stream leads.

/// Whether the name of a table stands above its rows: see
/// ``Database/dumpTables(_:format:tableHeader:stableOrder:to:)``.
public enum DumpTableHeaderOptions: Sendable {
    /// Only if there are several tables.
    case automatic

    /// Always.
    case always
}

extension Database {
    /// Writes the rows of SQL statements.
    ///
    ///     try db.dumpSQL("SELECT id, fileName FROM attachment WHERE size > \(4096)")
    ///     // 1|deed.pdf
    ///
    /// Statements without rows run and write nothing.
    /// - Parameters:
    ///   - sql: one or several statements.
    ///   - format: how rows are written.
    ///   - stream: where the text goes; nil is the standard output. It has to be an object for the caller to
    ///     see what was written.
    /// - Throws: a ``DatabaseError`` if a statement does not compile or fails; what was written before it
    ///   stays.
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
    /// Columns of tables that are joined come behind those of the table of the request. Adapters have no
    /// effect. What `including(all:)` fetches follows, below the names of the associations that lead to it:
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
    ///   - request: the request.
    ///   - format: how rows are written.
    ///   - stream: where the text goes; nil is the standard output. It has to be an object for the caller to
    ///     see what was written.
    /// - Throws: a ``DatabaseError`` if a statement does not compile or fails; what was written before it
    ///   stays.
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
    /// Rows of tables are sorted by the primary key, or the row ID where there is none.
    /// - Parameters:
    ///   - tables: the names of tables and views.
    ///   - format: how rows are written.
    ///   - tableHeader: whether the name of a table stands above its rows.
    ///   - stableOrder: whether views are sorted too: by the primary key that the schema source knows, or by
    ///     all columns.
    ///   - stream: where the text goes; nil is the standard output. It has to be an object for the caller to
    ///     see what was written.
    /// - Throws: a ``DatabaseError`` if a statement does not compile or fails; what was written before it
    ///   stays.
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
    /// Tables of SQLite and of the library are left out, and so are those in which virtual tables keep what
    /// they know.
    /// - Parameters:
    ///   - format: how rows are written.
    ///   - stream: where the text goes; nil is the standard output. It has to be an object for the caller to
    ///     see what was written.
    /// - Throws: a ``DatabaseError`` if a statement does not compile or fails; what was written before it
    ///   stays.
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

    /// Writes the SQL of the schema: each table, with its indexes, views and triggers.
    ///
    ///     try db.dumpSchema()
    ///     // sqlite_master
    ///     // CREATE TABLE owner (id INTEGER PRIMARY KEY, name TEXT);
    ///     // CREATE INDEX ownerName ON owner(name);
    ///
    /// What SQLite, the library and virtual tables have created for themselves is left out.
    /// - Parameter stream: where the text goes; nil is the standard output. It has to be an object for the
    ///   caller to see what was written.
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
    /// - Parameters:
    ///   - sql: the text of statements, all of which run.
    ///   - format: how rows are written.
    ///   - stream: where they are written; nil is the standard output.
    /// - Throws: a ``DatabaseError`` if a statement fails.
    public func dumpSQL(
        _ sql: SQL, format: some DumpFormat = .debug(), to stream: (any TextOutputStream)? = nil
    ) throws {
        try unsafeReentrantRead { db in try db.dumpSQL(sql, format: format, to: stream) }
    }

    /// Writes the rows of a request: see ``Database/dumpRequest(_:format:to:)``.
    ///
    /// - Parameters:
    ///   - request: what is fetched.
    ///   - format: how rows are written.
    ///   - stream: where they are written; nil is the standard output.
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
    /// - Parameters:
    ///   - tables: the names of tables and views.
    ///   - format: how rows are written.
    ///   - tableHeader: whether the name of each table is written before its rows.
    ///   - stableOrder: whether rows are sorted, so that two dumps can be compared.
    ///   - stream: where they are written; nil is the standard output.
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
    /// - Parameters:
    ///   - format: how rows are written.
    ///   - stream: where they are written; nil is the standard output.
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
