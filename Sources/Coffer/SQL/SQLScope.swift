/// The meaning of names at one point of an SQL text: in one query, and in the queries that enclose it.
///
/// Table aliases are resolved only when an expression is written, so the same expression can be part of any
/// request.
struct SQLScope {
    /// The qualifier for columns that have none; nil writes them without one.
    var columnQualifier: String?

    /// The table that the query selects from; nil if it is not known.
    private(set) var tableName: String?

    /// The nesting depth of queries.
    private var depth = 0

    /// The tables that aliases may refer to, or that may hide others. The innermost table is last.
    private var tables: [Table] = []

    private struct Table {
        let tableName: String
        let name: String
        let aliases: [TableAliasBase]
        let depth: Int
        let isQualified: Bool
    }

    /// Enters a query that selects from, updates or deletes from one table.
    mutating func enter(_ source: SourceTable) throws {
        let aliasName = try source.aliasName()
        depth += 1
        tableName = source.tableName
        columnQualifier = aliasName
        // A query without an alias and without an enclosing query can neither be referred to nor hide another
        // one.
        if depth > 1 || !source.aliases.isEmpty {
            tables.append(
                Table(
                    tableName: source.tableName, name: aliasName ?? source.tableName, aliases: source.aliases,
                    depth: depth,
                    isQualified: aliasName != nil))
        }
    }

    /// Enters a query of several tables. It selects from the first one.
    ///
    /// - Throws: a ``DatabaseError`` with `SQLITE_MISUSE` if an alias belongs to two of them.
    mutating func enter(_ joinedTables: [NamedTable]) throws {
        depth += 1
        for table in joinedTables {
            let isShared = table.aliases.contains { alias in
                tables.contains { $0.depth == depth && $0.aliases.contains(alias) }
            }
            guard !isShared else {
                throw DatabaseError.misuse(
                    "Two tables of this request have the same TableAlias, one of them "
                        + "\(table.tableName.quotedDatabaseIdentifier). Use an alias for each of them.")
            }
            tables.append(
                Table(
                    tableName: table.tableName, name: table.name, aliases: table.aliases, depth: depth,
                    isQualified: true))
        }
        tableName = joinedTables.first?.tableName
        columnQualifier = joinedTables.first?.name
    }

    /// A table of a query of several tables: its own name, its name in the SQL text, and its aliases.
    struct NamedTable {
        let tableName: String
        let name: String
        let aliases: [TableAliasBase]
    }

    /// Enters a query that is written in SQL. Its tables are unknown.
    mutating func enterLiteral() {
        depth += 1
        tableName = nil
        columnQualifier = nil
    }

    /// Qualifies the columns that follow with a table.
    mutating func qualifyColumns(ofTable tableName: String, with qualifier: String) {
        self.tableName = tableName
        columnQualifier = qualifier
    }

    /// Qualifies the columns that follow with the table of an alias.
    ///
    /// - Throws: a ``DatabaseError`` with `SQLITE_MISUSE` if no table in scope has the alias, or if another
    ///   table hides the one that does.
    mutating func qualifyColumns(with alias: TableAliasBase) throws {
        if let table = try table(of: alias) {
            tableName = table.tableName
            columnQualifier = table.depth == depth && !table.isQualified ? nil : table.name
        } else if let name = alias._tableName {
            // SQL itself may define the name, such as "excluded", or it may belong to a query that is written
            // in SQL.
            columnQualifier = name
            tableName = nil
        } else {
            throw DatabaseError.misuse(
                "A TableAlias is used that no table of this request has. Give it to a table with "
                    + "aliased(_:), or give it a name.")
        }
    }

    private func table(of alias: TableAliasBase) throws -> Table? {
        guard let index = tables.lastIndex(where: { table in table.aliases.contains { $0 === alias } }) else {
            return nil
        }
        let table = tables[index]
        let name = CaseInsensitiveName(table.name)
        // Tables of inner queries hide it. Queries that have ended are no longer in the list.
        if tables[(index + 1)...].contains(where: {
            $0.depth > table.depth && CaseInsensitiveName($0.name) == name
        }) {
            throw DatabaseError.misuse(
                "Two tables of this request are named \(table.name.quotedDatabaseIdentifier), so a "
                    + "TableAlias cannot refer to the outer one. Give the alias a name with "
                    + "TableAlias(name:).")
        }
        return table
    }
}

/// The table that a request selects from, updates, or deletes from.
struct SourceTable: Sendable {
    /// The name of a table, a view, or a common table expression.
    var tableName: String

    /// The aliases by which expressions refer to the table.
    var aliases: [TableAliasBase] = []

    /// Returns the name that replaces the table's own name in the SQL text, or nil.
    ///
    /// - Throws: a ``DatabaseError`` with `SQLITE_MISUSE` if aliases give it several names.
    func aliasName() throws -> String? {
        guard !aliases.isEmpty else { return nil }
        var result: String?
        for name in aliases.compactMap(\._tableName) {
            guard result == nil || result == name else {
                throw DatabaseError.misuse(
                    "The table \(tableName.quotedDatabaseIdentifier) has several aliases with different "
                        + "names.")
            }
            result = name
        }
        return result
    }

    /// Writes the table and its alias for a `FROM` clause.
    func write(to writer: inout SQLWriter, aliasKeyword: String = " ") throws {
        writer.append(identifier: tableName)
        if let name = try aliasName(), !name.hasSameBytes(as: tableName) {
            writer.append(aliasKeyword)
            writer.append(identifier: name)
        }
    }
}
