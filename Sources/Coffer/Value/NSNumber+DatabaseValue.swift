public import Foundation

extension NSNumber: DatabaseValueConvertible {
    /// An integer for Booleans and integers, otherwise a floating-point number.
    ///
    /// An integral `NSDecimalNumber` is stored as an integer; any other loses precision: store a `Decimal` to
    /// keep the digits. An integer above `Int64.max` is a fatal error, as with `UInt64`.
    public var databaseValue: DatabaseValue {
        if let decimal = self as? NSDecimalNumber { return decimal.decimalValue.numericDatabaseValue }
        return switch unsafe Character(Unicode.Scalar(UInt8(bitPattern: objCType.pointee))) {
        case "f", "d": doubleValue.databaseValue
        case "Q", "L": uint64Value.databaseValue
        default: int64Value.databaseValue
        }
    }

    /// Creates a number from a number, or an `NSDecimalNumber` from text in decimal notation.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        let isDecimal = self is NSDecimalNumber.Type
        let number: NSNumber? =
            switch dbValue.storage {
            case .int64(let value) where !isDecimal: NSNumber(value: value)
            case .double(let value): isDecimal ? NSDecimalNumber(value: value) : NSNumber(value: value)
            default: Decimal.fromDatabaseValue(dbValue).map { NSDecimalNumber(decimal: $0) }
            }
        return number as? Self
    }
}

extension Decimal {
    fileprivate var numericDatabaseValue: DatabaseValue {
        if isNaN { return .null }
        // Converted through text, because Foundation's conversion to `Double` does not round to the nearest
        // number. The text of an integer has no fraction.
        let text = description
        return Int64(text)?.databaseValue ?? Double(text).databaseValue
    }
}
