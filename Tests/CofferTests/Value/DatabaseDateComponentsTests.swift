import Foundation
import Testing

@testable import Coffer

@Suite("Date components as values")
struct DatabaseDateComponentsTests {
    private static let components = DateComponents(
        year: 1973, month: 9, day: 18, hour: 10, minute: 11, second: 12, nanosecond: 123_456_789)

    @Test(
        "components are written in their format",
        arguments: [
            (.YMD, "1973-09-18"), (.YMD_HM, "1973-09-18 10:11"), (.YMD_HMS, "1973-09-18 10:11:12"),
            (.YMD_HMSS, "1973-09-18 10:11:12.123"), (.HM, "10:11"), (.HMS, "10:11:12"),
            (.HMSS, "10:11:12.123"),
        ] as [(DatabaseDateComponents.Format, String)])
    func writing(format: DatabaseDateComponents.Format, text: String) throws {
        let value = DatabaseDateComponents(Self.components, format: format)
        #expect(value.databaseValue.storage == .string(text))
        #expect(try ColumnProbe.stored(value).storage == .string(text))
        let read = try #require(try ColumnProbe.roundTrip(value))
        #expect(read.format == format)
        #expect(read.databaseValue.storage == .string(text))
        #expect(read.dateComponents.timeZone == nil)
    }

    @Test("missing components are written as the first day of the year 0, at midnight")
    func missing() {
        let value = DatabaseDateComponents(DateComponents(), format: .YMD_HMSS)
        #expect(value.databaseValue == "0000-01-01 00:00:00.000".databaseValue)
    }

    @Test("nanoseconds are rounded without touching the second")
    func rounding() {
        let value = DatabaseDateComponents(DateComponents(second: 59, nanosecond: 999_999_999), format: .HMSS)
        #expect(value.databaseValue == "00:00:59.999".databaseValue)
    }

    @Test("text is parsed into a format and components")
    func reading() throws {
        let cases: [(String, DatabaseDateComponents.Format, DateComponents)] = [
            ("2015-07-22", .YMD, DateComponents(year: 2015, month: 7, day: 22)),
            ("2015-07-22T01:02", .YMD_HM, DateComponents(year: 2015, month: 7, day: 22, hour: 1, minute: 2)),
            ("01:02", .HM, DateComponents(hour: 1, minute: 2)),
            ("01:02:03", .HMS, DateComponents(hour: 1, minute: 2, second: 3)),
            ("01:02:03.5", .HMSS, DateComponents(hour: 1, minute: 2, second: 3, nanosecond: 500_000_000)),
            ("01:02:03.000000001", .HMSS, DateComponents(hour: 1, minute: 2, second: 3, nanosecond: 1)),
            ("01:02Z", .HM, DateComponents(timeZone: TimeZone(secondsFromGMT: 0), hour: 1, minute: 2)),
            (
                "01:02:03+02:30", .HMS,
                DateComponents(timeZone: TimeZone(secondsFromGMT: 9000), hour: 1, minute: 2, second: 3)
            ),
            (
                "2015-07-22 01:02:03.004-01:00", .YMD_HMSS,
                DateComponents(
                    timeZone: TimeZone(secondsFromGMT: -3600), year: 2015, month: 7, day: 22, hour: 1,
                    minute: 2, second: 3,
                    nanosecond: 4_000_000)
            ),
        ]
        for (text, format, components) in cases {
            let value = try #require(DatabaseDateComponents.fromDatabaseValue(text.databaseValue), "\(text)")
            #expect(value.format == format)
            #expect(value.dateComponents == components)
        }
    }

    @Test(
        "other values are not read",
        arguments: [
            .null, 1.databaseValue, 1.5.databaseValue, "".databaseValue, "1:02".databaseValue,
            "now".databaseValue,
        ]
            as [DatabaseValue])
    func invalid(value: DatabaseValue) {
        #expect(DatabaseDateComponents.fromDatabaseValue(value) == nil)
    }

    @Test("components are coded as their text")
    func coding() throws {
        let value = DatabaseDateComponents(Self.components, format: .YMD)
        let json = try JSONEncoder().encode([value])
        #expect(String(decoding: json, as: UTF8.self) == #"["1973-09-18"]"#)
        let read = try JSONDecoder().decode([DatabaseDateComponents].self, from: json)
        #expect(read.first?.databaseValue == value.databaseValue)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([DatabaseDateComponents].self, from: Data(#"["x"]"#.utf8))
        }
    }
}
