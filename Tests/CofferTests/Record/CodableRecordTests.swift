import Coffer
import CofferTestSupport
import Foundation
import Testing

@Suite("Codable records")
struct CodableRecordTests {
    @Test("an integer of a record above SQLite's range is an error that names the column")
    func integersThatAreTooLarge() throws {
        struct Counter: Codable, PersistableRecord {
            var id: Int64
            var count: UInt64
            var other: UInt?
        }
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE counter (id INTEGER PRIMARY KEY, count INTEGER, other INTEGER)")
            try Counter(id: 1, count: UInt64(Int64.max), other: nil).insert(db)
            for record in [
                Counter(id: 2, count: UInt64(Int64.max) + 1, other: nil),
                Counter(id: 3, count: 0, other: UInt.max),
            ] {
                let error = #expect(throws: EncodingError.self) { try record.insert(db) }
                guard case .invalidValue(_, let context)? = error else { continue }
                #expect(context.codingPath.map(\.stringValue) == [record.id == 2 ? "count" : "other"])
            }
            #expect(try Int64.fetchAll(db, sql: "SELECT count FROM counter") == [.max])
        }
    }

    @Test("random records survive a round trip", arguments: Access.allCases)
    func roundTrip(access: Access) throws {
        var random = SeededRandom("codable records")
        try withTestDirectory { directory in
            let database = try directory.make(access)
            let records = (0..<200).map { AllTypes(id: Int64($0), random: &random) }
            try database.write { db in
                try db.execute(
                    sql:
                        "CREATE TABLE allTypes (\(AllTypes.CodingKeys.allCases.map(\.rawValue.quotedDatabaseIdentifier).joined(separator: ", ")))"
                )
                for record in records { try record.insert(db) }
            }
            try database.read { db in
                #expect(try AllTypes.fetchAll(db, sql: "SELECT * FROM allTypes ORDER BY id") == records)
                // Copied rows, and rows with other column orders.
                let rows = try Row.fetchAll(db, sql: "SELECT * FROM allTypes ORDER BY id")
                #expect(try rows.map(AllTypes.init(row:)) == records)
                let names = AllTypes.CodingKeys.allCases.map(\.rawValue.quotedDatabaseIdentifier).shuffled(
                    using: &random
                ).joined(
                    separator: ", ")
                #expect(
                    try AllTypes.fetchAll(db, sql: "SELECT \(names) FROM allTypes ORDER BY id") == records)
            }
            try database.write { db in
                let changed = records.map { AllTypes(id: $0.id, random: &random) }
                try db.execute(sql: "CREATE UNIQUE INDEX allTypesID ON allTypes(id)")
                for (old, new) in zip(records, changed) {
                    var record = old
                    let differs = !new.databaseEquals(old)
                    // The table has no primary key, so its columns do not identify the row.
                    #expect(throws: RecordError.self) {
                        try record.updateChanges(db) { $0.int8 = $0.int8 &+ 1 }
                    }
                    try db.execute(sql: "DELETE FROM allTypes WHERE id = ?", arguments: [old.id])
                    try new.insert(db)
                    #expect(differs == (new != old))
                }
                #expect(try AllTypes.fetchAll(db, sql: "SELECT * FROM allTypes ORDER BY id") == changed)
            }
        }
    }

    @Test("complex values are JSON with sorted keys")
    func json() throws {
        struct Place: Codable, Equatable { var y: Int, x: Int }
        struct Trip: Codable, FetchableRecord, PersistableRecord, Equatable {
            var place: Place
            var places: [Place]
            var names: [String: Int]?
            var none: [Int]?
        }
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE trip (place, places, names, none)")
            let trip = Trip(place: Place(y: 1, x: 2), places: [Place(y: 3, x: 4)], names: ["a": 1], none: nil)
            try trip.insert(db)
            #expect(
                try Row.fetchOne(db, sql: "SELECT * FROM trip")
                    == [
                        "place": #"{"x":2,"y":1}"#, "places": #"[{"x":4,"y":3}]"#, "names": #"{"a":1}"#,
                        "none": nil,
                    ])
            #expect(try Trip.fetchOne(db) == trip)
            #expect(throws: (any Error).self) {
                try Trip.fetchAll(db, sql: "SELECT '{' AS place, '[]' AS places")
            }
        }
    }

    @Test("nested containers written by hand are JSON too")
    func nestedContainers() throws {
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE nested (name, point, list)")
            let nested = Nested(name: "n", x: 1, y: nil, list: [[1, 2], []])
            try nested.insert(db)
            #expect(
                try Row.fetchOne(db, sql: "SELECT * FROM nested") == [
                    "name": "n", "point": #"{"x":1,"y":null}"#, "list": "[[1,2],[]]",
                ])
            #expect(try Nested.fetchOne(db) == nested)
        }
    }

    @Test("strategies for dates, data and UUIDs hold for columns and for keys")
    func strategies() throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql:
                    "CREATE TABLE stored (id TEXT PRIMARY KEY, iso, seconds, millis, reference, since, custom, formatted, data, bytes)"
            )
            let uuid = try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
            let date = Date(timeIntervalSince1970: 1_772_280_000)
            let stored = Stored(
                id: uuid, iso: date, seconds: date, millis: date, reference: date, since: date, custom: date,
                formatted: date,
                data: Data("ab".utf8), bytes: Data([1, 2]))
            try stored.insert(db)
            let row = try #require(try Row.fetchOne(db, sql: "SELECT * FROM stored"))
            #expect(row["id"] as String == "e621e1f8-c36c-495a-93fc-0c247a3e6e5f")
            #expect(row["iso"] as String == "2026-02-28T12:00:00Z")
            #expect(row["seconds"] as DatabaseValue == 1_772_280_000.databaseValue)
            #expect(row["millis"] as DatabaseValue == 1_772_280_000_000.databaseValue)
            #expect(row["reference"] as Double == date.timeIntervalSinceReferenceDate)
            #expect(row["since"] as Double == date.timeIntervalSince1970)
            #expect(row["custom"] as String == "custom")
            #expect(row["formatted"] as String == "2026")
            #expect(row["data"] as String == "ab")
            #expect(row["bytes"] as String == "1,2")
            let fetched = try #require(try Stored.fetchOne(db, id: uuid))
            #expect(
                fetched.iso == date && fetched.seconds == date && fetched.millis == date
                    && fetched.reference == date)
            #expect(
                fetched.since == date && fetched.custom == date && fetched.data == stored.data
                    && fetched.bytes == stored.bytes)
            #expect(try Stored.find(db, key: uuid).id == uuid)
            try stored.update(db)
            #expect(try stored.exists(db))
            #expect(try stored.delete(db))
        }
    }

    @Test("strategies for names convert columns and coding keys")
    func columnNames() throws {
        struct Snake: Codable, FetchableRecord, PersistableRecord, Equatable {
            static var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy {
                .convertFromSnakeCase
            }
            static var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy { .convertToSnakeCase }
            var teamId: Int, myUrlProperty: String, x: Int?
        }
        struct Custom: Codable, FetchableRecord, PersistableRecord, Equatable {
            static let databaseTableName = "snake"
            static var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy {
                .custom { Key(stringValue: $0 == "team_id" ? "number" : $0) }
            }
            static var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy {
                .custom { $0.stringValue == "number" ? "team_id" : $0.stringValue }
            }
            var number: Int
            struct Key: CodingKey {
                var stringValue: String
                var intValue: Int? { nil }
                init(stringValue: String) { self.stringValue = stringValue }
                init?(intValue: Int) { nil }
            }
        }
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE snake (team_id, my_url_property, x)")
            let snake = Snake(teamId: 1, myUrlProperty: "u", x: nil)
            try snake.insert(db)
            try Custom(number: 2).insert(db)
            #expect(
                try Row.fetchOne(db, sql: "SELECT * FROM snake") == [
                    "team_id": 1, "my_url_property": "u", "x": nil,
                ])
            #expect(try Snake.fetchOne(db) == snake)
            #expect(try Custom.fetchAll(db) == [Custom(number: 1), Custom(number: 2)])
        }
    }

    @Test("coders see the userInfo of the record type")
    func userInfo() throws {
        struct Informed: Codable, FetchableRecord, PersistableRecord {
            static var databaseDecodingUserInfo: [CodingUserInfoKey: Any] { [infoKey: "decoding"] }
            static var databaseEncodingUserInfo: [CodingUserInfoKey: Any] { [infoKey: "encoding"] }
            var text: String
            var inner: Inner
            init(text: String) {
                self.text = text
                inner = Inner(text: text)
            }
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                text =
                    try container.decode(String.self, forKey: .text) + ","
                    + (decoder.userInfo[infoKey] as? String ?? "none")
                inner = try container.decode(Inner.self, forKey: .inner)
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(encoder.userInfo[infoKey] as? String, forKey: .text)
                try container.encode(inner, forKey: .inner)
            }
            enum CodingKeys: CodingKey { case text, inner }
            struct Inner: Codable {
                var text: String
                init(text: String) { self.text = text }
                init(from decoder: any Decoder) throws {
                    let container = try decoder.container(keyedBy: CodingKeys.self)
                    text =
                        try container.decode(String.self, forKey: .text) + ","
                        + (decoder.userInfo[infoKey] as? String ?? "none")
                }
                func encode(to encoder: any Encoder) throws {
                    var container = encoder.container(keyedBy: CodingKeys.self)
                    try container.encode(encoder.userInfo[infoKey] as? String, forKey: .text)
                }
                enum CodingKeys: CodingKey { case text }
            }
        }
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE informed (text, inner)")
            try Informed(text: "x").insert(db)
            let informed = try #require(try Informed.fetchOne(db))
            #expect(informed.text == "encoding,decoding")
            #expect(informed.inner.text == "encoding,decoding")
        }
    }

    @Test("encoders that a record nests by hand see the userInfo too")
    func nestedUserInfo() throws {
        struct Nesting: Encodable, PersistableRecord {
            static var databaseEncodingUserInfo: [CodingUserInfoKey: Any] { [infoKey: "seen"] }
            enum CodingKeys: CodingKey { case keyed, list, above }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                var keyed = container.nestedContainer(keyedBy: CodingKeys.self, forKey: .keyed)
                try note(keyed.superEncoder(forKey: .above))
                var list = container.nestedUnkeyedContainer(forKey: .list)
                try note(list.superEncoder())
                try note(container.superEncoder(forKey: .above))
            }
            private func note(_ encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode([encoder.userInfo[infoKey] as? String])
            }
        }
        try DatabaseQueue().write { db throws in
            try db.execute(sql: "CREATE TABLE nesting (keyed, list, above)")
            try Nesting().insert(db)
            let row = try #require(try Row.fetchOne(db, sql: "SELECT * FROM nesting"))
            #expect(row == ["keyed": #"{"above":["seen"]}"#, "list": #"[["seen"]]"#, "above": #"["seen"]"#])
        }
    }

    @Test("types with a single-value encoding are stored as that value, also in scopes")
    func singleValuesAndScopes() throws {
        struct Wrapped: Codable, Equatable {
            var date: Date
            init(_ date: Date) { self.date = date }
            init(from decoder: any Decoder) throws {
                date = try decoder.singleValueContainer().decode(Date.self)
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(date)
            }
        }
        enum Color: String, Codable { case red, green }
        struct Thing: Codable, FetchableRecord, PersistableRecord, Equatable {
            var wrapped: Wrapped
            var color: Color
            var other: Color?
        }
        struct Pair: Decodable, FetchableRecord {
            var id: Int
            var thing: Thing
            var missing: Thing?
        }
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE thing (wrapped, color, other)")
            let thing = Thing(wrapped: Wrapped(Date(timeIntervalSince1970: 0)), color: .green, other: nil)
            try thing.insert(db)
            #expect(
                try Row.fetchOne(db, sql: "SELECT * FROM thing") == [
                    "wrapped": "1970-01-01 00:00:00.000", "color": "green", "other": nil,
                ])
            #expect(try Thing.fetchOne(db) == thing)
            let adapter = ScopeAdapter(["thing": SuffixRowAdapter(fromIndex: 1)])
            let pair = try #require(
                try Pair.fetchOne(db, sql: "SELECT 5 AS id, * FROM thing", adapter: adapter))
            #expect(pair.id == 5 && pair.thing == thing && pair.missing == nil)
            let row = try #require(
                try Row.fetchOne(db, sql: "SELECT 5 AS id, * FROM thing", adapter: adapter))
            #expect(row["thing"] as Thing == thing)
            #expect(row["nothing"] as Thing? == nil)
            #expect(try row.decode(Thing.self, forKey: "thing") == thing)
            #expect(try row.decodeIfPresent(Thing.self, forKey: "nothing") == nil)
            #expect(throws: RowDecodingError.self) { try row.decode(Thing.self, forKey: "nothing") }
            #expect(throws: RowDecodingError.self) {
                try Thing.fetchOne(db, sql: "SELECT 'blue' AS color, 0 AS wrapped")
            }
        }
    }

    @Test("a record that encodes itself as an array or a value is an error")
    func noKeys() throws {
        struct List: Encodable, PersistableRecord {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.unkeyedContainer()
                try container.encode(1)
            }
        }
        struct Single: Encodable, PersistableRecord {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode("x")
            }
        }
        #expect(throws: EncodingError.self) { try List().databaseDictionary }
        #expect(throws: EncodingError.self) { try Single().databaseDictionary }
    }
}

