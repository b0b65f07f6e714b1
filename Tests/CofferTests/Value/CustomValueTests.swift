import Foundation
import Testing

@testable import Coffer

@Suite("Optionals, raw values and JSON as values")
struct CustomValueTests {
    private enum Grape: String, Codable, DatabaseValueConvertible, StatementColumnConvertible {
        case merlot, riesling
    }
    private enum Level: Int, DatabaseValueConvertible { case low, high }

    private struct Color: Codable, Hashable, DatabaseValueConvertible {
        var red: Double
        var green: Double
        var at: Date?
        var bytes: Data?
    }

    private struct List: Codable, Equatable, DatabaseValueConvertible {
        var items: [Int]
        init(_ items: [Int]) { self.items = items }
        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            items = []
            while !container.isAtEnd { items.append(try container.decode(Int.self)) }
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.unkeyedContainer()
            for item in items { try container.encode(item) }
        }
    }

    private struct Wrapper<Value: Codable & Equatable & Sendable>: Codable, Equatable,
        DatabaseValueConvertible
    {
        var value: Value
        init(_ value: Value) { self.value = value }
        init(from decoder: any Decoder) throws {
            value = try decoder.singleValueContainer().decode(Value.self)
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }

    /// An object or a plain string. Decoding tries one container after the other.
    private enum Either: Codable, Equatable, DatabaseValueConvertible {
        case object(name: String)
        case text(String)
        private enum Key: String, CodingKey { case name }

        init(from decoder: any Decoder) throws {
            if let container = try? decoder.container(keyedBy: Key.self) {
                self = .object(name: try container.decode(String.self, forKey: .name))
            } else {
                self = .text(try decoder.singleValueContainer().decode(String.self))
            }
        }

        func encode(to encoder: any Encoder) throws {
            switch self {
            case .object(let name):
                var container = encoder.container(keyedBy: Key.self)
                try container.encode(name, forKey: .name)
            case .text(let text):
                var container = encoder.singleValueContainer()
                try container.encode(text)
            }
        }
    }

    private struct Empty: Codable, Equatable, DatabaseValueConvertible {}

    private struct Custom: Codable, Equatable, DatabaseValueConvertible {
        var date: Date
        static func databaseJSONEncoder() -> JSONEncoder {
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = .secondsSince1970
            return encoder
        }
        static func databaseJSONDecoder() -> JSONDecoder {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .secondsSince1970
            return decoder
        }
    }

    @Test("nil is NULL, and NULL is nil")
    func optionals() throws {
        #expect(Int?.none.databaseValue == .null)
        #expect(Int?.some(1).databaseValue.storage == .int64(1))
        #expect(try ColumnProbe.stored(Int?.none).isNull)
        #expect(try ColumnProbe.stored(Int?.some(7)).storage == .int64(7))
        #expect(try ColumnProbe.read(Int?.self, "NULL") == .some(.none))
        #expect(try ColumnProbe.read(Int?.self, "7") == .some(.some(7)))
        #expect(try ColumnProbe.read(UInt8?.self, "256") == .none)
        #expect(Int?.fromDatabaseValue(.null) == .some(.none))
        #expect(Int?.fromDatabaseValue(7.databaseValue) == .some(.some(7)))
        #expect(Int?.fromDatabaseValue("x".databaseValue) == .none)
        #expect(Int?.fromMissingColumn() == .some(.none))
        #expect(Int.fromMissingColumn() == nil)
    }

    @Test("an optional database value is NULL, not nil, for NULL")
    func optionalDatabaseValue() {
        #expect(DatabaseValue?.fromDatabaseValue(.null) == .some(.some(.null)))
        #expect(DatabaseValue?.fromMissingColumn() == .some(.none))
    }

    @Test("raw values take precedence over JSON")
    func rawValues() throws {
        #expect(Grape.merlot.databaseValue.storage == .string("merlot"))
        #expect(Grape.fromDatabaseValue("riesling".databaseValue) == .riesling)
        #expect(Grape.fromDatabaseValue("x".databaseValue) == nil)
        #expect(Grape.fromDatabaseValue(.null) == nil)
        #expect(try ColumnProbe.roundTrip(Grape.riesling) == .riesling)
        #expect(try ColumnProbe.read(Grape.self, "'x'") == nil)
        #expect(try ColumnProbe.stored(Level.high).storage == .int64(1))
        #expect(Level.fromDatabaseValue(1.databaseValue) == .high)
        #expect(Level.fromDatabaseValue(2.databaseValue) == nil)
    }

    @Test("a Codable type is stored as JSON text with sorted keys")
    func json() throws {
        let color = Color(red: 1, green: 0.5, at: Date(timeIntervalSince1970: 1.5), bytes: Data([255]))
        #expect(color.databaseValue.storage == .string(#"{"at":1500,"bytes":"\/w==","green":0.5,"red":1}"#))
        #expect(Color.fromDatabaseValue(color.databaseValue) == color)
        #expect(try ColumnProbe.stored(color) == color.databaseValue)
        #expect(
            Color.fromDatabaseValue(Data(#"{"red":1,"green":2}"#.utf8).databaseValue)
                == Color(red: 1, green: 2))
        for value in ["", "{", "[]", "{\"red\":1}"] {
            #expect(Color.fromDatabaseValue(value.databaseValue) == nil)
        }
        #expect(Color.fromDatabaseValue(1.databaseValue) == nil)
        #expect(Color.fromDatabaseValue(.null) == nil)
        #expect(List([1, 2]).databaseValue.storage == .string("[1,2]"))
        #expect(List.fromDatabaseValue("[1,2]".databaseValue) == List([1, 2]))
        #expect(List([]).databaseValue.storage == .string("[]"))
        #expect(Empty().databaseValue.storage == .string("{}"))
    }

    @Test("a type that encodes itself into a single value is stored as that value")
    func singleValues() {
        #expect(Wrapper("a\"b").databaseValue.storage == .string("a\"b"))
        #expect(Wrapper<String>.fromDatabaseValue("\"a\"".databaseValue) == Wrapper("\"a\""))
        #expect(Wrapper(7).databaseValue.storage == .int64(7))
        #expect(Wrapper<Int>.fromDatabaseValue(7.databaseValue) == Wrapper(7))
        #expect(Wrapper<Int>.fromDatabaseValue("x".databaseValue) == nil)
        #expect(
            Wrapper(Date(timeIntervalSinceReferenceDate: 0)).databaseValue
                == "2001-01-01 00:00:00.000".databaseValue)
        #expect(Wrapper(Wrapper("x")).databaseValue.storage == .string("x"))
        #expect(Wrapper<Wrapper<String>>.fromDatabaseValue("x".databaseValue) == Wrapper(Wrapper("x")))
        #expect(Wrapper(Grape.merlot).databaseValue.storage == .string("merlot"))
        #expect(Wrapper([1, 2]).databaseValue.storage == .string("[1,2]"))
        #expect(Wrapper<[Int]>.fromDatabaseValue("[1,2]".databaseValue) == Wrapper([1, 2]))
    }

    @Test("a type that tries several containers is read from its stored form")
    func severalContainers() {
        let object = Either.object(name: "x")
        #expect(object.databaseValue.storage == .string(#"{"name":"x"}"#))
        #expect(Either.fromDatabaseValue(object.databaseValue) == object)
    }

    @Test("the JSON format can be customized")
    func customJSON() {
        let value = Custom(date: Date(timeIntervalSince1970: 3))
        #expect(value.databaseValue.storage == .string(#"{"date":3}"#))
        #expect(Custom.fromDatabaseValue(value.databaseValue) == value)
    }

    @Test("storing a value that JSON cannot represent is a fatal error")
    func unencodable() async {
        await #expect(processExitsWith: .failure) {
            _ = Color(red: .infinity, green: 0).databaseValue
        }
    }

    @Test("a generic wrapper conforms by declarations only")
    func tagged() throws {
        let id = Tagged<Self, Int64>(rawValue: 5)
        #expect(id.databaseValue.storage == .int64(5))
        #expect(try ColumnProbe.roundTrip(id)?.rawValue == 5)
        #expect(Tagged<Self, Int64>.fromDatabaseValue(5.databaseValue)?.rawValue == 5)
        #expect(Tagged<Self, Int64>?.fromDatabaseValue(.null) == .some(.none))
    }
}

private struct Tagged<Tag, RawValue>: RawRepresentable {
    var rawValue: RawValue
}

extension Tagged: Equatable where RawValue: Equatable {}
extension Tagged: SQLExpressible where RawValue: SQLExpressible {}
extension Tagged: StatementBinding where RawValue: StatementBinding {}
extension Tagged: StatementColumnConvertible where RawValue: StatementColumnConvertible {}
extension Tagged: DatabaseValueConvertible where RawValue: DatabaseValueConvertible {}
