internal import Foundation

extension DateText {
    /// The length of `YYYY-MM-DD HH:MM:SS.SSS`.
    static let length = 23

    /// Returns the date in milliseconds since 1970, rounded to the nearest, or nil if its year does not have
    /// four digits.
    static func milliseconds(of date: Date) -> Int? {
        // Based on the reference date of `Date`, because a conversion to 1970 would round twice.
        let milliseconds = (date.timeIntervalSinceReferenceDate * 1000).rounded() + 978_307_200_000
        // 0000-01-01 00:00:00.000 to 9999-12-31 23:59:59.999; NaN fails the comparison.
        guard milliseconds >= -62_167_219_200_000, milliseconds <= 253_402_300_799_999 else { return nil }
        return Int(milliseconds)
    }

    /// Writes `YYYY-MM-DD HH:MM:SS.SSS` into the first ``length`` bytes of the buffer.
    ///
    /// - Parameter milliseconds: a result of ``milliseconds(of:)``.
    static func write(milliseconds: Int, to buffer: UnsafeMutableBufferPointer<UInt8>) {
        precondition(buffer.count >= length)
        var (days, rest) = milliseconds.quotientAndRemainder(dividingBy: 86_400_000)
        if rest < 0 {
            days -= 1
            rest += 86_400_000
        }
        let (year, month, day) = civil(daysSince1970: days)
        unsafe put(year, digits: 4, at: 0, then: "-", in: buffer)
        unsafe put(month, digits: 2, at: 5, then: "-", in: buffer)
        unsafe put(day, digits: 2, at: 8, then: " ", in: buffer)
        unsafe put(rest / 3_600_000, digits: 2, at: 11, then: ":", in: buffer)
        unsafe put(rest / 60_000 % 60, digits: 2, at: 14, then: ":", in: buffer)
        unsafe put(rest / 1000 % 60, digits: 2, at: 17, then: ".", in: buffer)
        unsafe put(rest % 1000, digits: 3, at: 20, then: nil, in: buffer)
    }

    private static func put(
        _ number: Int, digits: Int, at start: Int, then separator: Unicode.Scalar?,
        in buffer: UnsafeMutableBufferPointer<UInt8>
    ) {
        var number = number
        for index in (start..<start + digits).reversed() {
            unsafe buffer[index] = UInt8(ascii: "0") + UInt8(number % 10)
            number /= 10
        }
        if let separator { unsafe buffer[start + digits] = UInt8(ascii: separator) }
    }

    /// Returns the date of a day from 0000-01-01 on: the inverse of ``daysSince1970(year:month:day:)``.
    static func civil(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
        // Counts from -0400-03-01, so that no value is negative.
        let shifted = days + 719_468 + 146_097
        let cycle = shifted / 146_097
        let dayOfCycle = shifted % 146_097
        let yearOfCycle = (dayOfCycle - dayOfCycle / 1460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
        let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfCycle + (cycle - 1) * 400 + (month <= 2 ? 1 : 0)
        return (year, month, day)
    }
}
