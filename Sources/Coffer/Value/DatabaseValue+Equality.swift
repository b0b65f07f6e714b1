internal import Foundation

extension DatabaseValue.Storage: Hashable {
    public static func == (lhs: Self, rhs: Self) -> Bool {
        switch (lhs, rhs) {
        case (.null, .null): true
        case (.int64(let lhs), .int64(let rhs)): lhs == rhs
        case (.double(let lhs), .double(let rhs)): lhs == rhs
        // Swift compares strings by canonical equivalence. SQLite compares bytes, and a change of bytes is a
        // change that must be saved.
        case (.string(let lhs), .string(let rhs)): lhs.hasSameBytes(as: rhs)
        case (.blob(let lhs), .blob(let rhs)): lhs == rhs
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null:
            hasher.combine(0)
        case .int64(let value):
            hasher.combine(1)
            // Hashed as a floating-point number, so that equal numbers have equal hashes in `DatabaseValue`.
            hasher.combine(Double(value))
        case .double(let value):
            hasher.combine(1)
            hasher.combine(value)
        case .string(var value):
            hasher.combine(2)
            value.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        case .blob(let value):
            hasher.combine(3)
            hasher.combine(value)
        }
    }
}

extension DatabaseValue: Hashable {
    public static func == (lhs: Self, rhs: Self) -> Bool {
        switch (lhs.storage, rhs.storage) {
        case (.int64(let integer), .double(let double)), (.double(let double), .int64(let integer)):
            Int64(exactly: double) == integer
        default:
            lhs.storage == rhs.storage
        }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(storage)
    }
}
