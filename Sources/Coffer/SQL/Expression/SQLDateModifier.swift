/// An argument of SQLite's date functions that modifies the date: see ``dateTime(_:_:)`` and
/// ``julianDay(_:_:)``.
///
/// Modifiers are applied from left to right. Source: <https://www.sqlite.org/lang_datefunc.html>.
public enum SQLDateModifier: SQLSpecificExpressible, Sendable {
    /// Adds days.
    case day(Int)

    /// Adds hours.
    case hour(Int)

    /// Adds minutes.
    case minute(Int)

    /// Adds seconds, to the millisecond.
    case second(Double)

    /// Adds months. If the month is too short for the day, the date moves into the next month.
    case month(Int)

    /// Adds years.
    case year(Int)

    /// Moves to the first day of the month, at midnight.
    case startOfMonth

    /// Moves to the first day of the year, at midnight.
    case startOfYear

    /// Moves to midnight.
    case startOfDay

    /// Advances to the next day of the week with this number, unless it is that day already: 0 is Sunday.
    case weekday(Int)

    /// Interprets a number as seconds since 1970. It must come first.
    case unixEpoch

    /// Interprets the date as UTC, and converts it to local time.
    case localTime

    /// Interprets the date as local time, and converts it to UTC.
    case utc

    public var sqlExpression: SQLExpression { .databaseValue(text.databaseValue) }

    private var text: String {
        switch self {
        case .day(let value): "\(value) days"
        case .hour(let value): "\(value) hours"
        case .minute(let value): "\(value) minutes"
        case .second(let value): "\(value) seconds"
        case .month(let value): "\(value) months"
        case .year(let value): "\(value) years"
        case .startOfMonth: "start of month"
        case .startOfYear: "start of year"
        case .startOfDay: "start of day"
        case .weekday(let value): "weekday \(value)"
        case .unixEpoch: "unixepoch"
        case .localTime: "localtime"
        case .utc: "utc"
        }
    }
}

/// The `DATETIME` function, which returns a date as text: `YYYY-MM-DD HH:MM:SS`.
///
///     // DATETIME("createdAt", '1 days')
///     dateTime(Column("createdAt"), .day(1))
///
/// - Parameters:
///   - value: a date, or text or a number that SQLite interprets as one.
///   - modifiers: modifiers, which are applied in order.
public func dateTime(_ value: some SQLSpecificExpressible, _ modifiers: SQLDateModifier...) -> SQLExpression {
    .function("DATETIME", [value.sqlExpression] + modifiers.map(\.sqlExpression))
}

/// The `JULIANDAY` function, which returns a date as a number of days since noon in Greenwich on November 24,
/// 4714 B.C.
///
/// - Parameters:
///   - value: a date, or text or a number that SQLite interprets as one.
///   - modifiers: modifiers, which are applied in order.
public func julianDay(_ value: some SQLSpecificExpressible, _ modifiers: SQLDateModifier...) -> SQLExpression
{
    .function("JULIANDAY", [value.sqlExpression] + modifiers.map(\.sqlExpression))
}
