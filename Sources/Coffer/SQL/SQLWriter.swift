/// The only place where SQL text and its arguments are assembled.
///
/// Every SQL element writes itself into a writer. The writer turns values into arguments and quotes
/// identifiers, so the text never depends on the content of a value or a name.
struct SQLWriter {
    /// The connection that the SQL is generated for.
    let db: Database

    private(set) var sql = ""
    private(set) var arguments = StatementArguments()

    /// The scope that determines the names of columns and table aliases in the text that is appended next.
    var scope = SQLScope()

    init(_ db: Database) {
        self.db = db
        // Reserve space for a typical query, to avoid reallocations.
        sql.reserveCapacity(128)
    }

    /// Appends SQL text that takes no arguments: keywords, operators, punctuation.
    mutating func append(_ text: String) {
        sql.append(text)
    }

    /// Appends the name of a table, a column, an alias or a collation.
    mutating func append(identifier: String) {
        sql.append(quotedIdentifier: identifier)
    }

    /// Appends the name of a column, qualified with its table if the scope requires it.
    mutating func append(column name: String) {
        if let qualifier = scope.columnQualifier {
            sql.append(quotedIdentifier: qualifier)
            sql.append(".")
        }
        sql.append(quotedIdentifier: name)
    }

    /// Appends the name of a function, a type or a collation. It is quoted unless it is a plain word that is
    /// not an SQL keyword.
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

    /// Appends SQL text that the user wrote, unchanged.
    ///
    /// - Throws: a ``DatabaseError`` with `SQLITE_MISUSE` if a named argument already has another value.
    mutating func append(sql text: String, arguments newArguments: StatementArguments) throws {
        sql.append(text)
        guard !newArguments.isEmpty else { return }
        for (name, previous) in arguments.append(contentsOf: newArguments)
        where previous != newArguments.namedValues[name] {
            throw DatabaseError.misuse(
                "The argument :\(name) has two values. Rename it in one of the two pieces of SQL.",
                sql: sql)
        }
    }

    /// Writes an element that has a scope of its own, such as a subquery, and then restores the current
    /// scope.
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

    /// Appends a keyword and the conjunction of conditions; nothing if there are none.
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
    /// Returns a statement for generated SQL, with its arguments.
    func checkOut(_ writer: SQLWriter) throws -> Statement {
        let statement = try checkOut(writer.sql, for: .request)
        try statement.setArguments(writer.arguments)
        return statement
    }
}
