internal import Coffer
internal import Foundation

/// The type of a column of a table that is made: declared, or what all values of a sample fit.
enum ColumnType: String, CaseIterable {
    case integer = "INTEGER"
    case real = "REAL"
    case text = "TEXT"
    case blob = "BLOB"
    case any = "ANY"
    /// Numbers as they are given, in a column that converts none: REAL would store -0.0 as 0.0.
    case number = "NUMBER"

    /// The type as SQL has it.
    var declaration: String { self == .number ? ColumnType.any.rawValue : rawValue }

    /// The narrowest type for values; a text is a number only if the number is written so and not otherwise:
    /// `007` and `1.10` stay texts.
    init(fitting values: some Sequence<ImportValue>) {
        var kinds: Set<ColumnType> = []
        var isAlwaysExact = true
        var hasNegativeZero = false
        for value in values {
            switch value {
            case .number(let number):
                switch number.value?.storage {
                case .int64: kinds.insert(.integer)
                case .double(let real):
                    kinds.insert(.real)
                    hasNegativeZero = hasNegativeZero || real.isNegativeZero
                default: kinds.insert(.text)
                }
                isAlwaysExact = isAlwaysExact && ColumnType.real(inInteger: number.text) != nil
            case .value(let value):
                switch value.storage {
                case .null: break
                case .int64: kinds.insert(.integer)
                case .double(let real):
                    kinds.insert(.real)
                    hasNegativeZero = hasNegativeZero || real.isNegativeZero
                case .blob: kinds.insert(.blob)
                case .string(let text):
                    kinds.insert(
                        ColumnType.integer(in: text) != nil
                            ? .integer : ColumnType.real(in: text) != nil ? .real : .text)
                    hasNegativeZero = hasNegativeZero || ColumnType.real(in: text)?.isNegativeZero == true
                    isAlwaysExact =
                        isAlwaysExact
                        && (ColumnType.integer(in: text) == nil || ColumnType.real(in: text) != nil)
                }
            }
        }
        switch kinds {
        case []: self = .any
        case [.integer]: self = .integer
        case [.real]: self = hasNegativeZero ? .number : .real
        case [.integer, .real]: self = !isAlwaysExact ? .text : hasNegativeZero ? .number : .real
        case [.blob]: self = .blob
        case _ where !kinds.contains(.blob): self = .text
        default: self = .any
        }
    }

    /// The integer that a text is, and that is written as this text.
    private static func integer(in text: String) -> Int64? {
        Int64(text).flatMap { String($0) == text ? $0 : nil }
    }

    /// The number that a text is, and that is printed as this text; an integer, if it is one of REAL without
    /// a loss.
    private static func real(in text: String) -> Double? {
        if let number = Double(text), number.isFinite, "\(number)" == text { return number }
        return integer(in: text).flatMap { Double(exactly: $0) }
    }

    /// The same for a number of JSON: nil only for integers that REAL would change.
    private static func real(inInteger text: String) -> Double? {
        guard let integer = Int64(text) else { return Double(text) }
        return Double(exactly: integer)
    }

    private static let negativeZero = ImportRefusal("-0.0 would be 0.0 as REAL; the type NUMBER keeps it")

    /// What a column of this type holds for a value, which is never another value.
    func stored(_ given: ImportValue) throws(ImportRefusal) -> DatabaseValue {
        switch (self, given) {
        case (.text, .number(let number)): return number.text.databaseValue
        case (_, .number(let number)):
            let value = try number.checked()
            switch (self, value.storage) {
            case (.real, .double(let real)) where real.isNegativeZero: throw ColumnType.negativeZero
            case (.integer, .double): throw ImportRefusal("\(number.text) is no INTEGER")
            case (.real, .int64(let integer)):
                guard let real = Double(exactly: integer) else {
                    throw ImportRefusal("\(integer) would be another number as REAL")
                }
                return real.databaseValue
            default: return value
            }
        case (.integer, .value(let value)):
            switch value.storage {
            case .string(let text):
                guard let integer = ColumnType.integer(in: text) else {
                    throw ImportRefusal("'\(text)' would be another value as INTEGER")
                }
                return integer.databaseValue
            case .double(let number): throw ImportRefusal("\(number) is no INTEGER")
            default: return value
            }
        case (.real, .value(let value)):
            if case .double(let real) = value.storage, real.isNegativeZero { throw ColumnType.negativeZero }
            guard case .string(let text) = value.storage else { return value }
            guard let real = ColumnType.real(in: text) else {
                throw ImportRefusal("'\(text)' would be another value as REAL")
            }
            guard !real.isNegativeZero else { throw ColumnType.negativeZero }
            return real.databaseValue
        case (.number, .value(let value)):
            guard case .string(let text) = value.storage else { return value }
            if let integer = ColumnType.integer(in: text) { return integer.databaseValue }
            guard let real = ColumnType.real(in: text) else {
                throw ImportRefusal("'\(text)' would be another value as a number")
            }
            return real.databaseValue
        case (_, .value(let value)): return value
        }
    }
}

extension Double {
    /// SQLite converts it to the integer 0, and back to 0.0, in a column of REAL.
    fileprivate var isNegativeZero: Bool { self == 0 && sign == .minus }
}

/// Why a value cannot be in a column.
struct ImportRefusal: Error {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}

/// A column that values are for.
enum ImportColumn {
    /// Of a table that the import has made: values are what they are in the input, or refused.
    case made(ColumnType)
    /// Of a table that was there, which gives values types by its rules.
    case found(isText: Bool)

    /// A column of a table that was there, by its declared type:
    /// <https://www.sqlite.org/datatype3.html#determination_of_column_affinity>.
    init(declared type: String) {
        let type = type.uppercased()
        self = .found(
            isText: !type.contains("INT") && ["CHAR", "CLOB", "TEXT"].contains { type.contains($0) })
    }

    func stored(_ given: ImportValue) throws(ImportRefusal) -> DatabaseValue {
        switch (self, given) {
        case (.made(let type), _): try type.stored(given)
        case (.found(isText: true), .number(let number)): number.text.databaseValue
        case (.found, .number(let number)): try number.checked()
        case (.found, .value(let value)): value
        }
    }
}
