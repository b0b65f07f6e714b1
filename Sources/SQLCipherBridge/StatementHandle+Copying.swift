internal import CSQLCipher

/// How a database stores its text.
package enum TextEncoding: String, Sendable {
    /// As `PRAGMA encoding` calls them.
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

// Values that go from one database to another one of the same encoding, as they are stored: no conversion, no
// repair of invalid text.
extension StatementHandle {
    /// The bytes of a text or blob as the database stores them, valid until the statement steps or resets;
    /// empty for other types.
    package func storedBytes(at column: CInt, encoding: TextEncoding) -> UnsafeRawBufferPointer {
        unsafe storedValue(at: column).bytes(encoding: encoding)
    }

    /// The value in a column, looked up once, and valid until the statement steps or resets.
    package func storedValue(at column: CInt) -> StoredValue {
        unsafe StoredValue(pointer: sqlite3_column_value(pointer, column))
    }

    /// Binds the value in a column of the current row of another statement, without a copy: that row must
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

    /// Binds the bytes of a text as the database stores them, without a copy: they stay until another value
    /// is bound.
    func bind(keptText bytes: UnsafeRawBufferPointer, encoding: TextEncoding, at index: CInt) -> CInt {
        if unsafe encoding.startsWithByteOrderMark(bytes) {
            return unsafe bind(textWithByteOrderMark: bytes, encoding: encoding, at: index)
        }
        return unsafe coffer_bind_encoded_text_static(
            pointer, index, bytes.baseAddress, UInt64(bytes.count), encoding.code)
    }

    /// The same for a blob.
    func bind(keptBlob bytes: UnsafeRawBufferPointer, at index: CInt) -> CInt {
        unsafe coffer_bind_blob_static(pointer, index, bytes.baseAddress, UInt64(bytes.count))
    }

    /// Binds a copy of the bytes of a text as the database stores them.
    package func bind(text bytes: UnsafeRawBufferPointer, encoding: TextEncoding, at index: CInt) -> CInt {
        if unsafe encoding.startsWithByteOrderMark(bytes) {
            return unsafe bind(textWithByteOrderMark: bytes, encoding: encoding, at: index)
        }
        // Without an address it would be NULL.
        guard let base = bytes.baseAddress else {
            return unsafe coffer_bind_text_transient(pointer, index, "", 0)
        }
        return unsafe coffer_bind_encoded_text_transient(
            pointer, index, base, UInt64(bytes.count), encoding.code)
    }

    /// SQLite takes the first character of such a text for a byte order mark, and drops it: it gets a real
    /// one in front of it.
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

    /// Whether the bytes of a text start with a byte order mark, of either kind.
    fileprivate func startsWithByteOrderMark(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard self != .utf8, bytes.count >= 2 else { return false }
        return unsafe bytes[0] == 0xff && bytes[1] == 0xfe || bytes[0] == 0xfe && bytes[1] == 0xff
    }
}

/// A value in the current row of a statement, as the database stores it.
@safe
package struct StoredValue {
    /// For the thread that uses the statement only: SQLite calls it unprotected.
    fileprivate let pointer: OpaquePointer?

    package var type: CInt { unsafe sqlite3_value_type(pointer) }
    package var int64: Int64 { unsafe sqlite3_value_int64(pointer) }
    package var double: Double { unsafe sqlite3_value_double(pointer) }

    /// The bytes of a text or blob, without conversion; empty for other types.
    package func bytes(encoding: TextEncoding) -> UnsafeRawBufferPointer {
        let type = type
        guard type == SQLITE_TEXT || type == SQLITE_BLOB, let bytes = unsafe sqlite3_value_blob(pointer)
        else {
            return unsafe UnsafeRawBufferPointer(start: nil, count: 0)
        }
        // The count in UTF-8 of a text in UTF-16 would be that of a conversion.
        let isWide = type == SQLITE_TEXT && encoding != .utf8
        let count = unsafe isWide ? sqlite3_value_bytes16(pointer) : sqlite3_value_bytes(pointer)
        return unsafe UnsafeRawBufferPointer(start: bytes, count: Int(count))
    }
}
