extension Relation {
    /// Returns the condition that the primary key of a row equals one of the given values. NULL matches no
    /// row.
    static func primaryKeyCondition(
        _ keys: [RequestedKey], _ storage: KeyStorage, table: String
    ) -> @Sendable (Database) throws -> SQLExpression {
        let keys = keys.filter { !$0.isNull }
        guard !keys.isEmpty else { return { _ in SQLExpression(impl: .boolean(false)) } }
        return { db in
            let columns = try db.primaryKey(table).columns
            guard columns.count == 1 else {
                throw DatabaseError.misuse(
                    "The primary key of \(table.quotedDatabaseIdentifier) has several columns. Give a "
                        + "dictionary of them: "
                        + columns.joined(separator: ", "))
            }
            let values = try keys.map { try storage.stored($0, in: columns[0]) }.filter { !$0.isNull }
                .map { SQLExpression.databaseValue($0) }
            guard let value = values.first else { return SQLExpression(impl: .boolean(false)) }
            let column = SQLExpression(impl: .column(columns[0]))
            return values.count == 1
                ? .binary(.equal, column, value)
                : SQLExpression(impl: .isIn(column, .list(values), isNegated: false))
        }
    }

    /// Returns the condition that a row has one of the given keys. Each key must contain at least all columns
    /// of the primary key or of a unique index.
    static func uniqueKeyCondition(
        _ keys: [[String: DatabaseValue]], table: String
    ) -> @Sendable (Database) throws -> SQLExpression {
        { db in
            try .associative(
                .or,
                keys.map { key in
                    let columns = try db.uniqueKeyColumns(Array(key.keys), of: table)
                    return SQLExpression.associative(
                        .and,
                        columns.map { name, givenName in
                            .equal(
                                SQLExpression(impl: .column(name)), .databaseValue(key[givenName] ?? .null))
                        })
                })
        }
    }
}
