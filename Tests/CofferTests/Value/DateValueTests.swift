import Foundation
import Testing

@testable import Coffer

@Suite("Dates as values")
struct DateValueTests {
    private static let utc: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()

    private static func date(
        _ year: Int, _ month: Int, _ day: Int, _ hour: Int = 0, _ minute: Int = 0, _ second: Int = 0,
        milliseconds: Int = 0
    ) -> Date {
        let days = daysSince1970(year: year, month: month, day: day)
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second
        return Date(timeIntervalSince1970: Double(seconds) + Double(milliseconds) / 1000)
    }

    /// Checks both ways to read a column.
    private func expect(_ text: String, is date: Date?, sourceLocation: SourceLocation = #_sourceLocation)
        throws
    {
        for read in [
            Date.fromDatabaseValue(text.databaseValue), try ColumnProbe.read(Date.self, "'\(text)'"),
        ] {
            guard let date else {
                #expect(read == nil, "\(text)", sourceLocation: sourceLocation)
                continue
            }
            let interval = try #require(read, "\(text)", sourceLocation: sourceLocation).timeIntervalSince(
                date)
            #expect(abs(interval) < 1e-6, "\(text)", sourceLocation: sourceLocation)
        }
    }

    @Test("days are counted from 1970")
    func days() {
        #expect(daysSince1970(year: 1970, month: 1, day: 1) == 0)
        #expect(daysSince1970(year: 1969, month: 12, day: 31) == -1)
        #expect(daysSince1970(year: 2000, month: 2, day: 29) == 11016)
        #expect(daysSince1970(year: 2001, month: 1, day: 1) == 11323)
        #expect(daysSince1970(year: 0, month: 1, day: 1) == -719_528)
        #expect(daysSince1970(year: 0, month: 3, day: 1) == -719_468)
        #expect(daysSince1970(year: 9999, month: 12, day: 31) == 2_932_896)
        // The proleptic Gregorian calendar has no gap in October 1582.
        #expect(
            daysSince1970(year: 1582, month: 10, day: 15) - daysSince1970(year: 1582, month: 10, day: 4) == 11
        )
    }

    @Test("every day of the years 0000 to 9999 survives a round trip")
    func allDays() {
        var previous = (year: -1, month: 12, day: 31)
        for days in -719_528...2_932_896 {
            let (year, month, day) = DateText.civil(daysSince1970: days)
            let isNextDay = (year, month, day) == (previous.year, previous.month, previous.day + 1)
            let isNextMonth =
                (year, month, day) == (previous.year, previous.month + 1, 1) && previous.day >= 28
            let isNextYear =
                (year, month, day) == (previous.year + 1, 1, 1) && previous.month == 12 && previous.day == 31
            guard isNextDay || isNextMonth || isNextYear,
                daysSince1970(year: year, month: month, day: day) == days
            else {
                Issue.record("day \(days) became \(year)-\(month)-\(day)")
                return
            }
            previous = (year, month, day)
        }
        #expect(previous == (9999, 12, 31))
    }

    @Test("all documented formats are read")
    func formats() throws {
        try expect("2015-07-22", is: Self.date(2015, 7, 22))
        for separator in [" ", "T"] {
            for (zone, offset) in [
                ("", 0), ("Z", 0), ("+00:00", 0), ("+02:30", 9000), ("-01:00", -3600), (" +14:00", 50400),
            ] {
                let date = Self.date(2015, 7, 22, 1, 2).addingTimeInterval(-Double(offset))
                try expect("2015-07-22\(separator)01:02\(zone)", is: date)
                try expect("2015-07-22\(separator)01:02:03\(zone)", is: date.addingTimeInterval(3))
                try expect("2015-07-22\(separator)01:02:03.4\(zone)", is: date.addingTimeInterval(3.4))
                try expect("2015-07-22\(separator)01:02:03.456\(zone)", is: date.addingTimeInterval(3.456))
                try expect(
                    "2015-07-22\(separator)01:02:03.456789123456\(zone)",
                    is: date.addingTimeInterval(3.456789123456))
            }
        }
        try expect("0000-01-01 00:00:00.000", is: Self.date(0, 1, 1))
        try expect("9999-12-31 23:59:59.999", is: Self.date(9999, 12, 31, 23, 59, 59, milliseconds: 999))
        try expect("2000-02-29", is: Self.date(2000, 2, 29))
        try expect("1582-10-10", is: Self.date(1582, 10, 10))
    }

    @Test("milliseconds are read as the nearest date, as by Foundation's calendar")
    func milliseconds() throws {
        for year in [1999, 2001, 2015, 2026, 9999] {
            for millisecond in 0..<1000 {
                let components = DateComponents(
                    year: year, month: 7, day: 22, hour: 1, minute: 2, second: 3,
                    nanosecond: millisecond * 1_000_000)
                let text = DatabaseDateComponents(components, format: .YMD_HMSS).databaseValue
                guard Date.fromDatabaseValue(text) == Self.utc.date(from: components) else {
                    Issue.record("\(text)")
                    return
                }
            }
        }
    }

    @Test("values that SQLite's date functions normalize are read in the same way")
    func normalised() throws {
        for text in [
            "2023-02-29", "2023-02-31", "1900-02-29", "2023-04-31", "2023-12-31 24:00", "2023-12-31 24:30:15",
            "2023-01-01 00:30+01:00",
        ] {
            let seconds = try ColumnProbe.read(Int.self, "unixepoch('\(text)')")
            try expect(text, is: Date(timeIntervalSince1970: Double(try #require(seconds))))
        }
    }

    @Test(
        "text other than a date is not read",
        arguments: [
            "", " ", "now", "Mom’s birthday", "2015", "2015-07", "2015-7-22", "15-07-22", "2015-13-01",
            "2015-00-01", "2015-01-00",
            "2015-01-32", "2015-07-22 ", "2015-07-22 1:02", "2015-07-22 01", "2015-07-22 25:00",
            "2015-07-22 01:60", "2015-07-22 01:02:60",
            "2015-07-22 01:02:03.", "2015-07-22 01:02:03.4x", "2015-07-22 01:02:03 UTC", "2015-07-22 01:02+2",
            "2015-07-22 01:02+15:00",
            "2015-07-22 01:02+01:60", "2015-07-22x01:02", "2015-07-22t01:02", "2015-07-22Z", "01:02",
            "01:02:03", "-001-01-01",
            "10000-01-01",
            "1437526923", "1437526923.5", "2015-07-22 01:02:03ZZ", "２０15-07-22",
        ])
    func invalid(text: String) throws {
        try expect(text, is: nil)
    }

    @Test("a blob that holds a date is a date, and others are not")
    func blobs() throws {
        #expect(
            try ColumnProbe.read(Date.self, "CAST('2001-01-01' AS BLOB)")
                == Date(timeIntervalSinceReferenceDate: 0))
        #expect(
            Date.fromDatabaseValue(Data("2001-01-01".utf8).databaseValue)
                == Date(timeIntervalSinceReferenceDate: 0))
        #expect(try ColumnProbe.read(Date.self, "x''") == nil)
        #expect(try ColumnProbe.read(Date.self, "x'ff'") == nil)
        #expect(try ColumnProbe.read(Date.self, "'2001-01-01' || char(0)") == nil)
        #expect(try ColumnProbe.read(Date.self, "NULL") == nil)
        #expect(Date.fromDatabaseValue(.null) == nil)
    }

    @Test("numbers are seconds since 1970")
    func timestamps() throws {
        for (expression, seconds) in [
            ("0", 0.0), ("-1", -1), ("1437526923", 1_437_526_923), ("1437526923.25", 1_437_526_923.25),
        ] {
            #expect(try ColumnProbe.read(Date.self, expression) == Date(timeIntervalSince1970: seconds))
            #expect(
                Date.fromDatabaseValue(try ColumnProbe.databaseValue(expression))
                    == Date(timeIntervalSince1970: seconds))
        }
    }

    @Test("dates are written in UTC, to the nearest millisecond")
    func writing() throws {
        func text(_ seconds: Double) -> DatabaseValue {
            Date(timeIntervalSinceReferenceDate: seconds).databaseValue
        }
        #expect(text(0) == "2001-01-01 00:00:00.000".databaseValue)
        #expect(text(0.0004) == "2001-01-01 00:00:00.000".databaseValue)
        #expect(text(0.0006) == "2001-01-01 00:00:00.001".databaseValue)
        #expect(text(-0.0006) == "2000-12-31 23:59:59.999".databaseValue)
        #expect(text(59.9996) == "2001-01-01 00:01:00.000".databaseValue)
        #expect(text(86_399.9999) == "2001-01-02 00:00:00.000".databaseValue)
        #expect(Self.date(0, 1, 1).databaseValue == "0000-01-01 00:00:00.000".databaseValue)
        #expect(
            Self.date(9999, 12, 31, 23, 59, 59, milliseconds: 999).databaseValue
                == "9999-12-31 23:59:59.999".databaseValue)
        // Foundation uses the Julian calendar: its 0001-01-01 is two days earlier than in the Gregorian
        // calendar.
        #expect(Date.distantPast.databaseValue == "0000-12-30 00:00:00.000".databaseValue)
        #expect(try ColumnProbe.roundTrip(Date.distantPast) == .distantPast)
        #expect(Date.distantFuture.databaseValue == "4001-01-01 00:00:00.000".databaseValue)
        let date = Self.date(1582, 10, 10, 1, 2, 3, milliseconds: 4)
        #expect(try ColumnProbe.stored(date).storage == .string("1582-10-10 01:02:03.004"))
    }

    @Test("dates that have no four-digit year are stored as numbers, and can be read again")
    func outOfRange() throws {
        for date in [
            Self.date(10000, 1, 1), Self.date(0, 1, 1).addingTimeInterval(-1),
            Self.date(9999, 12, 31, 23, 59, 59, milliseconds: 999) + 0.0009,
            Date(timeIntervalSince1970: 1e300), Date(timeIntervalSince1970: -.infinity),
        ] {
            #expect(date.databaseValue.storage == .double(date.timeIntervalSince1970))
            #expect(try ColumnProbe.roundTrip(date) == date)
        }
        #expect(try ColumnProbe.stored(Date(timeIntervalSince1970: .nan)).isNull)
    }

    @Test("random dates survive a text round trip and agree with Foundation's calendar")
    func randomDates() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix(state: seed)
        for _ in 0..<2000 {
            // Before 1582-10-15, Foundation's calendar is the Julian one; see the comparison with SQLite.
            let milliseconds = Int.random(in: -12_219_292_800_000...253_402_300_799_999, using: &random)
            let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
            let parts = Self.utc.dateComponents(
                [.year, .month, .day, .hour, .minute, .second],
                from: Date(timeIntervalSince1970: (Double(milliseconds) / 1000).rounded(.down)))
            func padded(_ number: Int?, _ width: Int) -> String {
                let digits = String(number ?? -1)
                return String(repeating: "0", count: max(0, width - digits.count)) + digits
            }
            let text =
                "\(padded(parts.year, 4))-\(padded(parts.month, 2))-\(padded(parts.day, 2)) "
                + "\(padded(parts.hour, 2)):\(padded(parts.minute, 2)):\(padded(parts.second, 2))"
                + ".\(padded(((milliseconds % 1000) + 1000) % 1000, 3))"
            #expect(date.databaseValue == text.databaseValue, "seed \(seed)")
            let again = try #require(Date.fromDatabaseValue(text.databaseValue), "seed \(seed)")
            #expect(abs(again.timeIntervalSince(date)) < 1e-4, "seed \(seed)")
            #expect(again.databaseValue == text.databaseValue, "seed \(seed)")
        }
    }

    @Test("dates agree with SQLite's own functions")
    func sqliteFunctions() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix(state: seed)
        for _ in 0..<500 {
            let seconds = Int.random(in: -62_167_219_200...253_402_300_799, using: &random)
            #expect(
                try ColumnProbe.read(String.self, "strftime('%Y-%m-%d %H:%M:%f', \(seconds), 'unixepoch')")
                    == String.fromDatabaseValue(Date(timeIntervalSince1970: Double(seconds)).databaseValue),
                "seed \(seed)")
        }
        #expect(try ColumnProbe.read(Date.self, "CURRENT_TIMESTAMP") != nil)
    }

    @Test("Julian days are converted as SQLite does")
    func julianDays() throws {
        #expect(Date(julianDay: 2_451_910.5) == Date(timeIntervalSinceReferenceDate: 0))
        #expect(Date(julianDay: 2_440_587.5) == Date(timeIntervalSince1970: 0))
        for text in [
            "2015-07-22 01:02:03.456", "0000-01-01 00:00:00.000", "9999-12-31 23:59:59.999",
            "1582-10-10 12:00:00.000",
        ] {
            let julianDay = try #require(try ColumnProbe.read(Double.self, "julianday('\(text)')"))
            #expect(Date(julianDay: julianDay)?.databaseValue == text.databaseValue)
        }
        #expect(Date(julianDay: 0) != nil)
        for julianDay in [-0.1, 5_373_484.5, .infinity, -.infinity, .nan] {
            #expect(Date(julianDay: julianDay) == nil)
        }
    }
}

/// A small random number generator that produces the same sequence for the same seed.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
