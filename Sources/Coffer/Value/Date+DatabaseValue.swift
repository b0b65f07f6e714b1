public import Foundation
internal import SQLCipherBridge

extension Date: DatabaseValueConvertible, StatementColumnConvertible {
    /// The text `YYYY-MM-DD HH:MM:SS.SSS` in UTC, rounded to the nearest millisecond.
    ///
    /// The text sorts like the date, can be compared with `CURRENT_TIMESTAMP`, and is accepted by SQLite's
    /// date functions. The format has no dates outside the years 0000 to 9999. Such a date is stored as a
    /// number of seconds since 1970: it can be read back, but not compared with text.
    ///
    /// As in SQLite, the calendar is Gregorian for all dates. Foundation's calendars and formatters are
    /// Julian before 1582-10-15.
    public var databaseValue: DatabaseValue {
        guard let milliseconds = DateText.milliseconds(of: self) else {
            return timeIntervalSince1970.databaseValue
        }
        let text = unsafe String(unsafeUninitializedCapacity: DateText.length) {
            unsafe DateText.write(milliseconds: milliseconds, to: $0)
            return DateText.length
        }
        return text.databaseValue
    }

    /// Creates a date from text in one of SQLite's formats that contain a day, or from a number of seconds
    /// since 1970.
    ///
    /// The formats are `YYYY-MM-DD`, optionally followed by a space or `T` and `HH:MM`, `HH:MM:SS` or
    /// `HH:MM:SS.SSS`, and optionally by `Z` or an offset such as `+02:00`. Without a time zone, the text is
    /// UTC.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Date? {
        switch dbValue.storage {
        case .int64(let seconds): Date(timeIntervalSince1970: Double(seconds))
        case .double(let seconds): Date(timeIntervalSince1970: seconds)
        default: DateText(dbValue)?.date
        }
    }

    /// Creates a date from a Julian day, such as a result of SQLite's `julianday()`, rounded to the nearest
    /// millisecond.
    ///
    /// Returns nil outside the range of SQLite, from -4713-11-24 at noon (day 0) to the end of the year 9999.
    public init?(julianDay: Double) {
        guard julianDay >= 0, julianDay < 5_373_484.5 else { return nil }
        let milliseconds = (julianDay * 86_400_000).rounded()
        // Day 2,451,910.5 is the reference date of `Date`, 2001-01-01.
        self.init(timeIntervalSinceReferenceDate: (milliseconds - 2_451_910.5 * 86_400_000) / 1000)
    }

    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        let statement = unsafe StatementHandle(sqliteStatement)
        switch statement.columnType(at: index) {
        case EngineType.integer, EngineType.float:
            self.init(timeIntervalSince1970: statement.double(at: index))
        case EngineType.text:
            guard let bytes = unsafe statement.textNoCopy(at: index), let date = unsafe DateText(bytes)?.date
            else { return nil }
            self = date
        default:
            guard let bytes = unsafe statement.blobNoCopy(at: index), let date = unsafe DateText(bytes)?.date
            else { return nil }
            self = date
        }
    }

    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        guard let milliseconds = DateText.milliseconds(of: self) else {
            return unsafe timeIntervalSince1970.bind(to: sqliteStatement, at: index)
        }
        return unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: DateText.length) { buffer in
            unsafe DateText.write(milliseconds: milliseconds, to: buffer)
            return unsafe StatementHandle(sqliteStatement).bind(
                text: UnsafeRawBufferPointer(buffer), at: index)
        }
    }
}
