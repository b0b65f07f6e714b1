internal import CSQLCipher
package import KeyMaterial

/// A borrowed `sqlite3_value *`: an argument of an SQL function, or a column of a row.
@safe
package struct ValueHandle {
    package let pointer: OpaquePointer

    package init(_ pointer: OpaquePointer) {
        unsafe self.pointer = pointer
    }

    /// One of the fundamental type codes in ``EngineType``.
    package var type: CInt { unsafe sqlite3_value_type(pointer) }
    package var int64: Int64 { unsafe sqlite3_value_int64(pointer) }
    package var double: Double { unsafe sqlite3_value_double(pointer) }

    /// The length in bytes of a blob, or of text in UTF-8.
    package var byteCount: Int { unsafe Int(sqlite3_value_bytes(pointer)) }

    /// A copy of the bytes of a blob or a text.
    package var secret: SecretBytes {
        unsafe withBlob { unsafe SecretBytes(copying: $0) }
    }

    package var string: String {
        guard let text = unsafe sqlite3_value_text(pointer) else { return "" }
        let count = unsafe Int(sqlite3_value_bytes(pointer))
        return unsafe String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
    }

    /// The bytes of the value as UTF-8 text, which may be invalid; nil for NULL.
    package var utf8: [UInt8]? {
        guard let text = unsafe sqlite3_value_text(pointer) else { return nil }
        return unsafe [UInt8](UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(pointer))))
    }

    /// Calls `body` with the bytes of a blob or a text, which are valid only during the call.
    package func withBlob<Result: ~Copyable>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard let bytes = unsafe sqlite3_value_blob(pointer) else {
            return unsafe body(UnsafeRawBufferPointer(start: nil, count: 0))
        }
        return unsafe body(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(pointer))))
    }
}
