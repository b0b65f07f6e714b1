import Foundation
import Testing

@testable import Coffer

@Suite("DatabaseValue")
struct DatabaseValueTests {
    @Test("every storage class is read from a column")
    func storageClasses() throws {
        #expect(try ColumnProbe.databaseValue("NULL").storage == .null)
        #expect(try ColumnProbe.databaseValue("-9223372036854775808").storage == .int64(.min))
        #expect(try ColumnProbe.databaseValue("1.5").storage == .double(1.5))
        #expect(try ColumnProbe.databaseValue("1e999").storage == .double(.infinity))
        #expect(try ColumnProbe.databaseValue("'é' || char(0) || 'x'").storage == .string("é\0x"))
        #expect(try ColumnProbe.databaseValue("x'00ff'").storage == .blob(Data([0, 255])))
        #expect(try ColumnProbe.databaseValue("x''").storage == .blob(Data()))
        #expect(try ColumnProbe.databaseValue("''").storage == .string(""))
    }

    @Test(
        "every storage class survives binding",
        arguments: [
            .null, Int64.max.databaseValue, Int64.min.databaseValue, 0.1.databaseValue,
            Double.greatestFiniteMagnitude.databaseValue,
            "".databaseValue, "a\0b".databaseValue, Data().databaseValue, Data([0, 1, 255]).databaseValue,
        ] as [DatabaseValue])
    func binding(value: DatabaseValue) throws {
        #expect(try ColumnProbe.stored(value).storage == value.storage)
    }

    @Test("a big blob and a big text survive binding")
    func bigValues() throws {
        let data = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        #expect(try ColumnProbe.roundTrip(data) == data)
        let text = String(repeating: "ä\0z", count: 500_000)
        #expect(try ColumnProbe.roundTrip(text) == text)
    }

    @Test("an integer equals the floating-point number of the same value, and their hashes agree")
    func numericEquality() {
        #expect(1.databaseValue == 1.0.databaseValue)
        #expect(1.databaseValue.hashValue == 1.0.databaseValue.hashValue)
        #expect(0.databaseValue == (-0.0).databaseValue)
        #expect(0.databaseValue.hashValue == (-0.0).databaseValue.hashValue)
        #expect(Int64.min.databaseValue == (-0x1p63).databaseValue)
        #expect(Int64.min.databaseValue.hashValue == (-0x1p63).databaseValue.hashValue)
        #expect(1.databaseValue != 1.5.databaseValue)
        #expect(Int64.max.databaseValue != 0x1p63.databaseValue)
        #expect((Int64(1 << 53) + 1).databaseValue != 0x1p53.databaseValue)
        #expect(Set([1.databaseValue, 1.0.databaseValue, 2.databaseValue]).count == 2)
    }

    @Test("storages are equal only within a storage class")
    func storageEquality() {
        #expect(DatabaseValue.Storage.int64(1) != .double(1))
        #expect(DatabaseValue.Storage.string("a") != .blob(Data("a".utf8)))
        #expect(DatabaseValue.Storage.null == .null)
    }

    @Test("text is compared by bytes, as SQLite does")
    func textEquality() {
        #expect("\u{e9}" == "e\u{301}")
        #expect("\u{e9}".databaseValue != "e\u{301}".databaseValue)
        #expect("abc".databaseValue == "abc".databaseValue)
        #expect(Set(["\u{e9}".databaseValue, "e\u{301}".databaseValue]).count == 2)
    }

    @Test("NULL equals NULL and nothing else")
    func nullEquality() {
        #expect(DatabaseValue.null == .null)
        #expect(DatabaseValue.null != 0.databaseValue)
        #expect(DatabaseValue.null.isNull && !"".databaseValue.isNull)
    }

    @Test("the description shows the storage class")
    func description() {
        #expect(DatabaseValue.null.description == "NULL")
        #expect(1.databaseValue.description == "1")
        #expect(1.5.databaseValue.description == "1.5")
        #expect("a\"b".databaseValue.description == #""a\"b""#)
        #expect(Data([1, 2, 3]).databaseValue.description == "Data(3 bytes)")
    }

    @Test("a value is created from anything that SQLite can store")
    func fromAny() {
        #expect(DatabaseValue(value: 1)?.storage == .int64(1))
        #expect(DatabaseValue(value: "a")?.storage == .string("a"))
        #expect(DatabaseValue(value: Optional<Int>.none as Any) == .null)
        #expect(DatabaseValue(value: Optional<Int>.some(3) as Any)?.storage == .int64(3))
        #expect(DatabaseValue(value: NSNull()) == .null)
        #expect(DatabaseValue(value: 1.databaseValue)?.storage == .int64(1))
        #expect(DatabaseValue(value: Scanner(string: "")) == nil)
        #expect(DatabaseValue(value: [1]) == nil)
    }

    @Test("the stored value is an Int64, Double, String, Data, or nil")
    func storedValue() {
        #expect(DatabaseValue.null.storage.value == nil)
        #expect(UInt8(1).databaseValue.storage.value as? Int64 == 1)
        #expect(Float(1.5).databaseValue.storage.value as? Double == 1.5)
        #expect("a".databaseValue.storage.value as? String == "a")
        #expect(Data([1]).databaseValue.storage.value as? Data == Data([1]))
    }
}
