internal import Foundation

/// A value that rows are looked up by, in the form in which it was given. A record type may store it in
/// another form.
enum RequestedKey: Sendable {
    case value(DatabaseValue)
    case date(Date)
    case data(Data)
    case uuid(UUID)

    init(_ key: some DatabaseValueConvertible) {
        guard RequestedKey.mayDependOnRecord(type(of: key)) else {
            self = .value(key.databaseValue)
            return
        }
        self =
            switch key {
            case let date as Date: .date(date)
            case let data as Data: .data(data)
            case let uuid as UUID: .uuid(uuid)
            default: .value(key.databaseValue)
            }
    }

    /// Returns true if record types can determine how values of the type are stored.
    static func mayDependOnRecord(_ type: any Any.Type) -> Bool {
        type == UUID.self || type == Date.self || type == Data.self || type == UUID?.self
            || type == Date?.self || type == Data?.self
    }

    var isNull: Bool {
        if case .value(let value) = self { value.isNull } else { false }
    }
}

/// The conversion of keys to their stored form, for a type of rows.
// @unchecked: a type has no state of its own, and its strategies are static.
struct KeyStorage: @unchecked Sendable {
    /// Nil if rows are not encodable records.
    private let record: (any EncodableRecord.Type)?

    init(_ type: any Any.Type) { record = type as? any EncodableRecord.Type }

    /// Returns the stored form of a key in a column. The strategies of the record type also apply to keys.
    ///
    /// - Throws: `EncodingError` for data or a date that its strategy cannot store.
    func stored(_ key: RequestedKey, in column: String) throws -> DatabaseValue {
        let value: (any DatabaseValueConvertible)? =
            switch key {
            case .value(let value): value
            case .date(let date):
                try record.map { try $0.databaseDateEncodingStrategy(for: column).encode(date) } ?? date
            case .data(let data):
                try record.map {
                    try $0.databaseDataEncodingStrategy(for: column).encode(data, column: column)
                } ?? data
            case .uuid(let uuid):
                record.map { $0.databaseUUIDEncodingStrategy(for: column).encode(uuid) } ?? uuid
            }
        return value?.databaseValue ?? .null
    }
}

extension TableRecord {
    /// Returns a key in the form in which the type stores it.
    static func encodedKey(_ key: some DatabaseValueConvertible, column: String) throws
        -> any DatabaseValueConvertible
    {
        guard RequestedKey.mayDependOnRecord(type(of: key)), self is any EncodableRecord.Type else {
            return key
        }
        return try KeyStorage(self).stored(RequestedKey(key), in: column)
    }
}
