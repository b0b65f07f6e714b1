public import Foundation

// Value types of Foundation whose classes are stored in databases: `extension TimeZone:
// DatabaseValueConvertible {}` stores what the class does, and not the `Codable` form of the structure.

extension DatabaseValueConvertible
where Self: ReferenceConvertible, Self.ReferenceType: DatabaseValueConvertible {
    /// The stored value of the object behind the value.
    public var databaseValue: DatabaseValue { storedReference }

    /// Creates a value from that of the object behind it, or returns nil if the object cannot be made of it.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? { fromStoredReference(dbValue) }
}

extension DatabaseValueConvertible
where Self: ReferenceConvertible & Codable, Self.ReferenceType: DatabaseValueConvertible {
    /// The stored value of the object behind the value.
    public var databaseValue: DatabaseValue { storedReference }

    /// Creates a value from that of the object behind it, or returns nil if the object cannot be made of it.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? { fromStoredReference(dbValue) }
}

extension ReferenceConvertible where ReferenceType: DatabaseValueConvertible {
    fileprivate var storedReference: DatabaseValue { (self as? ReferenceType)?.databaseValue ?? .null }

    fileprivate static func fromStoredReference(_ dbValue: DatabaseValue) -> Self? {
        ReferenceType.fromDatabaseValue(dbValue).flatMap { $0 as? Self }
    }
}
