internal import ArgumentParser
internal import Foundation

/// A moment that names its zone. Without one, it would be ambiguous: the names of backups are in UTC, but
/// people read the local time.
enum MomentOption {
    /// Parses a time such as `2026-11-22T21:45Z`, `2026-11-22 21:45:12 +01:00`, or one from the name of a
    /// backup.
    static func parsed(_ text: String) throws -> Date {
        let form =
            #/
            (\d{4})-?(\d\d)-?(\d\d)
            (?:[T\ ](\d\d):?(\d\d)(?::?(\d\d)(?:\.(\d{1,3}))?)?)?
            \ ?(Z|UTC|[+-]\d\d:?\d\d)?
            /#
        guard let match = text.wholeMatch(of: form) else {
            throw ValidationError("'\(text)' is not a time. Give one such as 2026-11-22T21:45Z.")
        }
        let parts = match.output
        let day = "\(parts.1)-\(parts.2)-\(parts.3)"
        guard let hour = parts.4, let minute = parts.5 else {
            throw ValidationError(
                "'\(text)' is a day, and may mean its start or its end. Give a time: \(day)T00:00Z.")
        }
        guard let zone = parts.8 else {
            throw ValidationError(
                "'\(text)' does not say its zone. Add Z for UTC, or an offset such as +01:00.")
        }
        let digits = "\(parts.7 ?? "0")00".prefix(3)
        guard let time = date(day, "\(hour):\(minute):\(parts.6 ?? "00")"), let offset = seconds(zone) else {
            throw ValidationError("There is no time '\(text)'.")
        }
        return time + (Double(digits) ?? 0) / 1000 - offset
    }

    /// Returns the time in UTC, or nil if there is none, such as on February 30.
    private static func date(_ day: String, _ time: String) -> Date? {
        let text = "\(day)T\(time)Z"
        guard let date = try? Date(text, strategy: .iso8601), date.formatted(.iso8601) == text else {
            return nil
        }
        return date
    }

    /// Returns the offset of a zone in seconds, or nil if there is no such zone.
    private static func seconds(_ zone: Substring) -> Double? {
        let digits = zone.filter(\.isNumber)
        guard let hours = Int(digits.prefix(2)), let minutes = Int(digits.suffix(2)) else { return 0 }
        guard hours <= 14, minutes < 60 else { return nil }
        return Double((hours * 60 + minutes) * 60) * (zone.first == "-" ? -1 : 1)
    }
}
