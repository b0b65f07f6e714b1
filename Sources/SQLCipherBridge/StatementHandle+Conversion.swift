internal import CSQLCipher

// The conversions that Swift types ask for: SQLite's own, except where SQLite would answer with something
// that is not the stored value.
//
// None of them converts a number in place: SQLite leaves the type of the column undefined after that, and a
// row may be asked twice. See <https://www.sqlite.org/c3ref/column_blob.html>.
//
// They ask the statement once for the value, and then the value for its type and content: each question to
// the statement costs as much as the rest together. The connection has one user at a time, so that the value
// needs no protection.

extension StatementHandle {
    /// The column as an integer, or nil for NULL, and where ``integer(at:)`` is nil.
    @usableFromInline
    package func integerIfPresent(at index: CInt) -> Int64? {
        let value = unsafe sqlite3_column_value(pointer, index)
        return switch unsafe sqlite3_value_type(value) {
        case SQLITE_INTEGER: unsafe sqlite3_value_int64(value)
        case SQLITE_NULL: nil
        default: integer(at: index)
        }
    }

    /// The column as a floating-point number, or nil for NULL.
    @usableFromInline
    package func doubleIfPresent(at index: CInt) -> Double? {
        let value = unsafe sqlite3_column_value(pointer, index)
        return unsafe sqlite3_value_type(value) == SQLITE_NULL ? nil : sqlite3_value_double(value)
    }

    /// The truth of the column, or nil for NULL: see ``bool(at:)``.
    @usableFromInline
    package func boolIfPresent(at index: CInt) -> Bool? {
        isNull(at: index) ? nil : bool(at: index)
    }

    /// The column as an integer, or nil for a number outside of the range of `Int64`. Fractions are cut off;
    /// text is read as far as it is a number; NULL is 0.
    @usableFromInline
    package func integer(at index: CInt) -> Int64? {
        let value = unsafe sqlite3_column_int64(pointer, index)
        // SQLite clamps what does not fit, so that only the two extremes are doubtful.
        if value == .max || value == .min {
            return isExactExtreme(at: index) ? value : nil
        }
        return value
    }

    private func isExactExtreme(at index: CInt) -> Bool {
        switch columnType(at: index) {
        case SQLITE_FLOAT: double(at: index) == -0x1p63
        case SQLITE_TEXT, SQLITE_BLOB: text(at: index).flatMap(Int64.init) != nil
        default: true
        }
    }

    /// The truth of the column: zero is false, also for text that does not begin with a number, and all else
    /// is true.
    @usableFromInline
    package func bool(at index: CInt) -> Bool {
        if unsafe sqlite3_column_int64(pointer, index) != 0 { return true }
        // The integer conversion cuts 0.5 off to 0.
        return columnType(at: index) == SQLITE_FLOAT && double(at: index) != 0
    }

    /// The column as text: text itself or the bytes of a blob, repaired where they are not valid UTF-8, or a
    /// number as SQLite writes it. Nil for NULL, and when memory runs out.
    @usableFromInline
    package func text(at index: CInt) -> String? {
        let value = unsafe sqlite3_column_value(pointer, index)
        switch unsafe sqlite3_value_type(value) {
        case SQLITE_TEXT:
            guard let text = unsafe sqlite3_value_text(value) else { return nil }
            // The number of bytes has to be asked after the text, which may be converted.
            let bytes = unsafe UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(value)))
            return unsafe String(decoding: bytes, as: UTF8.self)
        case SQLITE_BLOB:
            guard let bytes = unsafe blobNoCopy(at: index) else { return nil }
            return unsafe String(decoding: bytes, as: UTF8.self)
        case SQLITE_INTEGER, SQLITE_FLOAT:
            return numberText(at: index)
        default:
            return nil
        }
    }

    /// The UTF-8 bytes of a column that holds text, valid until the statement steps, resets, or the column is
    /// asked again; nil when memory runs out. Text of a UTF-16 database is converted.
    package func textNoCopy(at index: CInt) -> UnsafeRawBufferPointer? {
        guard let text = unsafe sqlite3_column_text(pointer, index) else { return nil }
        return unsafe UnsafeRawBufferPointer(start: text, count: Int(sqlite3_column_bytes(pointer, index)))
    }

    /// Converts a copy of the value, so that the column keeps its type.
    private func numberText(at index: CInt) -> String? {
        guard let copy = unsafe sqlite3_value_dup(sqlite3_column_value(pointer, index)) else { return nil }
        defer { unsafe sqlite3_value_free(copy) }
        return unsafe ValueHandle(copy).string
    }

    /// Binds a copy of the UTF-8 bytes as text.
    package func bind(text bytes: UnsafeRawBufferPointer, at index: CInt) -> CInt {
        guard let base = bytes.baseAddress else {
            return unsafe coffer_bind_text_transient(pointer, index, "", 0)
        }
        return unsafe coffer_bind_text_transient(
            pointer, index, base.assumingMemoryBound(to: CChar.self), UInt64(bytes.count))
    }
}
