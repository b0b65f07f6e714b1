internal import SQLCipherBridge

/// The one place where SQL text and its arguments come together.
///
/// Whatever can be written as SQL writes itself into a writer. Values become arguments and identifiers are
/// quoted here, so that the text never depends on what a value or a name contains.
struct SQLWriter {
    /// The connection that the SQL is generated for.
    let db: Database

    private(set) var sql = ""
    private(set) var arguments = StatementArguments()

    /// What columns and table aliases are called where the next text goes.
    var scope = SQLScope()

    init(_ db: Database) {
        self.db = db
        // Room for a usual query, so that the text does not move while it grows.
        sql.reserveCapacity(128)
    }

    /// Appends SQL text that takes no argument: keywords, operators, punctuation.
    mutating func append(_ text: String) {
        sql.append(text)
    }

    /// Appends the name of a table, a column, an alias or a collation.
    mutating func append(identifier: String) {
        sql.append(quotedIdentifier: identifier)
    }

    /// Appends the name of a column, with that of its table where the scope asks for it.
    mutating func append(column name: String) {
        if let qualifier = scope.columnQualifier {
            sql.append(quotedIdentifier: qualifier)
            sql.append(".")
        }
        sql.append(quotedIdentifier: name)
    }

    /// Appends the name of a function, a type or a collation: bare if it is a word without a meaning in SQL,
    /// and quoted otherwise.
    mutating func append(functionName name: String) {
        sql.append(name.quotedUnlessWord)
    }

    /// Appends a value as an argument, or the keyword NULL.
    mutating func append(_ value: DatabaseValue) {
        if value.isNull {
            sql.append("NULL")
        } else {
            sql.append("?")
            arguments.values.append(value)
        }
    }

    /// Appends SQL text as the user wrote it.
    ///
    /// - Throws: a ``DatabaseError`` of code `SQLITE_MISUSE` if a named argument already has another value.
    mutating func append(sql text: String, arguments newArguments: StatementArguments) throws {
        sql.append(text)
        guard !newArguments.isEmpty else { return }
        for (name, previous) in arguments.append(contentsOf: newArguments)
        where previous != newArguments.namedValues[name] {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message:
                    "The argument :\(name) has two values. Name it differently in one of the two pieces of "
                    + "SQL.",
                sql: sql)
        }
    }

    /// Writes what has names of its own, such as a subquery, and then goes back to the names as they were.
    mutating func inScope(
        _ enter: (inout SQLScope) throws -> Void, write: (inout SQLWriter) throws -> Void
    ) rethrows {
        let outerScope = scope
        defer { scope = outerScope }
        try enter(&scope)
        try write(&self)
    }

    /// Appends elements with a separator between them.
    mutating func append<Element>(
        _ elements: some Sequence<Element>, separator: String,
        write: (Element, inout SQLWriter) throws -> Void
    ) rethrows {
        var isFirst = true
        for element in elements {
            if !isFirst { append(separator) }
            isFirst = false
            try write(element, &self)
        }
    }

    /// Appends conditions that must all be met, after a keyword; nothing if there is none.
    mutating func append(conditions: [SQLExpression], after keyword: String) throws {
        guard let first = conditions.first else { return }
        append(keyword)
        if conditions.count == 1 {
            try first.write(to: &self)
        } else {
            try SQLExpression.associative(.and, conditions).write(to: &self)
        }
    }
}

extension Database {
    /// A statement for SQL that was generated, with its arguments.
    func checkOut(_ writer: SQLWriter) throws -> Statement {
        let statement = try checkOut(writer.sql, for: .request)
        try statement.setArguments(writer.arguments)
        return statement
    }
}