// The initializer never returns nil.
private let infoKey = CodingUserInfoKey(rawValue: "info")!

/// Properties of all kinds.
private struct AllTypes: Codable, Equatable, FetchableRecord, PersistableRecord {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case id, bool, int, int8, int16, int32, uint, uint8, uint16, uint32, uint64, double, float, string,
            data, date, uuid, url, decimal
        case optionalInt = "select", optionalString = "a \"quoted\" name", optionalDate, list, color
    }
    enum Color: String, Codable, DatabaseValueConvertible, CaseIterable { case red, green, blue }

    var id: Int64
    var bool: Bool
    var int: Int
    var int8: Int8, int16: Int16, int32: Int32
    var uint: UInt, uint8: UInt8, uint16: UInt16, uint32: UInt32, uint64: UInt64
    var double: Double, float: Float
    var string: String
    var data: Data
    var date: Date
    var uuid: UUID
    var url: URL
    var decimal: Decimal
    var optionalInt: Int?, optionalString: String?, optionalDate: Date?
    var list: [Int]
    var color: Color?

    init(id: Int64, random: inout SeededRandom) {
        let letters = Array("aÄ漢\u{0}'\"; DROP TABLE allTypes --")
        self.id = id
        bool = Bool.random(using: &random)
        int = Int(truncatingIfNeeded: random.next())
        int8 = Int8(truncatingIfNeeded: random.next())
        int16 = Int16(truncatingIfNeeded: random.next())
        int32 = Int32(truncatingIfNeeded: random.next())
        uint = UInt(random.next() >> 1)
        uint8 = UInt8(truncatingIfNeeded: random.next())
        uint16 = UInt16(truncatingIfNeeded: random.next())
        uint32 = UInt32(truncatingIfNeeded: random.next())
        uint64 = random.next() >> 1
        double = Double.random(in: -1e9...1e9, using: &random)
        float = Float.random(in: -1e9...1e9, using: &random)
        string = String(
            (0..<Int.random(in: 0..<40, using: &random)).map { _ in
                letters.randomElement(using: &random) ?? "x"
            })
        data = Data(random.bytes(Int.random(in: 0..<30, using: &random)))
        // Half seconds are exact in both text and numbers.
        date = Date(
            timeIntervalSinceReferenceDate: Double(Int.random(in: 0..<4_000_000_000, using: &random)) / 2)
        let bytes = random.bytes(16)
        uuid = UUID(
            uuid: (
                bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8],
                bytes[9], bytes[10],
                bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
            ))
        url = URL(fileURLWithPath: "/\(random.next())")
        decimal = Decimal(Int(truncatingIfNeeded: random.next() >> 20))
        optionalInt = Bool.random(using: &random) ? 1 : nil
        optionalString = Bool.random(using: &random) ? "x" : nil
        optionalDate = Bool.random(using: &random) ? Date(timeIntervalSince1970: 0) : nil
        list = (0..<Int.random(in: 0..<4, using: &random)).map { $0 }
        color = Bool.random(using: &random) ? Color.allCases.randomElement(using: &random) : nil
    }
}

