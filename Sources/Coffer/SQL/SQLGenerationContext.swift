/// The one place where SQL text and its arguments come together.
///
/// Whatever can be written as SQL writes itself into a context. Values become arguments and identifiers are quoted here, so that
/// the text never depends on what a value or a name contains.
struct SQLGenerationContext {
    /// The connection that the SQL is generated for.
    let db: Database

    private(set) var sql = ""
    private(set) var arguments = StatementArguments()

    init(_ db: Database) {
        self.db = db
    }

    /// Appends SQL text that takes no argument: keywords, operators, punctuation.
    mutating func append(_ text: String) {
        sql.append(text)
    }

    /// Appends the name of a table, a column, an alias or a collation.
    mutating func append(identifier: String) {
        sql.append(identifier.quotedDatabaseIdentifier)
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
        for (name, previous) in arguments.append(contentsOf: newArguments) where previous != newArguments.namedValues[name] {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "The argument :\(name) has two values. Name it differently in one of the two pieces of SQL.",
                sql: sql)
        }
    }

    /// Appends elements with a separator between them.
    mutating func append<Element>(
        _ elements: some Sequence<Element>, separator: String, write: (Element, inout SQLGenerationContext) throws -> Void
    ) rethrows {
        var isFirst = true
        for element in elements {
            if !isFirst { append(separator) }
            isFirst = false
            try write(element, &self)
        }
    }
}
