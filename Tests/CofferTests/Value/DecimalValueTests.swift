import Foundation
import Testing

@testable import Coffer

@Suite("Decimals and Foundation's classes as values")
struct DecimalValueTests {
    @Test(
        "decimals are stored as text and survive a round trip",
        arguments: [
            "0", "1", "-1", "10.5", "0.1", "-0.000001", "12345678901234567890123456789012345678",
            "0.00000000000000000000000000000000000001",
        ])
    func roundTrip(text: String) throws {
        let decimal = try #require(Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")))
        #expect(decimal.databaseValue.storage == .string(text))
        #expect(try ColumnProbe.roundTrip(decimal) == decimal)
        #expect(Decimal.fromDatabaseValue(decimal.databaseValue) == decimal)
    }

    @Test("random decimals survive a round trip")
    func randomDecimals() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix(state: seed)
        for _ in 0..<1000 {
            let significand = Decimal(Int64.random(in: .min ... .max, using: &random))
            let decimal = Decimal(
                sign: .plus, exponent: Int.random(in: -60...60, using: &random), significand: significand)
            #expect(Decimal.fromDatabaseValue(decimal.databaseValue) == decimal, "seed \(seed)")
        }
        #expect(
            Decimal.fromDatabaseValue(Decimal.greatestFiniteMagnitude.databaseValue)
                == .greatestFiniteMagnitude)
        #expect(Decimal.nan.databaseValue.isNull)
    }

    @Test("numbers are decimals, with the shortest digits of a floating-point number")
    func fromNumbers() throws {
        let cases: [(String, String)] = [
            ("10", "10"), ("-9223372036854775808", "-9223372036854775808"),
            ("9223372036854775807", "9223372036854775807"),
            ("1.23", "1.23"), ("0.1", "0.1"), ("-1e20", "-100000000000000000000"), ("1e-7", "0.0000001"),
        ]
        for (expression, text) in cases {
            let decimal = try ColumnProbe.read(Decimal.self, expression)
            #expect(decimal?.description == text)
            #expect(Decimal.fromDatabaseValue(try ColumnProbe.databaseValue(expression)) == decimal)
        }
        #expect(Decimal.fromDatabaseValue(Double.infinity.databaseValue) == nil)
        #expect(Decimal.fromDatabaseValue(Double.greatestFiniteMagnitude.databaseValue) == nil)
    }

    @Test("text with an exponent is a decimal")
    func exponents() {
        #expect(Decimal.fromDatabaseValue("1.5e3".databaseValue) == 1500)
        #expect(Decimal.fromDatabaseValue("-1.5E-1".databaseValue)?.description == "-0.15")
        #expect(Decimal.fromDatabaseValue("+.5".databaseValue)?.description == "0.5")
        #expect(Decimal.fromDatabaseValue("5.".databaseValue) == 5)
    }

    @Test(
        "other text is not a decimal",
        arguments: [
            "", " ", "abc", "12abc", "1,5", "1.2.3", "--1", "1e", "e5", ".", "-", "0x10", "NaN", "inf", " 1",
            "1 ", "1e999", "١",
        ])
    func invalid(text: String) {
        #expect(Decimal.fromDatabaseValue(text.databaseValue) == nil)
    }

    @Test("an NSNumber is stored as an integer or a floating-point number")
    func numbers() {
        #expect(NSNumber(value: true).databaseValue.storage == .int64(1))
        #expect(NSNumber(value: Int8.min).databaseValue.storage == .int64(-128))
        #expect(NSNumber(value: UInt8.max).databaseValue.storage == .int64(255))
        #expect(NSNumber(value: Int64.min).databaseValue.storage == .int64(.min))
        #expect(NSNumber(value: UInt32.max).databaseValue.storage == .int64(Int64(UInt32.max)))
        #expect(NSNumber(value: 10.0).databaseValue.storage == .double(10))
        #expect(NSNumber(value: Float(1.5)).databaseValue.storage == .double(1.5))
        #expect(NSDecimalNumber(string: "10.0").databaseValue.storage == .int64(10))
        #expect(NSDecimalNumber(string: "10.5").databaseValue.storage == .double(10.5))
        #expect(NSDecimalNumber(string: "9223372036854775807").databaseValue.storage == .int64(.max))
        #expect(NSDecimalNumber(string: "1e30").databaseValue.storage == .double(1e30))
    }

    @Test("an NSNumber is read from a number, and as a decimal from text")
    func numbersFromValues() {
        #expect(NSNumber.fromDatabaseValue(10.databaseValue)?.int64Value == 10)
        #expect(NSNumber.fromDatabaseValue(1.5.databaseValue)?.doubleValue == 1.5)
        #expect(NSNumber.fromDatabaseValue("10.5".databaseValue) is NSDecimalNumber)
        #expect(NSNumber.fromDatabaseValue("x".databaseValue) == nil)
        #expect(NSNumber.fromDatabaseValue(.null) == nil)
        #expect(NSDecimalNumber.fromDatabaseValue(1.23.databaseValue)?.stringValue == "1.23")
        #expect(NSDecimalNumber.fromDatabaseValue(10.databaseValue)?.stringValue == "10")
        #expect(NSDecimalNumber.fromDatabaseValue("1.23".databaseValue)?.stringValue == "1.23")
    }

    @Test("the classes of Foundation are stored as their value types are")
    func classes() throws {
        let date = Date(timeIntervalSinceReferenceDate: 12.345)
        let uuid = UUID()
        #expect(NSString(string: "é\0x").databaseValue.storage == .string("é\0x"))
        #expect(NSString.fromDatabaseValue("é\0x".databaseValue) == NSString(string: "é\0x"))
        #expect(NSString.fromDatabaseValue(1.databaseValue) == nil)
        #expect(NSData(data: Data([1, 2])).databaseValue.storage == .blob(Data([1, 2])))
        #expect(NSData.fromDatabaseValue(Data([1, 2]).databaseValue) == NSData(data: Data([1, 2])))
        #expect(NSDate(timeIntervalSinceReferenceDate: 12.345).databaseValue == date.databaseValue)
        #expect(NSDate.fromDatabaseValue(date.databaseValue)?.timeIntervalSinceReferenceDate == 12.345)
        let url = try #require(NSURL(string: "https://example.com"))
        #expect(url.databaseValue == "https://example.com".databaseValue)
        #expect(
            NSURL.fromDatabaseValue("https://example.com".databaseValue)?.absoluteString
                == "https://example.com")
        let reference = try #require(NSUUID(uuidString: uuid.uuidString))
        #expect(reference.databaseValue == uuid.databaseValue)
        #expect(NSUUID.fromDatabaseValue(uuid.databaseValue)?.uuidString == uuid.uuidString)
        #expect(NSNull().databaseValue.isNull)
        #expect(NSNull.fromDatabaseValue(.null) == nil)
        #expect(NSNull.fromDatabaseValue(0.databaseValue) == nil)
    }
}
