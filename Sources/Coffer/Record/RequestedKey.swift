internal import Foundation

/// A value that rows are looked up by, as it was given: a record type may store it in another form.
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

    /// Whether record types have a say in how values of the type are stored.
    static func mayDependOnRecord(_ type: any Any.Type) -> Bool {
        type == UUID.self || type == Date.self || type == Data.self || type == UUID?.self
            || type == Date?.self || type == Data?.self
    }

    var isNull: Bool {
        if case .value(let value) = self { value.isNull } else { false }
    }
}

/// How keys of a type of rows are stored.
// @unchecked: a type has no state of its own, and its strategies are static.
struct KeyStorage: @unchecked Sendable {
    /// Nil for rows that are no records that can be written.
    private let record: (any EncodableRecord.Type)?

    init(_ type: any Any.Type) { record = type as? any EncodableRecord.Type }

    /// The value as it is stored in a column: by the strategies of the record type, which hold for keys too.
    ///
    /// - Throws: `EncodingError` for data that cannot be stored as its strategy wants it.
    func stored(_ key: RequestedKey, in column: String) throws -> DatabaseValue {
        let value: (any DatabaseValueConvertible)? =
            switch key {
            case .value(let value): value
            case .date(let date):
                record.map { $0.databaseDateEncodingStrategy(for: column).encode(date) } ?? date
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
    /// A key as the type stores it.
    static func encodedKey(_ key: some DatabaseValueConvertible, column: String) throws
        -> any DatabaseValueConvertible
    {
        guard RequestedKey.mayDependOnRecord(type(of: key)), self is any EncodableRecord.Type else {
            return key
        }
        return try KeyStorage(self).stored(RequestedKey(key), in: column)
    }
}
