/// A value that a record has set in a ``PersistenceContainer``.
///
/// It keeps the types that columns mostly have as they are, without a box, so that they are copied and bound
/// without a look at what they are.
public enum PersistenceValue {
    /// NULL.
    case null
    /// A whole number.
    case int(Int)
    /// A whole number of 64 bits.
    case int64(Int64)
    /// A number with a fraction.
    case double(Double)
    /// Text.
    case string(String)
    /// A value of any other type, which says itself what is stored.
    indirect case other(any DatabaseValueConvertible)

    /// The value as the record has set it.
    var value: (any DatabaseValueConvertible)? {
        switch self {
        case .null: nil
        case .int(let value): value
        case .int64(let value): value
        case .double(let value): value
        case .string(let value): value
        case .other(let value): value
        }
    }

    var isNull: Bool {
        switch self {
        case .null: true
        case .int, .int64, .double, .string: false
        case .other(let value): value.databaseValue.isNull
        }
    }

    /// The value as it is stored.
    var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .int(let value): DatabaseValue(storage: .int64(Int64(value)))
        case .int64(let value): DatabaseValue(storage: .int64(value))
        case .double(let value): value.databaseValue
        case .string(let value): DatabaseValue(storage: .string(value))
        case .other(let value): value.databaseValue
        }
    }
}
