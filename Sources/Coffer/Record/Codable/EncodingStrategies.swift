public import Foundation

/// A strategy for converting coding keys to column names.
public enum DatabaseColumnEncodingStrategy: Sendable {
    /// A key and its column have the same name.
    case useDefaultKeys

    /// The key `teamId` has the column `team_id`.
    case convertToSnakeCase

    /// A function returns the column of a key.
    case custom(@Sendable (any CodingKey) -> String)

    /// The conversion of keys to column names; nil if they are the same.
    var column: ((any CodingKey) -> String)? {
        switch self {
        case .useDefaultKeys: nil
        case .convertToSnakeCase: { $0.stringValue.convertedToSnakeCase }
        case .custom(let column): column
        }
    }
}

/// A strategy for storing `Data`.
public enum DatabaseDataEncodingStrategy: Sendable {
    /// A blob.
    case deferredToData

    /// Text, for data that is valid UTF-8. Other data throws an `EncodingError`.
    case text

    /// A function converts the value; nil is stored as NULL.
    case custom(@Sendable (Data) -> (any DatabaseValueConvertible)?)

    func encode(_ data: Data, column: String? = nil) throws -> (any DatabaseValueConvertible)? {
        switch self {
        case .deferredToData: return data
        case .text:
            guard let text = String(validating: data, as: UTF8.self) else {
                let place = column.map { " of column \($0.quotedDatabaseIdentifier)" } ?? ""
                throw EncodingError.invalidValue(
                    data,
                    EncodingError.Context(
                        codingPath: [],
                        debugDescription: "The data\(place) must be UTF-8 to be stored as text."))
            }
            return text
        case .custom(let encode): return encode(data)
        }
    }
}

/// A strategy for storing `Date`.
public enum DatabaseDateEncodingStrategy: Sendable {
    /// The text `YYYY-MM-DD HH:MM:SS.SSS` in UTC.
    case deferredToDate

    /// A number of seconds since 2001-01-01, with fractions.
    case timeIntervalSinceReferenceDate

    /// A number of seconds since 1970-01-01, with fractions.
    case timeIntervalSince1970

    /// An integer number of seconds since 1970-01-01, rounded down. A date beyond the range of integers
    /// throws an `EncodingError`.
    case secondsSince1970

    /// An integer number of milliseconds since 1970-01-01, rounded down. A date beyond the range of integers
    /// throws an `EncodingError`.
    case millisecondsSince1970

    /// Text such as `2026-02-28T12:00:00Z`. Fractions of a second are truncated. A date outside the years
    /// 0000 to 9999 throws an `EncodingError`.
    case iso8601

    /// Text in the format of the formatter.
    case formatted(DateFormatter)

    /// A function converts the value; nil is stored as NULL.
    case custom(@Sendable (Date) -> (any DatabaseValueConvertible)?)

    func encode(_ date: Date) throws -> (any DatabaseValueConvertible)? {
        switch self {
        case .deferredToDate: return date
        case .timeIntervalSinceReferenceDate: return date.timeIntervalSinceReferenceDate
        case .timeIntervalSince1970: return date.timeIntervalSince1970
        case .secondsSince1970: return try integer(date, date.timeIntervalSince1970)
        case .millisecondsSince1970: return try integer(date, date.timeIntervalSince1970 * 1000)
        case .iso8601:
            guard DatabaseDateEncodingStrategy.datesOfFourDigits.contains(date) else {
                throw outOfRange(date)
            }
            return date.internetDateTime
        case .formatted(let formatter): return formatter.string(from: date)
        case .custom(let encode): return encode(date)
        }
    }

    /// The dates of the years 0000 to 9999.
    private static let datesOfFourDigits =
        Date(timeIntervalSince1970: -62_167_219_200)..<Date(timeIntervalSince1970: 253_402_300_800)

    /// Returns a number of a date, rounded down.
    private func integer(_ date: Date, _ number: Double) throws -> Int64 {
        guard let integer = Int64(exactly: number.rounded(.down)) else { throw outOfRange(date) }
        return integer
    }

    private func outOfRange(_ date: Date) -> EncodingError {
        // Foundation cannot describe all dates.
        EncodingError.invalidValue(
            date.timeIntervalSince1970,
            EncodingError.Context(
                codingPath: [],
                debugDescription: "The date is outside the range of its strategy."))
    }
}

/// A strategy for storing `UUID`. All of these forms can be read.
public enum DatabaseUUIDEncodingStrategy: Hashable, Sendable {
    /// A blob of 16 bytes.
    case deferredToUUID

    /// Text such as `3F2504E0-4F89-41D3-9A0C-5D1C0FFE2301`.
    case uppercaseString

    /// Text such as `3f2504e0-4f89-41d3-9a0c-5d1c0ffe2301`.
    case lowercaseString

    func encode(_ uuid: UUID) -> any DatabaseValueConvertible {
        switch self {
        case .deferredToUUID: uuid
        case .uppercaseString: uuid.uuidString
        case .lowercaseString: uuid.uuidString.lowercased()
        }
    }
}
