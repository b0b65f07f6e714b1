public import Foundation

/// A type that can be made of a database row.
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
/// A type that is `Decodable` needs no initializer: each coding key is the name of a column. Values that are
/// no database values are read from JSON.
public protocol FetchableRecord {
    /// Creates a record from a row.
    ///
    /// While records are fetched, all rows are the same object, which changes with each step: copy the row to
    /// keep it.
    init(row: Row) throws

    /// What `Decodable` records find in `userInfo` of their decoder.
    ///
    /// Declare it as `[CodingUserInfoKey: Any]`, or the compiler takes it for something else.
    static var databaseDecodingUserInfo: [CodingUserInfoKey: Any] { get }

    /// The decoder for a column that holds JSON. Dates are numbers of milliseconds since 1970 by default, and
    /// data is in base 64.
    static func databaseJSONDecoder(for column: String) -> JSONDecoder

    /// How data is read from a column, in `Decodable` records.
    static func databaseDataDecodingStrategy(for column: String) -> DatabaseDataDecodingStrategy

    /// How a date is read from a column, in `Decodable` records.
    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy

    /// How the names of columns become coding keys, in `Decodable` records.
    static var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy { get }
}

extension FetchableRecord {
    public static var databaseDecodingUserInfo: [CodingUserInfoKey: Any] { [:] }

    public static func databaseJSONDecoder(for column: String) -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dataDecodingStrategy = .base64
        decoder.dateDecodingStrategy = .millisecondsSince1970
        decoder.nonConformingFloatDecodingStrategy = .throw
        return decoder
    }

    public static func databaseDataDecodingStrategy(for column: String) -> DatabaseDataDecodingStrategy {
        .deferredToData
    }

    public static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        .deferredToDate
    }

    public static var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy { .useDefaultKeys }
}

extension FetchableRecord where Self: Decodable {
    /// Creates a record from a row, whose columns are the coding keys of the record.
    ///
    /// - Throws: a ``RowDecodingError`` for a missing column and for a value that does not fit, and what the
    ///   decoding of JSON throws.
    @inlinable
    public init(row: Row) throws {
        try self.init(from: row.decoder(for: Self.self))
    }
}

/// Decodes records from rows, for those who write `init(row:)` of a `Decodable` record by hand.
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