/// A record with containers that it fills manually.
private struct Nested: Codable, Equatable, FetchableRecord, PersistableRecord {
    enum CodingKeys: CodingKey { case name, point, list }
    enum PointKeys: CodingKey { case x, y }

    var name: String
    var x: Int, y: Int?
    var list: [[Int]]

    init(name: String, x: Int, y: Int?, list: [[Int]]) {
        self.name = name
        self.x = x
        self.y = y
        self.list = list
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        let point = try container.nestedContainer(keyedBy: PointKeys.self, forKey: .point)
        x = try point.decode(Int.self, forKey: .x)
        y = try point.decodeIfPresent(Int.self, forKey: .y)
        var lists = try container.nestedUnkeyedContainer(forKey: .list)
        list = []
        while !lists.isAtEnd { list.append(try lists.decode([Int].self)) }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        var point = container.nestedContainer(keyedBy: PointKeys.self, forKey: .point)
        try point.encode(x, forKey: .x)
        try point.encode(y, forKey: .y)
        var lists = container.nestedUnkeyedContainer(forKey: .list)
        for element in list {
            var inner = lists.nestedUnkeyedContainer()
            for number in element { try inner.encode(number) }
        }
    }
}

/// A record with every strategy for values.
private struct Stored: Codable, FetchableRecord, PersistableRecord, Identifiable {
    var id: UUID
    var iso: Date, seconds: Date, millis: Date, reference: Date, since: Date, custom: Date, formatted: Date
    var data: Data, bytes: Data

