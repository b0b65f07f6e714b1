internal import Foundation

/// A date, a time, or both, parsed from the text formats of SQLite's date functions.
///
/// The fields have the ranges that SQLite accepts: any month may have a day 31, and hour 24 may have any
/// minutes. Excess days and hours carry over. See <https://www.sqlite.org/lang_datefunc.html>.
struct DateText {
    struct Day {
        var year: Int
        var month: Int
        var day: Int
    }

    struct Time {
        var hour: Int
        var minute: Int
        /// Nil for `HH:MM`.
        var second: Int?
        /// Nil for `HH:MM:SS`. Digits after the ninth are truncated.
        var nanosecond: Int?
        /// Seconds east of Greenwich, or nil without a time zone.
        var offset: Int?
    }

    var day: Day?
    var time: Time?

    /// Parses a text in one of the formats, or returns nil if it has any other content.
    init?(_ bytes: UnsafeRawBufferPointer) {
        var reader = unsafe Reader(bytes)
        if reader.byte(at: 2) == UInt8(ascii: ":") {
            guard let time = reader.time() else { return nil }
            self.time = time
        } else {
            guard let day = reader.day() else { return nil }
            self.day = day
            if reader.isAtEnd { return }
            guard reader.skip(UInt8(ascii: " ")) || reader.skip(UInt8(ascii: "T")), let time = reader.time()
            else { return nil }
            self.time = time
        }
        guard reader.isAtEnd else { return nil }
    }

    init?(_ dbValue: DatabaseValue) {
        switch dbValue.storage {
        case .string(var text):
            guard let value = text.withUTF8({ unsafe DateText(UnsafeRawBufferPointer($0)) }) else {
                return nil
            }
            self = value
        case .blob(let data):
            guard let value = unsafe data.withUnsafeBytes({ unsafe DateText($0) }) else { return nil }
            self = value
        default:
            return nil
        }
    }

    /// The instant, or nil if there is no day. A missing time zone is UTC, and missing parts of the time are
    /// zero.
    var date: Date? {
        guard let day else { return nil }
        var seconds = daysSince1970(year: day.year, month: day.month, day: day.day) * 86_400
        guard let time else { return Date(secondsSince1970: seconds, nanosecond: 0) }
        seconds += time.hour * 3600 + time.minute * 60 + (time.second ?? 0) - (time.offset ?? 0)
        return Date(secondsSince1970: seconds, nanosecond: time.nanosecond ?? 0)
    }
}

extension Date {
    /// Creates a date relative to the reference date of `Date`, so that no precision is lost.
    fileprivate init(secondsSince1970 seconds: Int, nanosecond: Int) {
        let whole = Double(seconds - 978_307_200)
        self.init(timeIntervalSinceReferenceDate: nanosecond == 0 ? whole : whole + Double(nanosecond) / 1e9)
    }
}

/// Returns the number of days from 1970-01-01 to a day of the proleptic Gregorian calendar. A day after the
/// end of its month carries over.
func daysSince1970(year: Int, month: Int, day: Int) -> Int {
    // Years start in March here, so that the leap day is the last day of a year. No value is negative from
    // year 0 on.
    let shiftedYear = month > 2 ? year : year - 1
    let cycle = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
    let yearOfCycle = shiftedYear - cycle * 400
    let shiftedMonth = month > 2 ? month - 3 : month + 9
    let dayOfYear = (153 * shiftedMonth + 2) / 5 + day - 1
    let dayOfCycle = yearOfCycle * 365 + yearOfCycle / 4 - yearOfCycle / 100 + dayOfYear
    // A cycle has 146,097 days; 1970-01-01 is day 719,468 from 0000-03-01.
    return cycle * 146_097 + dayOfCycle - 719_468
}

/// Reads fields of fixed width from ASCII text. @safe: the buffer outlives the reader, which does not escape
/// the initializer above, and every access is bounds-checked.
@safe
private struct Reader {
    let bytes: UnsafeRawBufferPointer
    var position = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        unsafe self.bytes = bytes
    }

    var isAtEnd: Bool { unsafe position == bytes.count }

    func byte(at index: Int) -> UInt8? {
        unsafe index < bytes.count ? bytes[index] : nil
    }

    mutating func skip(_ byte: UInt8) -> Bool {
        guard self.byte(at: position) == byte else { return false }
        position += 1
        return true
    }

    mutating func digit() -> Int? {
        guard let byte = byte(at: position), byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else {
            return nil
        }
        position += 1
        return Int(byte - UInt8(ascii: "0"))
    }

    mutating func number(digits: Int, in range: ClosedRange<Int>) -> Int? {
        var number = 0
        for _ in 0..<digits {
            guard let digit = digit() else { return nil }
            number = number * 10 + digit
        }
        return range.contains(number) ? number : nil
    }

    mutating func day() -> DateText.Day? {
        guard let year = number(digits: 4, in: 0...9999), skip(UInt8(ascii: "-")),
            let month = number(digits: 2, in: 1...12), skip(UInt8(ascii: "-")),
            let day = number(digits: 2, in: 1...31)
        else { return nil }
        return DateText.Day(year: year, month: month, day: day)
    }

    mutating func time() -> DateText.Time? {
        guard let hour = number(digits: 2, in: 0...24), skip(UInt8(ascii: ":")),
            let minute = number(digits: 2, in: 0...59)
        else { return nil }
        var time = DateText.Time(hour: hour, minute: minute)
        if skip(UInt8(ascii: ":")) {
            guard let second = number(digits: 2, in: 0...59) else { return nil }
            time.second = second
            if skip(UInt8(ascii: ".")) {
                guard let nanosecond = fraction() else { return nil }
                time.nanosecond = nanosecond
            }
        }
        while skip(UInt8(ascii: " ")) {}
        if isAtEnd { return time }
        guard let offset = offset() else { return nil }
        time.offset = offset
        return time
    }

    mutating func fraction() -> Int? {
        guard var nanosecond = digit() else { return nil }
        var count = 1
        while let digit = digit() {
            guard count < 9 else { continue }
            nanosecond = nanosecond * 10 + digit
            count += 1
        }
        while count < 9 {
            nanosecond *= 10
            count += 1
        }
        return nanosecond
    }

    mutating func offset() -> Int? {
        if skip(UInt8(ascii: "Z")) || skip(UInt8(ascii: "z")) { return 0 }
        let sign = skip(UInt8(ascii: "-")) ? -1 : 1
        guard sign < 0 || skip(UInt8(ascii: "+")),
            let hours = number(digits: 2, in: 0...14), skip(UInt8(ascii: ":")),
            let minutes = number(digits: 2, in: 0...59)
        else { return nil }
        return sign * (hours * 3600 + minutes * 60)
    }
}
