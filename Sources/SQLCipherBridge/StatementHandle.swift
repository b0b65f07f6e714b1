internal import CSQLCipher

/// A borrowed `sqlite3_stmt *`: thin calls without error handling. It cannot be finalized, except by the
/// ``EngineStatement`` that owns it.
///
/// The functions are deliberately not inlinable: this keeps all C symbols inside this module, and a call
/// costs about half a nanosecond.
@safe
@usableFromInline
package struct StatementHandle: Hashable {
    @usableFromInline package let pointer: OpaquePointer

    @usableFromInline
    package init(_ pointer: OpaquePointer) {
        unsafe self.pointer = pointer
    }

    @usableFromInline
    package func hash(into hasher: inout Hasher) { unsafe hasher.combine(pointer) }

    @usableFromInline
    package func step() -> CInt { unsafe sqlite3_step(pointer) }

    @discardableResult
    @usableFromInline
    package func reset() -> CInt { unsafe sqlite3_reset(pointer) }

    @usableFromInline
    package static func == (lhs: StatementHandle, rhs: StatementHandle) -> Bool {
        unsafe lhs.pointer == rhs.pointer
    }
}

// MARK: - Properties of a statement

extension StatementHandle {
    package var sql: String { unsafe sqlite3_sql(pointer).map { unsafe String(cString: $0) } ?? "" }

    /// The SQL with the bound values inserted, or nil if memory runs out, or if the text exceeds SQLite's
    /// length limit.
    package var expandedSQL: String? {
        guard let text = unsafe sqlite3_expanded_sql(pointer) else { return nil }
        defer { unsafe sqlite3_free(text) }
        return unsafe String(cString: text)
    }

    package var isReadonly: Bool { unsafe sqlite3_stmt_readonly(pointer) != 0 }
    package var isBusy: Bool { unsafe sqlite3_stmt_busy(pointer) != 0 }
    package var parameterCount: Int { unsafe Int(sqlite3_bind_parameter_count(pointer)) }

    /// Returns the name of the parameter at `index` (1-based) with its prefix, as in `":name"`, or nil for an
    /// anonymous one.
    package func parameterName(at index: CInt) -> String? {
        unsafe sqlite3_bind_parameter_name(pointer, index).map { unsafe String(cString: $0) }
    }

    @usableFromInline
    package var columnCount: CInt { unsafe sqlite3_column_count(pointer) }

    /// The number of times that SQLite has prepared the statement again because the schema has changed.
    package var repreparationCount: Int {
        unsafe Int(sqlite3_stmt_status(pointer, SQLITE_STMTSTATUS_REPREPARE, 0))
    }

    /// The approximate number of bytes that the engine uses for the statement.
    package var memoryUsed: Int { unsafe Int(sqlite3_stmt_status(pointer, SQLITE_STMTSTATUS_MEMUSED, 0)) }

    package func columnName(at index: CInt) -> String {
        unsafe sqlite3_column_name(pointer, index).map { unsafe String(cString: $0) } ?? ""
    }
}

// MARK: - Binding

extension StatementHandle {
    @discardableResult
    package func clearBindings() -> CInt { unsafe sqlite3_clear_bindings(pointer) }

    @usableFromInline
    package func bindNull(at index: CInt) -> CInt { unsafe sqlite3_bind_null(pointer, index) }

    @usableFromInline
    package func bind(_ value: Int64, at index: CInt) -> CInt {
        unsafe sqlite3_bind_int64(pointer, index, value)
    }

    @usableFromInline
    package func bind(_ value: Double, at index: CInt) -> CInt {
        unsafe sqlite3_bind_double(pointer, index, value)
    }

    /// Binds a copy of the text, which may contain NUL characters.
    @usableFromInline
    package func bind(_ value: String, at index: CInt) -> CInt {
        var value = value
        return value.withUTF8 { bytes in
            guard let base = bytes.baseAddress else {
                return unsafe coffer_bind_text_transient(pointer, index, "", 0)
            }
            return unsafe base.withMemoryRebound(to: CChar.self, capacity: bytes.count) { text in
                unsafe coffer_bind_text_transient(pointer, index, text, UInt64(bytes.count))
            }
        }
    }

    /// Binds a copy of the bytes. An empty buffer is an empty blob, not NULL.
    @usableFromInline
    package func bind(blob bytes: UnsafeRawBufferPointer, at index: CInt) -> CInt {
        guard let base = bytes.baseAddress, unsafe !bytes.isEmpty else {
            return unsafe coffer_bind_blob_transient(pointer, index, "", 0)
        }
        return unsafe coffer_bind_blob_transient(pointer, index, base, UInt64(bytes.count))
    }
}

// MARK: - Columns of the current row

extension StatementHandle {
    @usableFromInline
    package func columnType(at index: CInt) -> CInt { unsafe sqlite3_column_type(pointer, index) }

    @usableFromInline
    package func isNull(at index: CInt) -> Bool { unsafe sqlite3_column_type(pointer, index) == SQLITE_NULL }

    @usableFromInline
    package func int64(at index: CInt) -> Int64 { unsafe sqlite3_column_int64(pointer, index) }

    @usableFromInline
    package func double(at index: CInt) -> Double { unsafe sqlite3_column_double(pointer, index) }

    /// Returns the text of a column, with invalid UTF-8 repaired; empty for NULL.
    @usableFromInline
    package func string(at index: CInt) -> String {
        guard let text = unsafe sqlite3_column_text(pointer, index) else { return "" }
        // Read the byte count after the text, because reading the text may convert the value.
        let count = unsafe Int(sqlite3_column_bytes(pointer, index))
        return unsafe String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
    }

    /// Returns the text of a column as a name, with invalid bytes escaped; empty for NULL.
    package func identifier(at index: CInt) -> String {
        unsafe textNoCopy(at: index).map { unsafe String(identifier: $0) } ?? ""
    }

    /// Binds a name as a text, without escapes.
    package func bind(identifier name: String, at index: CInt) -> CInt {
        unsafe name.identifierBytes.withUnsafeBytes { unsafe bind(text: $0, at: index) }
    }

    /// Returns the bytes of a column as a blob or text, valid until the statement steps or resets, or the
    /// column is read again; nil for NULL.
    ///
    /// In C, the base address of an empty blob is nil. This method returns an empty buffer. Text is returned
    /// as UTF-8, even in a UTF-16 database.
    @usableFromInline
    package func blobNoCopy(at index: CInt) -> UnsafeRawBufferPointer? {
        if columnType(at: index) == SQLITE_TEXT { return unsafe textNoCopy(at: index) }
        guard let bytes = unsafe sqlite3_column_blob(pointer, index) else {
            return unsafe isNull(at: index) ? nil : UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return unsafe UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(pointer, index)))
    }
}
