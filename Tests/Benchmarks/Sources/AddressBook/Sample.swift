import Foundation

/// The people in the address book, identical in each run.
enum Sample {
    static func id(_ number: UInt8) -> UUID {
        UUID(uuid: (number, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
    }

    static func date(_ seconds: Double) -> Date { Date(timeIntervalSince1970: seconds) }

    static func contacts(family: Int64?, work: Int64?) -> [Contact] {
        [
            Contact(
                id: id(1), name: "Alice", kind: .family, birthday: date(86_400),
                createdAt: date(1_000_000.125), score: 1.5,
                isFavorite: true, photo: Data([1, 2, 3]), tags: ["a", "b \"quoted\""],
                address: Contact.Address(street: "Hauptstraße 1", city: "Köln", postalCode: "50667"),
                circleId: family),
            Contact(
                id: id(2), name: "bob", kind: .colleague, birthday: nil, createdAt: date(1_600_000_000),
                score: -2.5,
                isFavorite: false, photo: nil, tags: [], address: nil, circleId: work),
            Contact(
                id: id(3), name: "Zoe", kind: .family, birthday: date(-86_400 * 365),
                createdAt: date(1_700_000_000.999), score: 3.5,
                isFavorite: true, photo: Data(), tags: ["/", "é", "日本"],
                address: Contact.Address(street: "1, rue d'Été", city: "Paris"), circleId: family),
            Contact(
                id: id(4), name: "Dmitri O'Brien", kind: .friend, birthday: date(1_234_567_890),
                createdAt: date(0), score: 2,
                isFavorite: false, photo: nil, tags: ["x"], address: nil, circleId: nil),
        ]
    }

    static let phones = [
        PhoneNumber(
            contact: id(1), label: "home", number: "+49 221 1234", verifiedAt: date(1_500_000_000.75)),
        PhoneNumber(contact: id(1), label: "work", number: "+49 221 5678", verifiedAt: nil),
        PhoneNumber(contact: id(3), label: "mobile", number: "+33 1 2345", verifiedAt: date(0)),
    ]

    static func text(_ contact: Contact?) -> String {
        guard let contact else { return "nil" }
        let birthday = contact.birthday.map { "\($0.timeIntervalSince1970)" } ?? "-"
        let address = contact.address.map { "\($0.street)/\($0.city)/\($0.postalCode ?? "-")" } ?? "-"
        return """
            \(contact.id) \(contact.name) \(contact.kind) \(birthday) \(contact.createdAt.timeIntervalSince1970) \(contact.score) \(contact.isFavorite) \(contact.photo.map { "\(Array($0))" } ?? "-") \(contact.tags) \(address) \(contact.circleId ?? 0)
            """
    }
}
