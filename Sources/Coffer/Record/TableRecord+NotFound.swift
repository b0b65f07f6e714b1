// The errors of records that are not in the database.

extension TableRecord {
    /// Returns the error for a missing row with a primary key.
    ///
    ///     guard let item = try Item.fetchOne(db, key: 12) else { throw Item.recordNotFound(db, key: 12) }
    ///
    /// - Parameter key: the value of the primary key, which must have one column.
    /// - Returns: ``RecordError/recordNotFound(databaseTableName:key:)`` with the name of the key's column,
    ///   or the error from reading the schema.
    public static func recordNotFound(_ db: Database, key: some DatabaseValueConvertible) -> any Error {
        do {
            let columns = try db.primaryKey(databaseTableName).columns
            return RecordError.recordNotFound(
                databaseTableName: databaseTableName,
                key: [columns[0]: try encodedKey(key, column: columns[0]).databaseValue])
        } catch {
            return error
        }
    }

    /// Returns the error for a missing row with a primary or unique key.
    public static func recordNotFound(key: [String: (any DatabaseValueConvertible)?]) -> RecordError {
        .recordNotFound(
            databaseTableName: databaseTableName, key: key.mapValues { $0?.databaseValue ?? .null })
    }
}

extension TableRecord where Self: Identifiable, ID: DatabaseValueConvertible {
    /// Returns the error for a missing row with an ID: see ``recordNotFound(_:key:)``.
    ///
    /// - Parameter id: the value of the primary key.
    public static func recordNotFound(_ db: Database, id: Self.ID) -> any Error {
        recordNotFound(db, key: id)
    }
}

extension TableRecord where Self: EncodableRecord {
    /// Returns the error for a missing row of this record.
    ///
    /// - Returns: ``RecordError/recordNotFound(databaseTableName:key:)`` with the primary key of the record,
    ///   or the error from encoding the record or reading the schema.
    public func recordNotFound(_ db: Database) -> any Error {
        do {
            let container = try PersistenceContainer(self)
            let key = try db.primaryKey(Self.databaseTableName).columns.map {
                ($0, container[$0]?.databaseValue ?? .null)
            }
            return RecordError.recordNotFound(
                databaseTableName: Self.databaseTableName,
                key: Dictionary(key, uniquingKeysWith: { first, _ in first }))
        } catch {
            return error
        }
    }
}
