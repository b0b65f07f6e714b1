/// A SHA-256 hash of database values and their types. Two sequences of values have the same hash only if they
/// are identical, byte for byte.
package struct ContentHash {
    private let digest: ContentDigest

    /// - Parameter isBeside: true to compute the hash on another thread while the caller continues.
    package init(isBeside: Bool = false) throws(CryptographyFailure) {
        digest = try ContentDigest(isBeside: isBeside)
    }

    /// Adds the value of a column in the current row.
    package func add(column: CInt, of statement: StatementHandle, encoding: TextEncoding) throws {
        let value = statement.storedValue(at: column)
        let type = value.type
        switch type {
        case EngineType.integer: try add(type, UInt64(bitPattern: value.int64))
        case EngineType.float: try add(type, value.double.bitPattern)
        case EngineType.null: try add(type, 0)
        default:
            let bytes = unsafe Span<UInt8>(_unsafeBytes: value.bytes(encoding: encoding))
            try add(type, UInt64(bytes.count))
            try digest.update(bytes)
        }
    }

    /// Adds a text.
    package func add(_ text: String) throws {
        let bytes = Array(text.utf8)
        try add(EngineType.text, UInt64(bytes.count))
        try add(bytes)
    }

    /// Adds bytes without their count, which must be known otherwise.
    package func add(_ bytes: [UInt8]) throws {
        try digest.update(bytes.span)
    }

    /// Returns the hash of all values: 32 bytes. No more values can be added afterwards.
    package func finish() throws(CryptographyFailure) -> [UInt8] { try digest.finish() }

    private func add(_ type: CInt, _ payload: UInt64) throws {
        let words = (UInt64(type).littleEndian, payload.littleEndian)
        try unsafe withUnsafeBytes(of: words) { unsafe try digest.update(Span(_unsafeBytes: $0)) }
    }
}
