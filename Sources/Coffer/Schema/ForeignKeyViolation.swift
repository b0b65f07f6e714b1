/// A row that refers to a missing row: see ``Database/foreignKeyViolations()``.
public struct ForeignKeyViolation: Sendable {
    /// The table of the referring row.
    public var originTable: String

    /// The row ID of the referring row; nil if its table was created `WITHOUT ROWID`.
    public var originRowID: Int64?

    /// The table of the missing row.
    public var destinationTable: String

    /// The number of the violated foreign key within its table: see ``ForeignKeyInfo/id``.
    public var foreignKeyId: Int

    /// The schema of both tables.
    var schemaID: DatabaseSchemaID

    /// Returns a description with the columns of the foreign key and the values of the row, which may be
    /// confidential.
    ///
    /// For example: `FOREIGN KEY constraint violation - from share(itemId) to item(id), in [itemId:8
    /// guestId:3 expiry:NULL]`.
    public func failureDescription(_ db: Database) throws -> String {
        var origin = originTable
        var destination = destinationTable
        if let foreignKey = try violatedForeignKey(db) {
            origin += "(\(foreignKey.originColumns.joined(separator: ", ")))"
            destination += "(\(foreignKey.destinationColumns.joined(separator: ", ")))"
        }
        var description = "FOREIGN KEY constraint violation - from \(origin) to \(destination)"
        if let row = try originRow(db) {
            description += ", in \(row.description)"
        }
        return description
    }

    /// Returns an error of code `SQLITE_CONSTRAINT_FOREIGNKEY`, as SQLite would throw it for this violation.
    ///
    /// - Returns: an error whose message is ``failureDescription(_:)``, which contains the values of the row
    ///   and may be confidential; or ``description`` if that fails.
    public func databaseError(_ db: Database) -> DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_CONSTRAINT_FOREIGNKEY, message: (try? failureDescription(db)) ?? description)
    }

    /// Returns the violated foreign key, or nil if its columns cannot be determined because it names none and
    /// its destination table does not exist.
    private func violatedForeignKey(_ db: Database) throws -> ForeignKeyInfo? {
        do {
            return try db.foreignKeys(on: originTable, in: schemaID.name).first { $0.id == foreignKeyId }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            return nil
        }
    }

    private func originRow(_ db: Database) throws -> Row? {
        guard let originRowID, let rowIDName = try db.rowIDName(of: originTable, in: schemaID.name) else {
            return nil
        }
        let table = DatabaseObjectID(name: originTable, schemaID: schemaID).quotedDatabaseIdentifier
        return try Row.fetchOne(
            db, sql: "SELECT * FROM \(table) WHERE \(rowIDName.quotedDatabaseIdentifier) = ?",
            arguments: [originRowID])
    }
}

extension ForeignKeyViolation: FetchableRecord {
    /// Creates a violation from a row of `PRAGMA foreign_key_check`. An extra fifth column is the schema,
    /// which is `main` by default.
    ///
    /// - Precondition: the row has the columns of this pragma.
    public init(row: Row) {
        originTable = row[0]
        originRowID = row[1]
        destinationTable = row[2]
        foreignKeyId = row[3]
        schemaID = row.count > 4 ? .attached(row[4]) : .main
    }
}

extension ForeignKeyViolation: CustomStringConvertible {
    /// A description without the values of the row. See ``failureDescription(_:)``.
    public var description: String {
        let place = originRowID.map { ", in rowid \($0)" } ?? ""
        return "FOREIGN KEY constraint violation - from \(originTable) to \(destinationTable)\(place)"
    }
}
