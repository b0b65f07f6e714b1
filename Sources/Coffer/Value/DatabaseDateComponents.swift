public import Foundation

/// Date components together with the text format in which they are stored.
///
/// ```swift
/// let lastDay = DateComponents(year: 2030, month: 2, day: 28)
/// share.expiry = DatabaseDateComponents(lastDay, format: .YMD)  // stored as "2030-02-28"
/// ```
public struct DatabaseDateComponents: Hashable, Sendable {
    /// The text formats, as in SQLite's date functions.
    public enum Format: String, Hashable, Sendable {
        /// The format `YYYY-MM-DD`.
        case YMD = "yyyy-MM-dd"
        /// The format `YYYY-MM-DD HH:MM`.
        case YMD_HM = "yyyy-MM-dd HH:mm"
        /// The format `YYYY-MM-DD HH:MM:SS`.
        case YMD_HMS = "yyyy-MM-dd HH:mm:ss"
        /// A day and a time to the millisecond: `YYYY-MM-DD HH:MM:SS.SSS`.
        case YMD_HMSS = "yyyy-MM-dd HH:mm:ss.SSS"
        /// The format `HH:MM`.
        case HM = "HH:mm"
        /// The format `HH:MM:SS`.
        case HMS = "HH:mm:ss"
        /// The format `HH:MM:SS.SSS`.
        case HMSS = "HH:mm:ss.SSS"
    }

    /// The components. If they were read from text with a time zone, they have that time zone.
    public let dateComponents: DateComponents

    /// The format in which the components are stored, or were read.
    public let format: Format

    /// Creates a value from components and the format in which they are stored.
    ///
    /// Components that are not part of the format are not stored, nor is the time zone. Missing components
    /// are stored as year 0, month 1, day 1, and a time of zero.
    public init(_ dateComponents: DateComponents, format: Format) {
        self.format = format
        self.dateComponents = dateComponents
    }
}

extension DatabaseDateComponents: StatementColumnConvertible {
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        let value = unsafe DatabaseValue(sqliteStatement: sqliteStatement, index: index)
        guard let components = Self.fromDatabaseValue(value) else { return nil }
        self = components
    }
}

extension DatabaseDateComponents: DatabaseValueConvertible {
    /// The text of the components in their format.
    public var databaseValue: DatabaseValue { text.databaseValue }

    /// Creates components from text in one of the formats, optionally with a `T` between day and time, or a
    /// time zone after the time.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> DatabaseDateComponents? {
        DateText(dbValue).map { DatabaseDateComponents($0) }
    }
}

extension DatabaseDateComponents: Codable {
    /// Decodes the text of the components.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let components = Self.fromDatabaseValue(text.databaseValue) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription:
                    "The text is neither a date nor a time in a format of SQLite.")
        }
        self = components
    }

    /// Encodes the text of the components.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension DatabaseDateComponents {
    private init(_ text: DateText) {
        var components = DateComponents()
        if let day = text.day {
            components.year = day.year
            components.month = day.month
            components.day = day.day
        }
        if let time = text.time {
            components.hour = time.hour
            components.minute = time.minute
            components.second = time.second
            components.nanosecond = time.nanosecond
            components.timeZone = time.offset.flatMap { TimeZone(secondsFromGMT: $0) }
        }
        let format: Format =
            switch (text.day, text.time) {
            case (_, nil): .YMD
            case (nil, let time?): time.nanosecond != nil ? .HMSS : time.second != nil ? .HMS : .HM
            case (_?, let time?): time.nanosecond != nil ? .YMD_HMSS : time.second != nil ? .YMD_HMS : .YMD_HM
            }
        self.init(components, format: format)
    }

    private var text: String {
        switch format {
        case .YMD: dayText
        case .YMD_HM: "\(dayText) \(minuteText)"
        case .YMD_HMS: "\(dayText) \(minuteText):\(secondText)"
        case .YMD_HMSS: "\(dayText) \(minuteText):\(secondText).\(millisecondText)"
        case .HM: minuteText
        case .HMS: "\(minuteText):\(secondText)"
        case .HMSS: "\(minuteText):\(secondText).\(millisecondText)"
        }
    }

    private var dayText: String {
        let (year, month) = (padded(dateComponents.year ?? 0, 4), padded(dateComponents.month ?? 1, 2))
        return "\(year)-\(month)-\(padded(dateComponents.day ?? 1, 2))"
    }

    private var minuteText: String {
        "\(padded(dateComponents.hour ?? 0, 2)):\(padded(dateComponents.minute ?? 0, 2))"
    }

    private var secondText: String { padded(dateComponents.second ?? 0, 2) }

    /// The milliseconds, rounded to the nearest, without a carry into the seconds.
    private var millisecondText: String {
        padded(min(((dateComponents.nanosecond ?? 0) + 500_000) / 1_000_000, 999), 3)
    }

    private func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number.magnitude)
        return (number < 0 ? "-" : "") + String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
