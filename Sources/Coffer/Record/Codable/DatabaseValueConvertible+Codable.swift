internal import Foundation

extension DatabaseValueConvertible where Self: Encodable {
    /// A single database value if the type encodes itself into a single value container, or else its JSON
    /// text.
    ///
    /// A value that cannot be encoded, such as infinity with the default encoder, is a fatal error.
    public var databaseValue: DatabaseValue {
        do {
            if let value = try SingleValueEncoder.encode(self) { return value }
            return String(decoding: try Self.databaseJSONEncoder().encode(self), as: UTF8.self).databaseValue
        } catch {
            fatalError(
                "A value of type \(Self.self) cannot be stored, because it cannot be encoded as JSON: "
                    + "\(Swift.type(of: error))."
            )
        }
    }
}

extension DatabaseValueConvertible where Self: Decodable {
    /// Decodes a value from a single database value if the type decodes itself from a single value container,
    /// or else from JSON text or bytes.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        switch SingleValueDecoder.decode(Self.self, from: dbValue) {
        case .value(let value): value
        case .failure: nil
        case .notSingle(let value, _):
            Data.fromDatabaseValue(dbValue).flatMap { try? databaseJSONDecoder().decode(Self.self, from: $0) }
                ?? (dbValue.isNull ? nil : value)
        }
    }
}

// A raw value takes precedence over JSON.

extension DatabaseValueConvertible
where Self: Encodable & RawRepresentable, RawValue: DatabaseValueConvertible {
    /// The database value of the raw value.
    @inlinable
    public var databaseValue: DatabaseValue { rawValue.databaseValue }
}

extension DatabaseValueConvertible
where Self: Decodable & RawRepresentable, RawValue: DatabaseValueConvertible {
    /// Returns the value with a stored raw value, or nil if there is none.
    @inlinable
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        RawValue.fromDatabaseValue(dbValue).flatMap { Self(rawValue: $0) }
    }
}
