// The errors of records that are not in the database.

extension TableRecord {
    /// The error that says that there is no row with a primary key.
    ///
    ///     guard let item = try Item.fetchOne(db, key: 12) else { throw Item.recordNotFound(db, key: 12) }
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - key: the value of the primary key, or the values of the columns of a unique key.
    /// - Returns: ``RecordError/recordNotFound(databaseTableName:key:)`` with the name of the key's column,
    ///   or the error of reading the schema.
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

    /// The error that says that there is no row with a primary or unique key.
    public static func recordNotFound(key: [String: (any DatabaseValueConvertible)?]) -> RecordError {
        .recordNotFound(
            databaseTableName: databaseTableName, key: key.mapValues { $0?.databaseValue ?? .null })
    }
}

extension TableRecord where Self: Identifiable, ID: DatabaseValueConvertible {
    /// The error that says that there is no row with an ID: see ``recordNotFound(_:key:)``.
    ///
    /// - Parameters:
    ///   - db: the connection of the access.
    ///   - id: the value of the primary key.
    public static func recordNotFound(_ db: Database, id: Self.ID) -> any Error {
        recordNotFound(db, key: id)
    }
}

extension TableRecord where Self: EncodableRecord {
    /// The error that says that the row of this record does not exist.
    ///
    /// - Returns: ``RecordError/recordNotFound(databaseTableName:key:)`` with the primary key of the record,
    ///   or the error of encoding the record or of reading the schema.
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
