import Foundation
#if GRDB
import GRDB
#else
import Coffer
#endif

/// A phone number of a contact, with column names that differ from its property names, and with dates as
/// numbers.
struct PhoneNumber: Codable, Hashable {
    var contact: UUID
    var label: String
    var number: String
    var verifiedAt: Date?

    enum CodingKeys: String, CodingKey {
        case contact = "contactId"
        case label
        case number
        case verifiedAt = "verified_at"
    }
}

extension PhoneNumber: FetchableRecord, PersistableRecord {
    static let databaseTableName = "phone"

    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        .secondsSince1970
    }
    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        .timeIntervalSince1970
    }
    static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
        .uppercaseString
    }
}
