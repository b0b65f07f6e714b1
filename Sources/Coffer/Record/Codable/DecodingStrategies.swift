public import Foundation

/// A strategy for converting column names to coding keys.
public enum DatabaseColumnDecodingStrategy: Sendable {
    /// A column and its key have the same name.
    case useDefaultKeys

    /// The column `team_id` has the key `teamId`. Underscores at the start and at the end are kept.
    case convertFromSnakeCase

    /// A function returns the key of a column.
    case custom(@Sendable (String) -> any CodingKey)

    /// The conversion of column names to keys; nil if they are the same.
    var key: ((String) -> String)? {
        switch self {
        case .useDefaultKeys: nil
        case .convertFromSnakeCase: { $0.convertedFromSnakeCase }
        case .custom(let key): { key($0).stringValue }
        }
    }
}

/// A strategy for reading `Data`.
public enum DatabaseDataDecodingStrategy: Sendable {
    /// Blobs, and the UTF-8 bytes of text.
    case deferredToData

    /// A function converts the value; nil is a decoding error.
    case custom(@Sendable (DatabaseValue) -> Data?)

    func decode(_ value: DatabaseValue) -> Data? {
        switch self {
        case .deferredToData: Data.fromDatabaseValue(value)
        case .custom(let decode): decode(value)
        }
    }
}

/// A strategy for reading `Date`.
public enum DatabaseDateDecodingStrategy: Sendable {
    /// The default format of `Date`: text in one of SQLite's formats, or a number of seconds since 1970.
    case deferredToDate

    /// A number of seconds since 2001-01-01.
    case timeIntervalSinceReferenceDate

    /// A number of seconds since 1970-01-01.
    case timeIntervalSince1970

    /// A number of milliseconds since 1970-01-01.
    case millisecondsSince1970

    /// Text such as `2026-02-28T12:00:00Z`, with an offset or `Z`, and optionally fractions of a second.
    case iso8601

    /// Text in the format of the formatter.
    case formatted(DateFormatter)

    /// A function converts the value; nil is a decoding error.
    case custom(@Sendable (DatabaseValue) -> Date?)

    func decode(_ value: DatabaseValue) -> Date? {
        switch self {
        case .deferredToDate:
            Date.fromDatabaseValue(value)
        case .timeIntervalSinceReferenceDate:
            Double.fromDatabaseValue(value).map { Date(timeIntervalSinceReferenceDate: $0) }
        case .timeIntervalSince1970:
            Double.fromDatabaseValue(value).map { Date(timeIntervalSince1970: $0) }
        case .millisecondsSince1970:
            Double.fromDatabaseValue(value).map { Date(timeIntervalSince1970: $0 / 1000) }
        case .iso8601:
            String.fromDatabaseValue(value).flatMap(Date.init(internetDateTime:))
        case .formatted(let formatter):
            String.fromDatabaseValue(value).flatMap(formatter.date(from:))
        case .custom(let decode):
            decode(value)
        }
    }
}

extension Date {
    /// Creates a date from text in the profile of ISO 8601 that RFC 3339 describes, with or without fractions
    /// of a second.
    fileprivate init?(internetDateTime text: String) {
        let date =
            (try? Date(text, strategy: .iso8601))
            ?? (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
        guard let date else { return nil }
        self = date
    }

    /// The date as `2026-02-28T12:00:00Z`.
    var internetDateTime: String { formatted(.iso8601) }
}

extension String {
    /// `team_id` as `teamId`.
    var convertedFromSnakeCase: String {
        let start = prefix { $0 == "_" }
        guard start.endIndex < endIndex else { return self }
        var words = self[start.endIndex...]
        var end = ""
        while words.last == "_" {
            end.append(words.removeLast())
        }
        let parts = words.split(separator: "_")
        guard parts.count > 1, let first = parts.first else { return self }
        return start + first.lowercased() + parts.dropFirst().map(\.capitalized).joined() + end
    }

    /// `teamId` as `team_id`, and `myURLProperty` as `my_url_property`, exactly like the strategy of
    /// Foundation's `JSONEncoder`.
    ///
    /// A capital after the first letter begins a word. If more capitals follow, they belong to that word, up
    /// to the one before a lowercase letter, which begins the next word. So `HTMLText` becomes `h_tml_text`.
    var convertedToSnakeCase: String {
        let letters = Array(self)
        var words: [ArraySlice<Character>] = []
        var start = 0
        var searched = 1
        while let capital = letters.indices.dropFirst(searched).first(where: { letters[$0].isCapital }) {
            words.append(letters[start..<capital])
            start = capital
            guard let small = letters.indices.dropFirst(capital).first(where: { letters[$0].isSmall }) else {
                searched = letters.count
                break
            }
            if small > capital + 1 {
                // The last character before the lowercase letter belongs to its word, even if it is not a
                // capital.
                words.append(letters[capital..<small - 1])
                start = small - 1
            }
            searched = small
        }
        words.append(letters[start...])
        return words.map { String($0).lowercased() }.joined(separator: "_")
    }
}

extension Character {
    fileprivate var isCapital: Bool {
        unicodeScalars.first.map(CharacterSet.uppercaseLetters.contains) ?? false
    }
    fileprivate var isSmall: Bool {
        unicodeScalars.first.map(CharacterSet.lowercaseLetters.contains) ?? false
    }
}
