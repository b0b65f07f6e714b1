internal import Coffer
internal import Foundation

/// The type of a column of a table that is made: declared, or what all values of a sample fit.
enum ColumnType: String, CaseIterable {
    case integer = "INTEGER"
    case real = "REAL"
    case text = "TEXT"
    case blob = "BLOB"
    case any = "ANY"

    /// The narrowest type for values; a text is a number only if the number is written so and not otherwise: `007` stays a text.
    init(fitting values: some Sequence<DatabaseValue>) {
        var kinds: Set<ColumnType> = []
        for value in values {
            switch value.storage {
            case .null: break
            case .int64: kinds.insert(.integer)
            case .double: kinds.insert(.real)
            case .blob: kinds.insert(.blob)
            case .string(let text): kinds.insert(ColumnType(ofNumberIn: text))
            }
        }
        switch kinds {
        case []: self = .any
        case [.integer]: self = .integer
        case [.real], [.integer, .real]: self = .real
        case [.blob]: self = .blob
        case _ where !kinds.contains(.blob): self = .text
        default: self = .any
        }
    }

    private init(ofNumberIn text: String) {
        if let number = Int64(text), String(number) == text {
            self = .integer
        } else if let number = Double(text), number.isFinite, text.utf8.first.map({ $0 == 0x2d || (0x30...0x39).contains($0) }) ?? false,
            !text.hasPrefix("0") || text.hasPrefix("0."), !text.lowercased().contains("x"), !text.hasPrefix("-0") || text.hasPrefix("-0.")
        {
            self = .real
        } else {
            self = .text
        }
    }
}
