public import Foundation

/// A type that can be decoded from a database row.
///
///     struct Attachment: FetchableRecord {
///         let fileName: String
///         let kilobytes: Int
///
///         init(row: Row) throws {
///             fileName = row["fileName"]
///             kilobytes = (row["size"] as Int) / 1024
///         }
///     }
///
///     let attachments = try Attachment.fetchAll(db, sql: "SELECT fileName, size FROM attachment")
///
/// A `Decodable` type needs no such initializer: each coding key is the name of a column. Values that are not
/// database values are decoded from JSON.
public protocol FetchableRecord {
    /// Creates a record from a row.
    ///
    /// While records are fetched, all rows are the same object, which changes with each step. Copy the row to
    /// keep it.
    init(row: Row) throws

    /// The `userInfo` of the decoder, for `Decodable` records.
    ///
    /// Declare it as `[CodingUserInfoKey: Any]`. Otherwise the compiler may infer another type, and the
    /// property is ignored.
    static var databaseDecodingUserInfo: [CodingUserInfoKey: Any] { get }

    /// Returns the decoder for a column that contains JSON. By default, dates are milliseconds since 1970,
    /// and data is in base 64.
    static func databaseJSONDecoder(for column: String) -> JSONDecoder

    /// Returns the strategy for reading data from a column, for `Decodable` records.
    static func databaseDataDecodingStrategy(for column: String) -> DatabaseDataDecodingStrategy

    /// Returns the strategy for reading dates from a column, for `Decodable` records.
    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy

    /// The conversion of column names to coding keys, for `Decodable` records.
    static var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy { get }
}

extension FetchableRecord {
    public static var databaseDecodingUserInfo: [CodingUserInfoKey: Any] { [:] }

    public static func databaseJSONDecoder(for column: String) -> JSONDecoder { .forStoredValues }

    public static func databaseDataDecodingStrategy(for column: String) -> DatabaseDataDecodingStrategy {
        .deferredToData
    }

    public static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        .deferredToDate
    }

    public static var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy { .useDefaultKeys }
}

extension FetchableRecord where Self: Decodable {
    /// Creates a record from a row with a column for each coding key.
    ///
    /// - Throws: a ``RowDecodingError`` for a missing column or a value that cannot be converted, and any
    ///   error from decoding JSON.
    @inlinable
    public init(row: Row) throws {
        try self.init(from: row.decoder(for: Self.self))
    }
}

/// A decoder of records from rows, for a `Decodable` record with an `init(row:)` of its own.
///
///     init(row: Row) throws {
///         self = try FetchableRecordDecoder().decode(Self.self, from: row)
///         isFavorite = row["favorite"]
///     }
public class FetchableRecordDecoder {
    public init() {}

    /// Decodes a record from a row: see ``FetchableRecord``.
    public func decode<T: FetchableRecord & Decodable>(_ type: T.Type, from row: Row) throws -> T {
        try T(from: row.decoder(for: type))
    }
}
