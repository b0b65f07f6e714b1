import CofferTestSupport
import Foundation
import Testing

@testable import Coffer

/// Codable types that decode themselves in different ways, depending on the row.
@Suite("Types that vary between rows")
struct VaryingCodingTests {
    private struct Object: Codable, Equatable { var a: Int }

    /// Tries the single value first.
    private enum ValueFirst: Codable, Equatable {
        case number(Int), object(Object)

        init(from decoder: any Decoder) throws {
            if let container = try? decoder.singleValueContainer(),
                let number = try? container.decode(Int.self)
            {
                self = .number(number)
            } else {
                self = .object(try Object(from: decoder))
            }
        }

        func encode(to encoder: any Encoder) throws {
            switch self {
            case .number(let number): try number.encode(to: encoder)
            case .object(let object): try object.encode(to: encoder)
            }
        }
    }

    /// Tries the containers first.
    private enum ContainerFirst: Codable, Equatable {
        case object(Object), list([Int]), text(String)

        init(from decoder: any Decoder) throws {
            if let object = try? Object(from: decoder) {
                self = .object(object)
            } else if let container = try? decoder.singleValueContainer(),
                let list = try? container.decode([Int].self)
            {
                self = .list(list)
            } else {
                self = .text(try decoder.singleValueContainer().decode(String.self))
            }
        }

        func encode(to encoder: any Encoder) throws {
            switch self {
            case .object(let object): try object.encode(to: encoder)
            case .list(let list): try list.encode(to: encoder)
            case .text(let text): try text.encode(to: encoder)
            }
        }
    }

    private struct Record<Value: Codable & Equatable & Sendable>: Codable, FetchableRecord, PersistableRecord
    {
        static var databaseTableName: String { "r" }
        var id: Int
        var value: Value
    }

    private func check<Value: Codable & Equatable & Sendable>(_ values: [Value]) throws {
        try DatabaseQueue().write { (db) throws in
            try db.execute(sql: "CREATE TABLE r (id INTEGER PRIMARY KEY, value)")
            for (id, value) in values.enumerated() { try Record(id: id, value: value).insert(db) }
            for isAscending in [true, false] {
                let order = isAscending ? "id" : "id DESC"
                let records = try Record<Value>.fetchAll(db, sql: "SELECT * FROM r ORDER BY \(order)")
                #expect(records.map(\.value) == (isAscending ? values : values.reversed()))
            }
        }
    }

    @Test("values stored as single values or as JSON are decoded in any order of the rows")
    func values() throws {
        try check([ValueFirst.number(5), .object(Object(a: 3)), .number(7), .object(Object(a: 4))])
        try check([
            ContainerFirst.object(Object(a: 1)), .text("x"), .list([1, 2]), .text(""), .object(Object(a: 2)),
            .list([]), .text("y"),
        ])
    }

    private struct PartA: Codable, Equatable { var x: Int }
    private struct PartB: Codable, Equatable { var y: String }

    private enum Part: Decodable, FetchableRecord, Equatable {
        case a(PartA), b(PartB)

