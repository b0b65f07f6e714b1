public import Foundation

// Foundation's value types whose reference types are database values: `extension TimeZone:
// DatabaseValueConvertible {}` stores the value of `NSTimeZone` instead of the `Codable` form of the
// structure.

extension DatabaseValueConvertible
where Self: ReferenceConvertible, Self.ReferenceType: DatabaseValueConvertible {
    /// The stored value of the corresponding object.
    public var databaseValue: DatabaseValue { storedReference }

    /// Creates a value from the stored value of the corresponding object, or returns nil if it cannot be
    /// converted.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? { fromStoredReference(dbValue) }
}

extension DatabaseValueConvertible
where Self: ReferenceConvertible & Codable, Self.ReferenceType: DatabaseValueConvertible {
    /// The stored value of the corresponding object.
    public var databaseValue: DatabaseValue { storedReference }

    /// Creates a value from the stored value of the corresponding object, or returns nil if it cannot be
    /// converted.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? { fromStoredReference(dbValue) }
}

extension ReferenceConvertible where ReferenceType: DatabaseValueConvertible {
    fileprivate var storedReference: DatabaseValue { (self as? ReferenceType)?.databaseValue ?? .null }

    fileprivate static func fromStoredReference(_ dbValue: DatabaseValue) -> Self? {
        ReferenceType.fromDatabaseValue(dbValue).flatMap { $0 as? Self }
    }
}
