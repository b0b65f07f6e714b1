/// A value that a record has set in a ``PersistenceContainer``.
///
/// It keeps the types that columns mostly have without a box of any type: such values are bound without a call through a table of witnesses.
@usableFromInline
enum PersistenceValue {
    case null
    case int(Int)
    case int64(Int64)
    case double(Double)
    case string(String)
    case other(any DatabaseValueConvertible)

    /// Where the type of the value is known, after inlining, nothing but one of the cases is left of this.
    @inlinable @inline(__always)
    init(_ value: (any DatabaseValueConvertible)?) {
        guard let value else {
            self = .null
            return
        }
        let type = type(of: value) as any Any.Type
        if type == String.self, case .string(let text) = value.databaseValue.storage {
            self = .string(text)
        } else if type == Int64.self, case .int64(let number) = value.databaseValue.storage {
            self = .int64(number)
        } else if type == Int.self, case .int64(let number) = value.databaseValue.storage {
            self = .int(Int(truncatingIfNeeded: number))
        } else if type == Double.self, case .double(let number) = value.databaseValue.storage {
            self = .double(number)
        } else {
            self = .other(value)
        }
    }

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
