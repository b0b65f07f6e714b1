public import Foundation

/// A type that knows the values of its columns.
///
///     extension Share: EncodableRecord {
///         func encode(to container: inout PersistenceContainer) {
///             (container["itemId"], container["guestId"]) = (item.id, guest.id)
///             container["expiry"] = expiry?.startOfDay
///         }
///     }
///
/// A type that is `Encodable` needs no such function: each coding key is the name of a column. Values that
/// are no database values are stored as JSON.
public protocol EncodableRecord {
    /// Sets the values of the columns.
    func encode(to container: inout PersistenceContainer) throws

    /// What `Encodable` records find in `userInfo` of their encoder.
    ///
    /// Declare it as `[CodingUserInfoKey: Any]`, or the compiler takes it for something else.
    static var databaseEncodingUserInfo: [CodingUserInfoKey: Any] { get }

    /// The encoder for a column that holds JSON.
    ///
    /// By default, dates are numbers of milliseconds since 1970, data is in base 64, and keys are sorted.
    /// Keep them sorted in your own: equal values must be stored as equal text, or they are saved and
    /// observed as changes.
    static func databaseJSONEncoder(for column: String) -> JSONEncoder

    /// How data is stored in a column, in `Encodable` records, and in keys that records are looked up by.
    static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy

    /// How a date is stored in a column, in `Encodable` records, and in keys that records are looked up by.
    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy

    /// How a UUID is stored in a column, in `Encodable` records, and in keys that records are looked up by.
    static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy

    /// How coding keys become the names of columns, in `Encodable` records.
    static var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy { get }
}

extension EncodableRecord {
    public static var databaseEncodingUserInfo: [CodingUserInfoKey: Any] { [:] }

    public static func databaseJSONEncoder(for column: String) -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dataEncodingStrategy = .base64
        encoder.dateEncodingStrategy = .millisecondsSince1970
        encoder.nonConformingFloatEncodingStrategy = .throw
        encoder.outputFormatting = .sortedKeys
        return encoder
    }

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
    /// The values of the columns, by their names.
    public var databaseDictionary: [String: DatabaseValue] {
        get throws { try PersistenceContainer(self).databaseDictionary }
    }

    /// Whether both records have the same columns with the same values.
    ///
    /// A record that cannot be encoded equals none.
    ///
    ///     let isUnchanged = mended.databaseEquals(item)
    public func databaseEquals(_ record: Self) -> Bool {
        guard let lhs = try? databaseDictionary, let rhs = try? record.databaseDictionary else {
            return false
        }
        return lhs == rhs
    }

    /// The columns whose values differ from those of another record, with the values that they have there.
    ///
    /// Only columns of this record are compared; what the other record does not have is NULL.
    ///
    ///     let changes = try mended.databaseChanges(from: item)  // the former values of columns that differ
    public func databaseChanges(from record: some EncodableRecord) throws -> [String: DatabaseValue] {
        try PersistenceContainer(self).changes(from: PersistenceContainer(record))
    }

    /// Changes the record, and returns the columns that have changed, with the values that they had before.
    ///
    /// If `modify` throws, the record keeps the changes that were made until then.
    public mutating func databaseChanges(modify: (inout Self) throws -> Void) throws -> [String:
        DatabaseValue]
    {
        // Encoded before, because a class does not keep its old values in a copy.
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
