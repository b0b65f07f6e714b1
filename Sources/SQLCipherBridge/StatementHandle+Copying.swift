internal import CSQLCipher

/// The encoding in which a database stores text.
package enum TextEncoding: String, Sendable {
    /// The raw values are the names in `PRAGMA encoding`.
    case utf8 = "UTF-8"
    case utf16LittleEndian = "UTF-16le"
    case utf16BigEndian = "UTF-16be"

    fileprivate var code: UInt8 {
        switch self {
        case .utf8: UInt8(SQLITE_UTF8)
        case .utf16LittleEndian: UInt8(SQLITE_UTF16LE)
        case .utf16BigEndian: UInt8(SQLITE_UTF16BE)
        }
    }
}

// Copying stored values between databases with the same encoding, without conversion, and without repairing
// invalid text.
extension StatementHandle {
    /// Returns the stored bytes of a text or a blob, valid until the statement steps or resets; empty for
    /// other types.
    package func storedBytes(at column: CInt, encoding: TextEncoding) -> UnsafeRawBufferPointer {
        unsafe storedValue(at: column).bytes(encoding: encoding)
    }

    /// Returns the value of a column, valid until the statement steps or resets.
    package func storedValue(at column: CInt) -> StoredValue {
        unsafe StoredValue(pointer: sqlite3_column_value(pointer, column))
    }

    /// Binds the value of a column in the current row of another statement, without a copy. That row must
    /// stay until this statement was executed and bound again.
    package func bind(column: CInt, of source: StatementHandle, encoding: TextEncoding, at index: CInt)
        -> CInt
    {
        let value = source.storedValue(at: column)
        let type = value.type
        switch type {
        case SQLITE_INTEGER: return bind(value.int64, at: index)
        case SQLITE_FLOAT: return bind(value.double, at: index)
        case SQLITE_NULL: return bindNull(at: index)
        default:
            let bytes = unsafe value.bytes(encoding: encoding)
            return unsafe type == SQLITE_BLOB
                ? bind(keptBlob: bytes, at: index) : bind(keptText: bytes, encoding: encoding, at: index)
        }
    }

    /// Binds the stored bytes of a text without a copy. They must stay valid until another value is bound.
    func bind(keptText bytes: UnsafeRawBufferPointer, encoding: TextEncoding, at index: CInt) -> CInt {
        if unsafe encoding.startsWithByteOrderMark(bytes) {
            return unsafe bind(textWithByteOrderMark: bytes, encoding: encoding, at: index)
        }
        return unsafe coffer_bind_encoded_text_static(
            pointer, index, bytes.baseAddress, UInt64(bytes.count), encoding.code)
    }

    /// Binds the bytes of a blob without a copy. They must stay valid until another value is bound.
    func bind(keptBlob bytes: UnsafeRawBufferPointer, at index: CInt) -> CInt {
        unsafe coffer_bind_blob_static(pointer, index, bytes.baseAddress, UInt64(bytes.count))
    }

    /// Binds a copy of the stored bytes of a text.
    package func bind(text bytes: UnsafeRawBufferPointer, encoding: TextEncoding, at index: CInt) -> CInt {
        if unsafe encoding.startsWithByteOrderMark(bytes) {
            return unsafe bind(textWithByteOrderMark: bytes, encoding: encoding, at: index)
        }
        // A nil address would bind NULL.
        guard let base = bytes.baseAddress else {
            return unsafe coffer_bind_text_transient(pointer, index, "", 0)
        }
        return unsafe coffer_bind_encoded_text_transient(
            pointer, index, base, UInt64(bytes.count), encoding.code)
    }

    /// Binds a copy of a text that starts with a byte order mark. SQLite would drop its first character, so
    /// it prepends another mark.
    private func bind(
        textWithByteOrderMark bytes: UnsafeRawBufferPointer, encoding: TextEncoding, at index: CInt
    ) -> CInt {
        var marked = encoding.byteOrderMark
        unsafe marked.append(contentsOf: bytes)
        return unsafe marked.withUnsafeBytes { marked in
            unsafe coffer_bind_encoded_text_transient(
                pointer, index, marked.baseAddress, UInt64(marked.count), encoding.code)
        }
    }
}

extension TextEncoding {
    fileprivate var byteOrderMark: [UInt8] {
        switch self {
        case .utf8: []
        case .utf16LittleEndian: [0xff, 0xfe]
        case .utf16BigEndian: [0xfe, 0xff]
        }
    }

    /// Returns true if the bytes of a text start with a byte order mark of either byte order.
    fileprivate func startsWithByteOrderMark(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard self != .utf8, bytes.count >= 2 else { return false }
        return unsafe bytes[0] == 0xff && bytes[1] == 0xfe || bytes[0] == 0xfe && bytes[1] == 0xff
    }
}

/// A stored value in the current row of a statement.
@safe
package struct StoredValue {
    /// An `sqlite3_value` that SQLite calls unprotected. Only the thread that uses the statement may use it.
    fileprivate let pointer: OpaquePointer?

    package var type: CInt { unsafe sqlite3_value_type(pointer) }
    package var int64: Int64 { unsafe sqlite3_value_int64(pointer) }
    package var double: Double { unsafe sqlite3_value_double(pointer) }

    /// Returns the bytes of a text or a blob, without conversion; empty for other types.
    package func bytes(encoding: TextEncoding) -> UnsafeRawBufferPointer {
        let type = type
        guard type == SQLITE_TEXT || type == SQLITE_BLOB, let bytes = unsafe sqlite3_value_blob(pointer)
        else {
            return unsafe UnsafeRawBufferPointer(start: nil, count: 0)
        }
        // For UTF-16 text, `sqlite3_value_bytes` would convert the value and return its length in UTF-8.
        let isWide = type == SQLITE_TEXT && encoding != .utf8
        let count = unsafe isWide ? sqlite3_value_bytes16(pointer) : sqlite3_value_bytes(pointer)
        return unsafe UnsafeRawBufferPointer(start: bytes, count: Int(count))
    }
}
