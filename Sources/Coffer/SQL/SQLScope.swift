/// What names mean at one place of an SQL text: in one query, and in the queries that it is nested in.
///
/// Table aliases have no names of their own until here. They are looked up when an expression is written, so
/// that the same expression can be a part of any request.
struct SQLScope {
    /// The table that columns without one are qualified with; nil writes them bare.
    var columnQualifier: String?

    /// The table that the query selects from; nil where that is not known.
    private(set) var tableName: String?

    /// How many queries are nested here.
    private var depth = 0

    /// The tables that aliases may refer to, or that may hide others, the innermost last.
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
        // A query that has no alias, and nothing around it, can neither be referred to nor hide another one.
        if depth > 1 || !source.aliases.isEmpty {
            tables.append(
                Table(
                    tableName: source.tableName, name: aliasName ?? source.tableName, aliases: source.aliases,
                    depth: depth,
                    isQualified: aliasName != nil))
        }
    }

    /// Enters a query of several tables, of which the first one is the one that it selects from.
    ///
    /// - Throws: a ``DatabaseError`` of code `SQLITE_MISUSE` if an alias belongs to two of them.
    mutating func enter(_ joinedTables: [NamedTable]) throws {
        depth += 1
        for table in joinedTables {
            let isShared = table.aliases.contains { alias in
                tables.contains { $0.depth == depth && $0.aliases.contains(alias) }
            }
            guard !isShared else {
                throw DatabaseError(
                    resultCode: .SQLITE_MISUSE,
                    message: "A TableAlias belongs to two tables of this request, of which one is "
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

    /// One of the tables of a query of several: what it is, what it is called in the SQL text, and what
    /// refers to it.
    struct NamedTable {
        let tableName: String
        let name: String
        let aliases: [TableAliasBase]
    }

    /// Enters a query that is written in SQL, whose tables are not known.
    mutating func enterLiteral() {
        depth += 1
        tableName = nil
        columnQualifier = nil
    }

    /// Has the columns that follow belong to a table.
    mutating func qualifyColumns(ofTable tableName: String, with qualifier: String) {
        self.tableName = tableName
        columnQualifier = qualifier
    }

    /// Has the columns that follow belong to the table of an alias.
    ///
    /// - Throws: a ``DatabaseError`` of code `SQLITE_MISUSE` if no table in reach has the alias, or another
    ///   table hides the one that has.
    mutating func qualifyColumns(with alias: TableAliasBase) throws {
        if let table = try table(of: alias) {
            tableName = table.tableName
            columnQualifier = table.depth == depth && !table.isQualified ? nil : table.name
        } else if let name = alias._tableName {
            // The name may be one that SQL brings along, such as "excluded", or one of a query that is
            // written in SQL.
            columnQualifier = name
            tableName = nil
        } else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message:
                    "A TableAlias belongs to no table of this request. Give it to a table with aliased(_:), "
                    + "or give it a name."
            )
        }
    }

    private func table(of alias: TableAliasBase) throws -> Table? {
        guard let index = tables.lastIndex(where: { table in table.aliases.contains { $0 === alias } }) else {
            return nil
        }
        let table = tables[index]
        let name = CaseInsensitiveName(table.name)
        // Tables of other queries on the way hide it; those that ended have left the list.
        if tables[(index + 1)...].contains(where: {
            $0.depth > table.depth && CaseInsensitiveName($0.name) == name
        }) {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message:
                    "Two tables of this request are called \(table.name.quotedDatabaseIdentifier), so that "
                    + "a TableAlias cannot refer to the outer one. Give the alias a name, with "
                    + "TableAlias(name:).")
        }
        return table
    }
}

/// The table that a request selects from, updates, or deletes from.
struct SourceTable: Sendable {
    /// The name of a table, a view, or a common table expression.
    var tableName: String

    /// The aliases that expressions use to refer to it.
    var aliases: [TableAliasBase] = []

    /// The name that the table has in the SQL text in place of its own, or nil.
    ///
    /// - Throws: a ``DatabaseError`` of code `SQLITE_MISUSE` if aliases give it several names.
    func aliasName() throws -> String? {
        guard !aliases.isEmpty else { return nil }
        var result: String?
        for name in aliases.compactMap(\._tableName) {
            guard result == nil || result == name else {
                throw DatabaseError(
                    resultCode: .SQLITE_MISUSE,
                    message:
                        "The table \(tableName.quotedDatabaseIdentifier) has several aliases of different "
                        + "names."
                )
            }
            result = name
        }
        return result
    }

    /// Writes the table and its alias, as `FROM` wants them.
    func write(to writer: inout SQLWriter, aliasKeyword: String = " ") throws {
        writer.append(identifier: tableName)
        if let name = try aliasName(), !name.hasSameBytes(as: tableName) {
            writer.append(aliasKeyword)
            writer.append(identifier: name)
        }
    }
}
