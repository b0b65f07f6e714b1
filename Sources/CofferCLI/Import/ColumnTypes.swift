internal import Coffer
internal import Foundation

/// The type of a column of a new table: declared, or inferred from a sample of values.
enum ColumnType: String, CaseIterable {
    case integer = "INTEGER"
    case real = "REAL"
    case text = "TEXT"
    case blob = "BLOB"
    case any = "ANY"
    /// Numbers in a column without conversion, because REAL would store -0.0 as 0.0.
    case number = "NUMBER"

    /// The name of the type in SQL.
    var declaration: String { self == .number ? ColumnType.any.rawValue : rawValue }

    /// Infers the narrowest type for the values. A text counts as a number only if it is the number's
    /// canonical form: `007` and `1.10` stay texts.
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

    /// Returns the integer whose canonical form is the text, or nil.
    private static func integer(in text: String) -> Int64? {
        // Int64 also takes a plus sign and zeros in front.
        let bytes = text.utf8Span.span
        let first = bytes.isEmpty || bytes[0] != UInt8(ascii: "-") ? 0 : 1
        guard first < bytes.count, bytes[first] != UInt8(ascii: "+"),
            bytes[first] != UInt8(ascii: "0") || bytes.count == 1
        else { return nil }
        return Int64(text)
    }

    /// Returns the number whose canonical form is the text, or nil. Integers count if REAL represents them
    /// exactly.
    private static func real(in text: String) -> Double? {
        if let number = Double(text), number.isFinite, number.description == text { return number }
        return integer(in: text).flatMap { Double(exactly: $0) }
    }

    /// Returns the number that a JSON number stands for. The result is nil only for integers that REAL would
    /// change.
    private static func real(inInteger text: String) -> Double? {
        guard let integer = Int64(text) else { return Double(text) }
        return Double(exactly: integer)
    }

    /// Returns the value of an integer in a column that converts it to REAL.
    fileprivate static func real(_ integer: Int64) throws(ImportRefusal) -> DatabaseValue {
        guard let real = Double(exactly: integer) else {
            throw ImportRefusal("\(integer) would be another number as REAL")
        }
        return real.databaseValue
    }

    private static let negativeZero = ImportRefusal("-0.0 would be 0.0 as REAL; the type NUMBER keeps it")

    /// Returns the value to store in a column of this type. It never differs from the given value; otherwise
    /// the value is rejected.
    func stored(_ given: ImportValue) throws(ImportRefusal) -> DatabaseValue {
        switch (self, given) {
        case (.text, .number(let number)): return number.text.databaseValue
        case (_, .number(let number)):
            let value = try number.checked()
            switch (self, value.storage) {
            case (.real, .double(let real)) where real.isNegativeZero: throw ColumnType.negativeZero
            case (.integer, .double): throw ImportRefusal("\(number.text) is not an INTEGER")
            case (.real, .int64(let integer)): return try ColumnType.real(integer)
            default: return value
            }
        case (.integer, .value(let value)):
            switch value.storage {
            case .string(let text):
                guard let integer = ColumnType.integer(in: text) else {
                    throw ImportRefusal("'\(text)' would be another value as INTEGER")
                }
                return integer.databaseValue
            case .double(let number): throw ImportRefusal("\(number) is not an INTEGER")
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
    /// A Boolean value that indicates whether the number is -0.0, which a REAL column stores as the integer 0
    /// and returns as 0.0.
    fileprivate var isNegativeZero: Bool { self == 0 && sign == .minus }
}

/// The reason that a column cannot hold a value.
struct ImportRefusal: Error {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}

/// The column that values are imported into.
enum ImportColumn {
    /// A column of a table that the import creates. Values are stored unchanged or rejected.
    case made(ColumnType)
    /// A column of an existing table, whose affinity may convert values.
    case found(Affinity)

    enum Affinity {
        case text, real
        /// Integers and reals are stored as they are.
        case other
    }

    /// Creates a column of an existing table from its declared type:
    /// <https://www.sqlite.org/datatype3.html#determination_of_column_affinity>.
    init(declared type: String) {
        let type = type.uppercased()
        func has(_ parts: String...) -> Bool { parts.contains { type.contains($0) } }
        self =
            switch true {
            case has("INT"): .found(.other)
            case has("CHAR", "CLOB", "TEXT"): .found(.text)
            case has("BLOB"): .found(.other)
            case has("REAL", "FLOA", "DOUB"): .found(.real)
            default: .found(.other)
            }
    }

    func stored(_ given: ImportValue) throws(ImportRefusal) -> DatabaseValue {
        switch (self, given) {
        case (.made(let type), _): return try type.stored(given)
        case (.found(.text), .number(let number)): return number.text.databaseValue
        case (.found(let affinity), .number(let number)):
            let value = try number.checked()
            guard affinity == .real, case .int64(let integer) = value.storage else { return value }
            return try ColumnType.real(integer)
        case (.found, .value(let value)): return value
        }
    }
}
