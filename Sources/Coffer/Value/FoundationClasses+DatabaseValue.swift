public import Foundation

// The reference types of Foundation's value types: each is stored and read like its value type. A cast to
// `Self` fails only for subclasses.

extension NSString: DatabaseValueConvertible {
    /// The text.
    public var databaseValue: DatabaseValue { String(describing: self).databaseValue }

    /// Creates a string from the values that `String` accepts.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        String.fromDatabaseValue(dbValue).flatMap { NSString(string: $0) as? Self }
    }
}

extension NSData: DatabaseValueConvertible {
    /// The bytes.
    public var databaseValue: DatabaseValue { Data(referencing: self).databaseValue }

    /// Creates data from the values that `Data` accepts.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        Data.fromDatabaseValue(dbValue).flatMap { NSData(data: $0) as? Self }
    }
}

extension NSDate: DatabaseValueConvertible {
    /// The text of the date.
    public var databaseValue: DatabaseValue {
        Date(timeIntervalSinceReferenceDate: timeIntervalSinceReferenceDate).databaseValue
    }

    /// Creates a date from the values that `Date` accepts.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        Date.fromDatabaseValue(dbValue).flatMap {
            NSDate(timeIntervalSinceReferenceDate: $0.timeIntervalSinceReferenceDate) as? Self
        }
    }
}

extension NSURL: DatabaseValueConvertible {
    /// The absolute string, or NULL if there is none.
    public var databaseValue: DatabaseValue { absoluteString.databaseValue }

    /// Creates a URL from the values that `URL` accepts.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        String.fromDatabaseValue(dbValue).flatMap { NSURL(string: $0) as? Self }
    }
}

extension NSUUID: DatabaseValueConvertible {
    /// The 16 bytes of the UUID.
    public var databaseValue: DatabaseValue { (UUID(uuidString: uuidString)).databaseValue }

    /// Creates a UUID from the values that `UUID` accepts.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        UUID.fromDatabaseValue(dbValue).flatMap { NSUUID(uuidString: $0.uuidString) as? Self }
    }
}

extension NSNull: DatabaseValueConvertible {
    /// NULL.
    public var databaseValue: DatabaseValue { .null }

    /// Returns nil: in Swift, NULL is represented by nil, and no other value converts to `NSNull`.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? { nil }
}
