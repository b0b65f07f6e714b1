/// A value that a record has set in a ``PersistenceContainer``.
///
/// The most common column types are stored without a box, so that they are copied and bound without dynamic
/// dispatch.
public enum PersistenceValue {
    /// NULL.
    case null
    /// An integer.
    case int(Int)
    /// A 64-bit integer.
    case int64(Int64)
    /// A floating-point number.
    case double(Double)
    /// Text.
    case string(String)
    /// A value of any other type, which provides its stored value itself.
    indirect case other(any DatabaseValueConvertible)

    /// The value that the record has set.
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

    /// The stored form of the value.
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
