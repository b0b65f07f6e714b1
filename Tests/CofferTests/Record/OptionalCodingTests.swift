import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Optionals that are encoded and decoded by hand")
struct OptionalCodingTests {
    private struct Size: Codable, Equatable {
        var width: Int
    }

    /// A record that encodes and decodes optionals directly, whereas generated code would use
    /// `encodeIfPresent` and `decodeIfPresent`.
    private struct Event: Codable, FetchableRecord, PersistableRecord, Equatable {
        static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
            .secondsSince1970
        }
        static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
            .timeIntervalSince1970
        }
        static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
            .lowercaseString
        }
        static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy { .text }

        enum CodingKeys: String, CodingKey {
            case id, date, token, data, size, name
        }

        var id: Int64
        var date: Date?
        var token: UUID?
        var data: Data?
        var size: Size?
        var name: String?

        init(
            id: Int64, date: Date? = nil, token: UUID? = nil, data: Data? = nil, size: Size? = nil,
            name: String? = nil
        ) {
            self.id = id
            self.date = date
            self.token = token
            self.data = data
            self.size = size
            self.name = name
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(Int64.self, forKey: .id)
            date = try container.decode(Date?.self, forKey: .date)
            token = try container.decode(UUID?.self, forKey: .token)
            data = try container.decode(Data?.self, forKey: .data)
            size = try container.decode(Size?.self, forKey: .size)
            name = try container.decode(String?.self, forKey: .name)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(id, forKey: .id)
            try container.encode(date, forKey: .date)
            try container.encode(token, forKey: .token)
            try container.encode(data, forKey: .data)
            try container.encode(size, forKey: .size)
            try container.encode(name, forKey: .name)
        }
    }

    @Test("are stored and read with the strategies of the record type", arguments: Access.allCases)
    func strategies(access: Access) throws {
        try withTestDirectory { directory in
            let database = try directory.make(access)
            let token = try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
            let full = Event(
                id: 1, date: Date(timeIntervalSince1970: 86400), token: token, data: Data("ab".utf8),
                size: Size(width: 3), name: "x")
            let empty = Event(id: 2)
            try database.write { db in
                try db.execute(
                    sql: "CREATE TABLE event (id INTEGER PRIMARY KEY, date, token, data, size, name)")
                try full.insert(db)
                try empty.insert(db)
                // Again, with the cached information of the first time.
                try empty.update(db)
                try full.update(db)
            }
            try database.read { (db: Database) throws -> Void in
                let rows = try Row.fetchAll(
                    db, sql: "SELECT date, token, data, size, name FROM event ORDER BY id")
                #expect(
                    rows == [
                        [
                            "date": 86400, "token": token.uuidString.lowercased(), "data": "ab",
                            "size": #"{"width":3}"#, "name": "x",
                        ],
                        ["date": nil, "token": nil, "data": nil, "size": nil, "name": nil],
                    ])
                #expect(try Event.fetchAll(db, sql: "SELECT * FROM event ORDER BY id") == [full, empty])
                #expect(try Event.fetchAll(db, sql: "SELECT * FROM event ORDER BY id DESC") == [empty, full])
            }
        }
    }
}
