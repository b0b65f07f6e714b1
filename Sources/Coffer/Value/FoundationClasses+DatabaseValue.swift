public import Foundation

// The classes behind the value types of Foundation: each is stored and read as its value type. A cast to
// `Self` fails for subclasses only.

extension NSString: DatabaseValueConvertible {
    /// The text.
    public var databaseValue: DatabaseValue { String(describing: self).databaseValue }

    /// Creates a string as `String` does.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        String.fromDatabaseValue(dbValue).flatMap { NSString(string: $0) as? Self }
    }
}

extension NSData: DatabaseValueConvertible {
    /// The bytes.
    public var databaseValue: DatabaseValue { Data(referencing: self).databaseValue }

    /// Creates data as `Data` does.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        Data.fromDatabaseValue(dbValue).flatMap { NSData(data: $0) as? Self }
    }
}

extension NSDate: DatabaseValueConvertible {
    /// The text of the date.
    public var databaseValue: DatabaseValue {
        Date(timeIntervalSinceReferenceDate: timeIntervalSinceReferenceDate).databaseValue
    }

    /// Creates a date as `Date` does.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        Date.fromDatabaseValue(dbValue).flatMap {
            NSDate(timeIntervalSinceReferenceDate: $0.timeIntervalSinceReferenceDate) as? Self
        }
    }
}

extension NSURL: DatabaseValueConvertible {
    /// The absolute string, or NULL if there is none.
    public var databaseValue: DatabaseValue { absoluteString.databaseValue }

    /// Creates a URL as `URL` does.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        String.fromDatabaseValue(dbValue).flatMap { NSURL(string: $0) as? Self }
    }
}

extension NSUUID: DatabaseValueConvertible {
    /// The 16 bytes of the UUID.
    public var databaseValue: DatabaseValue { (UUID(uuidString: uuidString)).databaseValue }

    /// Creates a UUID as `UUID` does.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        UUID.fromDatabaseValue(dbValue).flatMap { NSUUID(uuidString: $0.uuidString) as? Self }
    }
}

extension NSNull: DatabaseValueConvertible {
    /// NULL.
    public var databaseValue: DatabaseValue { .null }

    /// Returns nil: NULL is nil in Swift, and no other value is the null object.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? { nil }
}
