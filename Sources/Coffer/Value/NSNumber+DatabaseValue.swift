public import Foundation

extension NSNumber: DatabaseValueConvertible {
    /// An integer for booleans and integers, else a floating-point number.
    ///
    /// An `NSDecimalNumber` is an integer if it is one, and loses precision otherwise: store a `Decimal` to
    /// keep the digits. An integer above `Int64.max` is a fatal error, as with `UInt64`.
    public var databaseValue: DatabaseValue {
        if let decimal = self as? NSDecimalNumber { return decimal.decimalValue.numericDatabaseValue }
        return switch unsafe Character(Unicode.Scalar(UInt8(bitPattern: objCType.pointee))) {
        case "f", "d": doubleValue.databaseValue
        case "Q", "L": uint64Value.databaseValue
        default: int64Value.databaseValue
        }
    }

    /// Creates a number from a number, or an `NSDecimalNumber` from text that is a decimal number.
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
        // By way of the text, as Foundation's conversion to `Double` is not to the nearest number. An integer
        // has no fraction in its text.
        let text = description
        return Int64(text)?.databaseValue ?? Double(text).databaseValue
    }
}
