import Foundation
#if GRDB
import GRDB
#else
import Coffer
#endif

/// A person, with a UUID, dates, and JSON columns.
struct Contact: Codable, Identifiable, Hashable {
    struct Address: Codable, Hashable {
        var street: String
        var city: String
        var postalCode: String?
    }

    enum Kind: String, Codable, DatabaseValueConvertible {
        case friend, family, colleague
    }

    var id: UUID
    var name: String
    var kind: Kind
    var birthday: Date?
    var createdAt: Date
    var score: Double
    var isFavorite: Bool
    var photo: Data?
    var tags: [String]
    var address: Address?
    var circleId: Int64?
}

extension Contact: FetchableRecord, PersistableRecord {
    enum Columns {
        static let id = Column(CodingKeys.id)
        static let name = Column(CodingKeys.name)
        static let kind = Column(CodingKeys.kind)
        static let birthday = Column(CodingKeys.birthday)
        static let score = Column(CodingKeys.score)
        static let isFavorite = Column(CodingKeys.isFavorite)
        static let circleId = Column(CodingKeys.circleId)
    }
}

extension QueryInterfaceRequest<Contact> {
    func favorites() -> Self { filter(Contact.Columns.isFavorite == true) }
    func orderedByName() -> Self { order(Contact.Columns.name.collating(.nocase), Contact.Columns.id) }
}
