internal import CSQLCipher

// Conversions for Swift types. They match SQLite's own, except where SQLite's result would differ from the
// stored value.
//
// No conversion changes a number in place, because the type of the column would be undefined afterwards, and
// a row may be read twice. See <https://www.sqlite.org/c3ref/column_blob.html>.
//
// They call the statement once for the value, then the value for its type and content, because each call to
// the statement costs as much as the rest together. The value needs no protection, because the connection has
// only one user at a time.

extension StatementHandle {
    /// Returns the column as an integer; nil for NULL, or if ``integer(at:)`` is nil.
    @usableFromInline
    package func integerIfPresent(at index: CInt) -> Int64? {
        let value = unsafe sqlite3_column_value(pointer, index)
        return switch unsafe sqlite3_value_type(value) {
        case SQLITE_INTEGER: unsafe sqlite3_value_int64(value)
        case SQLITE_NULL: nil
        default: integer(at: index)
        }
    }

    /// Returns the column as a floating-point number, or nil for NULL.
    @usableFromInline
    package func doubleIfPresent(at index: CInt) -> Double? {
        let value = unsafe sqlite3_column_value(pointer, index)
        return unsafe sqlite3_value_type(value) == SQLITE_NULL ? nil : sqlite3_value_double(value)
    }

    /// Returns the column as a Boolean, or nil for NULL: see ``bool(at:)``.
    @usableFromInline
    package func boolIfPresent(at index: CInt) -> Bool? {
        isNull(at: index) ? nil : bool(at: index)
    }

    /// Returns the column as an integer, or nil for a number outside the range of `Int64`. Fractions are
    /// truncated, the numeric prefix of text is used, and NULL is 0.
    @usableFromInline
    package func integer(at index: CInt) -> Int64? {
        let value = unsafe sqlite3_column_int64(pointer, index)
        // SQLite clamps numbers that do not fit, so only the two extremes are ambiguous.
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

    /// Returns the column as a Boolean: false for zero and for text that does not begin with a number, and
    /// true for all other values.
    @usableFromInline
    package func bool(at index: CInt) -> Bool {
        if unsafe sqlite3_column_int64(pointer, index) != 0 { return true }
        // The conversion to an integer truncates 0.5 to 0.
        return columnType(at: index) == SQLITE_FLOAT && double(at: index) != 0
    }

    /// Returns the column as text: text itself or the bytes of a blob, with invalid UTF-8 repaired, or a
    /// number in SQLite's format. Nil for NULL, or if memory runs out.
    @usableFromInline
    package func text(at index: CInt) -> String? {
        let value = unsafe sqlite3_column_value(pointer, index)
        switch unsafe sqlite3_value_type(value) {
        case SQLITE_TEXT:
            guard let text = unsafe sqlite3_value_text(value) else { return nil }
            // Read the byte count after the text, because reading the text may convert the value.
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

    /// Returns the UTF-8 bytes of a text column, valid until the statement steps or resets, or the column is
    /// read again; nil if memory runs out. Text of a UTF-16 database is converted.
    package func textNoCopy(at index: CInt) -> UnsafeRawBufferPointer? {
        guard let text = unsafe sqlite3_column_text(pointer, index) else { return nil }
        return unsafe UnsafeRawBufferPointer(start: text, count: Int(sqlite3_column_bytes(pointer, index)))
    }

    /// Converts a copy of the number to text, so that the column keeps its type.
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
