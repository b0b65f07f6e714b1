import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

@Suite("Keys in snake case, and data stored as text")
struct StoredKeyAndTextTests {
    @Test(
        "keys are converted to snake case as by Foundation's encoder",
        arguments: [
            ("HTML", "h_tml"), ("ID", "i_d"), ("myURLProperty", "my_url_property"),
            ("firstName", "first_name"), ("a1B", "a1_b"),
            ("x", "x"), ("HTMLText", "h_tml_text"), ("aB1c", "a_b_1c"), ("_x", "_x"), ("éCole", "é_cole"),
        ])
    func snakeCase(key: String, column: String) {
        #expect(key.convertedToSnakeCase == column)
        #expect(key.convertedToSnakeCase == foundation(key))
    }

    @Test("any key is written as Foundation's encoder writes it")
    func randomKeys() {
        var random = SeededRandom("snake case")
        for _ in 0..<5000 {
            let key = String(
                (0..<Int.random(in: 1...9, using: &random)).compactMap { _ in
                    "abYZ09_éÉß漢".randomElement(using: &random)
                })
            #expect(key.convertedToSnakeCase == foundation(key), "\(key)")
        }
    }

    private func foundation(_ key: String) -> String? {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        struct Keyed: Encodable {
            struct Key: CodingKey {
                let stringValue: String
                var intValue: Int? { nil }
                init(stringValue: String) { self.stringValue = stringValue }
                init?(intValue: Int) { nil }
            }
            let key: String
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Key.self)
                try container.encode(1, forKey: Key(stringValue: key))
            }
        }
        guard let data = try? encoder.encode(Keyed(key: key)) else { return nil }
        return (try? JSONDecoder().decode([String: Int].self, from: data))?.keys.first
    }

    private struct Item: Codable, FetchableRecord, PersistableRecord {
        static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy { .text }
        var id: Data
        var body: Data?
        var wrapped: Wrapped?
    }

    private struct Wrapped: Codable {
        var data: Data
        init(_ data: Data) { self.data = data }
        init(from decoder: any Decoder) throws { data = try decoder.singleValueContainer().decode(Data.self) }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(data)
        }
    }

    @Test("storing data that is not UTF-8 as text is an error")
    func text() throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: "CREATE TABLE item (id TEXT PRIMARY KEY, body TEXT, wrapped TEXT)")
            let good = Data("é".utf8)
            let bad = Data([0x41, 0xFF, 0x42])
            try Item(id: good, body: good, wrapped: Wrapped(good)).insert(db)
            for item in [
                Item(id: bad), Item(id: Data(), body: bad),
                Item(id: Data(), body: nil, wrapped: Wrapped(bad)),
            ] {
                #expect(throws: EncodingError.self) { try item.insert(db) }
            }
            #expect(throws: EncodingError.self) { try Item.fetchOne(db, key: bad) }
            #expect(throws: EncodingError.self) { try Item.filter(key: bad).fetchOne(db) }
            #expect(
                try Row.fetchAll(db, sql: "SELECT * FROM item") == [["id": "é", "body": "é", "wrapped": "é"]])
            #expect(try Item.fetchOne(db, key: good)?.body == good)
        }
    }
}