    private static let year = {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "yyyy"
        return formatter
    }()

    static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
        .lowercaseString
    }

    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        switch column {
        case "iso": .iso8601
        case "seconds": .secondsSince1970
        case "millis": .millisecondsSince1970
        case "reference": .timeIntervalSinceReferenceDate
        case "since": .timeIntervalSince1970
        case "custom": .custom { _ in "custom" }
        case "formatted": .formatted(year)
        default: .deferredToDate
        }
    }

    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        switch column {
        case "iso": .iso8601
        case "seconds", "since": .timeIntervalSince1970
        case "millis": .millisecondsSince1970
        case "reference": .timeIntervalSinceReferenceDate
        case "custom": .custom { _ in Date(timeIntervalSince1970: 1_772_280_000) }
        case "formatted": .formatted(year)
        default: .deferredToDate
        }
    }

    static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy {
        column == "data"
            ? .text
            : column == "bytes" ? .custom { $0.map { "\($0)" }.joined(separator: ",") } : .deferredToData
    }

    static func databaseDataDecodingStrategy(for column: String) -> DatabaseDataDecodingStrategy {
        column == "bytes"
            ? .custom { value in
                String.fromDatabaseValue(value).map {
                    Data($0.split(separator: ",").compactMap { UInt8($0) })
                }
            }
            : .deferredToData
    }
}
