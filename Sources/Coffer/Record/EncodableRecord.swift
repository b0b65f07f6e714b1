public import Foundation

/// A type that provides the values of its columns.
///
///     extension Share: EncodableRecord {
///         func encode(to container: inout PersistenceContainer) {
///             (container["itemId"], container["guestId"]) = (item.id, guest.id)
///             container["expiry"] = expiry?.startOfDay
///         }
///     }
///
/// An `Encodable` type needs no such function: each coding key is the name of a column. Values that are not
/// database values are stored as JSON.
public protocol EncodableRecord {
    /// Sets the values of the columns.
    func encode(to container: inout PersistenceContainer) throws

    /// The `userInfo` of the encoder, for `Encodable` records.
    ///
    /// Declare it as `[CodingUserInfoKey: Any]`. Otherwise the compiler may infer another type, and the
    /// property is ignored.
    static var databaseEncodingUserInfo: [CodingUserInfoKey: Any] { get }

    /// Returns the encoder for a column that contains JSON.
    ///
    /// By default, dates are encoded as milliseconds since 1970, data as base 64, and keys are sorted. Keep
    /// them sorted in a custom encoder: equal values must be stored as equal text. Otherwise they are saved
    /// and observed as changes.
    static func databaseJSONEncoder(for column: String) -> JSONEncoder

    /// Returns the strategy for storing data in a column, for `Encodable` records and for keys that records
    /// are looked up by.
    static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy

    /// Returns the strategy for storing dates in a column, for `Encodable` records and for keys that records
    /// are looked up by.
    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy

    /// Returns the strategy for storing UUIDs in a column, for `Encodable` records and for keys that records
    /// are looked up by.
    static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy

    /// The conversion of coding keys to column names, for `Encodable` records.
    static var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy { get }
}

extension EncodableRecord {
    public static var databaseEncodingUserInfo: [CodingUserInfoKey: Any] { [:] }

    public static func databaseJSONEncoder(for column: String) -> JSONEncoder { .forStoredValues }

    public static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy {
        .deferredToData
    }

    public static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        .deferredToDate
    }

    public static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
        .deferredToUUID
    }

    public static var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy { .useDefaultKeys }
}

// MARK: - Comparing

extension EncodableRecord {
    /// The values of the columns, by column name.
    public var databaseDictionary: [String: DatabaseValue] {
        get throws { try PersistenceContainer(self).databaseDictionary }
    }

    /// Returns true if both records have the same columns with the same values.
    ///
    /// A record that cannot be encoded is not equal to any record.
    ///
    ///     let isUnchanged = mended.databaseEquals(item)
    public func databaseEquals(_ record: Self) -> Bool {
        guard let lhs = try? databaseDictionary, let rhs = try? record.databaseDictionary else {
            return false
        }
        return lhs == rhs
    }

    /// Returns the columns whose values differ from the values of another record, with the values of the
    /// other record.
    ///
    /// Only the columns of this record are compared. A column that the other record does not have is NULL.
    ///
    ///     let changes = try mended.databaseChanges(from: item)  // the old values of the columns that differ
    public func databaseChanges(from record: some EncodableRecord) throws -> [String: DatabaseValue] {
        try PersistenceContainer(self).changes(from: PersistenceContainer(record))
    }

    /// Changes the record and returns the changed columns, with their values before the change.
    ///
    /// If `modify` throws, the record keeps the changes made before the error.
    public mutating func databaseChanges(modify: (inout Self) throws -> Void) throws -> [String:
        DatabaseValue]
    {
        // Encoded before the change, because a copy of a class instance does not keep the old values.
        let old = try PersistenceContainer(self)
        try modify(&self)
        return try PersistenceContainer(self).changes(from: old)
    }
}

extension EncodableRecord where Self: Encodable {
    /// Sets the value of a column for each coding key.
    public func encode(to container: inout PersistenceContainer) throws {
        try RecordEncoder.encode(self, to: &container)
    }
}
