/// An optional that is decoded from NULL, or like its wrapped value, so that the strategies of the record
/// type apply to it.
///
/// Most decoders request only the wrapped value: see `decodeIfPresent(_:forKey:)`.
protocol DecodableOptional {
    static func decode(from source: RowDecodingSource, at column: Int, key: any CodingKey) throws -> Self

    /// Decodes the association with a key; nil if there is none.
    static func decodeAssociation(from source: RowDecodingSource, key: any CodingKey) throws -> Self
}

extension Optional: DecodableOptional where Wrapped: Decodable {
    static func decode(from source: RowDecodingSource, at column: Int, key: any CodingKey) throws -> Wrapped?
    {
        source.storage.isNull(at: column)
            ? source.decodeNull(Wrapped.self, at: column)
            : try source.decode(Wrapped.self, at: column, key: key)
    }

    static func decodeAssociation(from source: RowDecodingSource, key: any CodingKey) throws -> Wrapped? {
        try source.decodeAssociationIfPresent(Wrapped.self, key: key)
    }
}

extension RowDecodingSource {
    func decodeOptional<Value: DecodableOptional, T>(
        _ optional: Value.Type, as type: T.Type, at column: Int, key: any CodingKey
    ) throws -> T {
        let value = try Value.decode(from: self, at: column, key: key)
        return unsafe unsafeBitCast(value, to: T.self)  // Value and T are the same type
    }
}