        enum CodingKeys: String, CodingKey { case kind, pa, pb }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            self =
                try container.decode(Int.self, forKey: .kind) == 1
                ? .a(container.decode(PartA.self, forKey: .pa))
                : .b(container.decode(PartB.self, forKey: .pb))
        }
    }

    private struct Outer: Decodable, FetchableRecord, Equatable {
        var kind: Int
        var part: Part
    }

    @Test("the key that stands for the row itself may differ between rows, at any depth")
    func keyOfRow() throws {
        let sql =
            "SELECT 1 AS kind, 5 AS x, NULL AS y UNION ALL SELECT 2, NULL, 'q' UNION ALL SELECT 1, 6, NULL"
        try DatabaseQueue().read { (db) throws in
            let parts: [Part] = [.a(PartA(x: 5)), .b(PartB(y: "q")), .a(PartA(x: 6))]
            #expect(try Part.fetchAll(db, sql: sql) == parts)
            #expect(try Outer.fetchAll(db, sql: sql).map(\.part) == parts)
        }
    }

    /// A type with a value of its own for NULL.
    private struct Nothing: Codable, Equatable, DatabaseValueConvertible {
        var isNothing: Bool
        var databaseValue: DatabaseValue { isNothing ? .null : 1.databaseValue }
        static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Nothing? {
            Nothing(isNothing: dbValue.isNull)
        }
    }

    private struct WithNothing: Codable, Equatable, FetchableRecord {
        var a: Nothing
        var b: Nothing?
        var c: Int?
        var d: Date?
        @OptionalBox var e: Nothing?
    }

    /// Decodes an optional as such.
    @propertyWrapper
    private struct OptionalBox: Codable, Equatable {
        var wrappedValue: Nothing?
        init(wrappedValue: Nothing?) { self.wrappedValue = wrappedValue }
        init(from decoder: any Decoder) throws {
            wrappedValue = try decoder.singleValueContainer().decode(Nothing.self)
        }
        func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }
    }

    @Test("an optional property decodes NULL as its type's own value for NULL, like a row")
    func ownNull() throws {
        try DatabaseQueue().read { (db) throws in
            let row = try #require(
                try Row.fetchOne(db, sql: "SELECT NULL AS a, NULL AS b, NULL AS c, NULL AS d, NULL AS e"))
            let nothing = Nothing(isNothing: true)
            #expect(row["b"] as Nothing? == nothing)
            #expect(
                try WithNothing(row: row) == WithNothing(a: nothing, b: nothing, c: nil, d: nil, e: nothing))
        }
    }

    @Test("an integer that SQLite cannot store is an error wherever it is encoded")
    func largeIntegers() throws {
        struct Wrapper: Codable {
            var value: UInt64
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(value)
            }
        }
        struct Explicit: Encodable, PersistableRecord {
            var value: UInt64?
            enum CodingKeys: CodingKey { case value }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(value, forKey: .value)
            }
        }
        struct Wrapped: Encodable, PersistableRecord { var value: Wrapper }
        for value in [UInt64(Int64.max) + 1, .max] {
            #expect(throws: EncodingError.self) { try Explicit(value: value).databaseDictionary }
            #expect(throws: EncodingError.self) {
                try Wrapped(value: Wrapper(value: value)).databaseDictionary
            }
        }
        let largest = UInt64(Int64.max)
        #expect(try Explicit(value: largest).databaseDictionary == ["value": Int64.max.databaseValue])
        #expect(try Explicit(value: nil).databaseDictionary == ["value": .null])
        #expect(
            try Wrapped(value: Wrapper(value: largest)).databaseDictionary
                == ["value": Int64.max.databaseValue])
    }

    private struct Dated<Strategy: DateStrategy>: Encodable, PersistableRecord {
        static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
            Strategy.strategy
        }
        var date: Date
    }

    private protocol DateStrategy { static var strategy: DatabaseDateEncodingStrategy { get } }
    private enum Seconds: DateStrategy { static let strategy = DatabaseDateEncodingStrategy.secondsSince1970 }
    private enum Milliseconds: DateStrategy {
        static let strategy = DatabaseDateEncodingStrategy.millisecondsSince1970
    }
    private enum ISO: DateStrategy { static let strategy = DatabaseDateEncodingStrategy.iso8601 }

    @Test("a date that its strategy cannot store is an error instead of another date")
    func farDates() throws {
        for seconds in [1e300, -1e300, .nan, .infinity] {
            let date = Date(timeIntervalSince1970: seconds)
            #expect(throws: EncodingError.self) { try Dated<Seconds>(date: date).databaseDictionary }
            #expect(throws: EncodingError.self) { try Dated<Milliseconds>(date: date).databaseDictionary }
            #expect(throws: EncodingError.self) { try Dated<ISO>(date: date).databaseDictionary }
        }
        for seconds in [1e18, -1e13] {
            let date = Date(timeIntervalSince1970: seconds)
            #expect(throws: EncodingError.self) { try Dated<ISO>(date: date).databaseDictionary }
            #expect(
                try Dated<Seconds>(date: date).databaseDictionary == ["date": Int64(seconds).databaseValue])
        }
    }
}
