/// The columns through which a table refers to another one, for tables with no foreign key in the schema or
/// with several.
///
///     // CREATE TABLE share (giverId INTEGER REFERENCES owner(id), takerId INTEGER REFERENCES owner(id), ...)
///     struct Share: TableRecord {
///         static let giver = belongsTo(Owner.self, key: "giver", using: ForeignKey(["giverId"]))
///         static let taker = belongsTo(Owner.self, key: "taker", using: ForeignKey(["takerId"]))
///     }
///     extension Owner {
///         static let givenShares = hasMany(Share.self, using: ForeignKey(["giverId"]))
///     }
///
/// The origin is always the table that has the foreign key, regardless of the side that declares the
/// association: the declaring table of a `belongsTo`, the destination of a `hasMany` or `hasOne`. One value
/// serves both sides.
public struct ForeignKey: Equatable, Sendable {
    /// The columns of the table that has the foreign key.
    let originColumns: [String]

    /// The columns that they refer to; nil means the columns in the schema, or the primary key.
    let destinationColumns: [String]?

    /// Creates a foreign key from the names of its columns.
    ///
    /// - Parameters:
    ///   - originColumns: the columns of the table that has the foreign key.
    ///   - destinationColumns: the columns that they refer to, in the same order. If nil, they come from the
    ///     foreign key of the schema that has these origin columns, or else from the primary key of the other
    ///     table. Views need explicit columns.
    public init(_ originColumns: [String], to destinationColumns: [String]? = nil) {
        self.originColumns = originColumns
        self.destinationColumns = destinationColumns
    }

    /// Creates a foreign key from its columns: see ``init(_:to:)-([String],_)``.
    ///
    /// - Parameters:
    ///   - originColumns: the columns of the table that has the foreign key.
    ///   - destinationColumns: the columns that they refer to; nil takes them from the schema.
    public init(_ originColumns: [any ColumnExpression], to destinationColumns: [any ColumnExpression]? = nil)
    {
        self.init(originColumns.map(\.name), to: destinationColumns?.map(\.name))
    }
}

/// The foreign key between two tables. It is looked up in the schema when SQL is generated.
struct SQLForeignKey: Sendable {
    let originTable: String
    let destinationTable: String

    /// The foreign key given to the association, if any.
    let foreignKey: ForeignKey?

    /// Returns the pairs of columns that must be equal.
    ///
    /// - Throws: a ``DatabaseError`` that names both tables and the foreign keys of the schema, if no foreign
    ///   key or more than one matches.
    func mapping(_ db: Database) throws -> [(origin: String, destination: String)] {
        if let foreignKey, let destinationColumns = foreignKey.destinationColumns {
            return try paired(foreignKey.originColumns, destinationColumns, db)
        }
        let candidates = try schemaForeignKeys(db).filter { candidate in
            let destination = CaseInsensitiveName(candidate.destinationTable)
            guard destination == CaseInsensitiveName(destinationTable) else { return false }
            return foreignKey.map { Self.areSame($0.originColumns, candidate.originColumns) } ?? true
        }
        if candidates.count > 1 { throw error("Ambiguous foreign key", db) }
        if let candidate = candidates.first { return candidate.mapping }
        guard let foreignKey else { throw error("Could not infer foreign key", db) }
        return try paired(foreignKey.originColumns, db.primaryKeyOfTable(destinationTable) ?? [], db)
    }

    private func schemaForeignKeys(_ db: Database) throws -> [ForeignKeyInfo] {
        guard try !db.viewExists(originTable) || db.tableExists(originTable) else { return [] }
        return try db.foreignKeys(on: originTable)
    }

    private func paired(_ origin: [String], _ destination: [String], _ db: Database) throws -> [(
        origin: String, destination: String
    )] {
        guard !origin.isEmpty, origin.count == destination.count else {
            throw error("Could not infer foreign key", db)
        }
        return zip(origin, destination).map { (origin: $0, destination: $1) }
    }

    private static func areSame(_ lhs: [String], _ rhs: [String]) -> Bool {
        Set(lhs.map(CaseInsensitiveName.init)) == Set(rhs.map(CaseInsensitiveName.init))
    }

    private func error(_ problem: String, _ db: Database) -> DatabaseError {
        var message = "\(problem) from '\(originTable)' to '\(destinationTable)'"
        if let columns = foreignKey?.originColumns {
            message += " on the columns (\(columns.joined(separator: ", ")))"
        }
        if let columns = foreignKey?.destinationColumns {
            message += " to (\(columns.joined(separator: ", ")))"
        }
        let found = ((try? schemaForeignKeys(db)) ?? []).map { key in
            "(\(key.originColumns.joined(separator: ", "))) to "
                + "\(key.destinationTable)(\(key.destinationColumns.joined(separator: ", ")))"
        }
        message +=
            found.isEmpty ? ". The schema has none" : ". The schema has: " + found.joined(separator: "; ")
        return DatabaseError.misuse(
            message + ". Give the association a ForeignKey, with columns of both tables if need be.")
    }
}

extension SQLForeignKey: Equatable {
    static func == (lhs: SQLForeignKey, rhs: SQLForeignKey) -> Bool {
        CaseInsensitiveName(lhs.originTable) == CaseInsensitiveName(rhs.originTable)
            && CaseInsensitiveName(lhs.destinationTable) == CaseInsensitiveName(rhs.destinationTable)
            && lhs.foreignKey == rhs.foreignKey
    }
}

extension Database {
    /// Returns the columns of the primary key of a table, or nil for a view.
    ///
    /// - Throws: a ``DatabaseError`` if there is no table or view with this name.
    fileprivate func primaryKeyOfTable(_ tableName: String) throws -> [String]? {
        if try !tableExists(tableName), try viewExists(tableName) { return nil }
        return try primaryKey(tableName).columns
    }
}
