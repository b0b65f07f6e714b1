public import Foundation
public import SQLCipherBridge

// MARK: - Decoding a position

extension Row {
    /// Decodes the value at a position that has already been checked.
    ///
    /// The first branch is for rows that come straight from a statement; only it is worth inlining.
    @inlinable
    func decodeFast<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ type: Value.Type, at index: Int
    ) throws -> Value {
        if let liveHandle {
            let column = firstColumn &+ CInt(truncatingIfNeeded: index)
            if let value = unsafe Value.fromStatement(liveHandle.pointer, atUncheckedIndex: column) {
                return value
            }
            throw RowDecodingError.valueMismatch(type, row: self, index: index)
        }
        return try decodeCopied(type, at: index)
    }

    /// Decodes the value in the same way for a row that does not come straight from a statement. It is
    /// specialized in the module of the caller, but not inlined there.
    @inlinable @inline(never)
    func decodeCopied<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ type: Value.Type, at index: Int
    ) throws -> Value {
        guard let copiedValues else { return try decodeShown(type, at: index) }
        if let value = Value.fromDatabaseValue(copiedValues[Int(firstColumn) + index]) { return value }
        throw RowDecodingError.valueMismatch(type, row: self, index: index)
    }

    /// Decodes the value in the same way for a row whose columns an adapter reorders. Columns of a statement
    /// use SQLite's conversions, regardless of the adapter.
    @usableFromInline
    func decodeShown<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ type: Value.Type, at index: Int
    ) throws -> Value {
        guard let column = storage.liveColumn(at: index) else { return try decodeStored(type, at: index) }
        if let value = unsafe Value.fromStatement(column.handle.pointer, atUncheckedIndex: column.index) {
            return value
        }
        throw RowDecodingError.valueMismatch(type, row: self, index: index)
    }

    /// Decodes the value at a position that has already been checked, from its ``DatabaseValue``.
    @usableFromInline
    func decodeStored<Value: DatabaseValueConvertible>(_ type: Value.Type, at index: Int) throws -> Value {
        guard let value = Value.fromDatabaseValue(storage.databaseValue(at: index)) else {
            throw RowDecodingError.valueMismatch(type, row: self, index: index)
        }
        return value
    }

    /// Decodes the value at a position that has already been checked, or returns nil for NULL, unless `Value`
    /// has a conversion of its own for NULL.
    @usableFromInline
    func decodeStoredIfPresent<Value: DatabaseValueConvertible>(_ type: Value.Type, at index: Int) throws
        -> Value?
    {
        let databaseValue = storage.databaseValue(at: index)
        if let value = Value.fromDatabaseValue(databaseValue) { return value }
        if databaseValue.isNull { return nil }
        throw RowDecodingError.valueMismatch(type, row: self, index: index)
    }
}

// MARK: - Throwing

extension Row {
    /// Decodes the value at a position.
    ///
    /// - Parameter index: the position of the column, from 0.
    /// - Precondition: the position is in the row.
    /// - Throws: a ``RowDecodingError`` if the value is NULL or cannot be converted to the type.
    public func decode<Value: DatabaseValueConvertible>(_ type: Value.Type = Value.self, atIndex index: Int)
        throws -> Value
    {
        checkIndex(index)
        return try decodeStored(type, at: index)
    }

    /// Decodes the value at a position: see ``decode(_:atIndex:)``.
    ///
    /// - Parameter index: the position of the column, from 0.
    @inlinable
    public func decode<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ type: Value.Type = Value.self, atIndex index: Int
    ) throws -> Value {
        checkIndex(index)
        return try decodeFast(type, at: index)
    }

    /// Decodes the value of the first column with this name.
    ///
    /// - Parameter columnName: the name of the column, compared case-insensitively.
    /// - Throws: a ``RowDecodingError`` if the value cannot be converted, or if there is no such column,
    ///   unless the type has a value for missing columns.
    public func decode<Value: DatabaseValueConvertible>(
        _ type: Value.Type = Value.self, forColumn columnName: String
    ) throws -> Value {
        guard let index = index(ofColumn: columnName) else { return try valueForMissingColumn(columnName) }
        return try decodeStored(type, at: index)
    }

    /// Decodes the value of the first column with this name: see ``decode(_:forColumn:)``.
    ///
    /// - Parameter columnName: the name of the column, compared case-insensitively.
    @inlinable
    public func decode<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ type: Value.Type = Value.self, forColumn columnName: String
    ) throws -> Value {
        guard let index = index(ofColumn: columnName) else { return try valueForMissingColumn(columnName) }
        return try decodeFast(type, at: index)
    }

    /// Decodes the value of a column: see ``decode(_:forColumn:)``.
    ///
    /// - Parameter column: the column, which is looked up by its name.
    public func decode<Value: DatabaseValueConvertible>(
        _ type: Value.Type = Value.self, forColumn column: some ColumnExpression
    ) throws -> Value {
        try decode(type, forColumn: column.name)
    }

    /// Decodes the value of a column: see ``decode(_:forColumn:)``.
    ///
    /// - Parameter column: the column, which is looked up by its name.
    @inlinable
    public func decode<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ type: Value.Type = Value.self, forColumn column: some ColumnExpression
    ) throws -> Value {
        try decode(type, forColumn: column.name)
    }

    /// Decodes the value of the first column with this name, or returns nil for NULL and for a missing
    /// column.
    @usableFromInline
    func decodeIfPresent<Value: DatabaseValueConvertible>(
        _ type: Value.Type = Value.self, forColumn columnName: String
    ) throws -> Value? {
        guard let index = index(ofColumn: columnName) else { return Value.fromMissingColumn() }
        return try decodeStoredIfPresent(type, at: index)
    }

    @usableFromInline
    func valueForMissingColumn<Value: DatabaseValueConvertible>(_ columnName: String) throws -> Value {
        guard let value = Value.fromMissingColumn() else {
            throw RowDecodingError.columnNotFound(columnName, row: self)
        }
        return value
    }
}

// MARK: - Trapping

extension Row {
    /// The value at a position, as the type in which SQLite stores it; nil for NULL.
    public subscript(_ index: Int) -> (any DatabaseValueConvertible)? {
        checkIndex(index)
        return storage.databaseValue(at: index).storage.value
    }

    /// The value at a position.
    ///
    /// - Precondition: the position is in the row, and the value can be converted to the type.
    public subscript<Value: DatabaseValueConvertible>(_ index: Int) -> Value {
        checkIndex(index)
        return trapping { try decodeStored(Value.self, at: index) }
    }

    /// The value at a position: see `subscript(_:)`.
    @inlinable
    public subscript<Value: DatabaseValueConvertible & StatementColumnConvertible>(_ index: Int) -> Value {
        checkIndex(index)
        return trapping { try decodeFast(Value.self, at: index) }
    }

    /// The value of the first column with this name, as the type in which SQLite stores it; nil for NULL and
    /// for a missing column.
    public subscript(_ columnName: String) -> (any DatabaseValueConvertible)? {
        index(ofColumn: columnName).flatMap { storage.databaseValue(at: $0).storage.value }
    }

    /// The value of the first column with this name, compared case-insensitively.
    ///
    /// - Precondition: the column exists, unless the type has a value for missing columns (as optionals do),
    ///   and the value can be converted to the type.
    public subscript<Value: DatabaseValueConvertible>(_ columnName: String) -> Value {
        trapping { try decode(Value.self, forColumn: columnName) }
    }

    /// The value of the first column with this name: see `subscript(_:)`.
    @inlinable
    public subscript<Value: DatabaseValueConvertible & StatementColumnConvertible>(_ columnName: String)
        -> Value
    {
        trapping { try decode(Value.self, forColumn: columnName) }
    }

    /// The value of a column, as the type in which SQLite stores it; nil for NULL and for a missing column.
    public subscript(_ column: some ColumnExpression) -> (any DatabaseValueConvertible)? { self[column.name] }

    /// The value of a column: see `subscript(_:)` with a name.
    public subscript<Value: DatabaseValueConvertible>(_ column: some ColumnExpression) -> Value {
        self[column.name]
    }

    /// The value of a column: see `subscript(_:)` with a name.
    @inlinable
    public subscript<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ column: some ColumnExpression
    ) -> Value {
        self[column.name]
    }

    @inlinable @inline(__always)
    func trapping<Value>(_ body: () throws -> Value) -> Value {
        do {
            return try body()
        } catch {
            Row.trap(error)
        }
    }

    @usableFromInline
    static func trap(_ error: any Error) -> Never {
        fatalError(String(describing: error))
    }
}

// MARK: - The first of several

extension Row {
    /// Returns the first value other than NULL among columns, like `COALESCE`. Columns that do not exist are
    /// skipped.
    ///
    ///     let shown: String? = row.coalesce(["email", "name"])
    public func coalesce<T: DatabaseValueConvertible>(_ columns: some Collection<String>) -> T? {
        for column in columns {
            if let value = trapping({ try decodeIfPresent(T.self, forColumn: column) }) { return value }
        }
        return nil
    }

    /// Returns the first value other than NULL among columns: see ``coalesce(_:)-(Collection<String>)``.
    public func coalesce<T: DatabaseValueConvertible>(_ columns: some Collection<any ColumnExpression>) -> T?
    {
        coalesce(columns.lazy.map { $0.name })
    }
}

// MARK: - Bytes

extension Row {
    /// Calls `body` with the bytes at a position, or with nil for NULL. The bytes are not copied if the row
    /// comes straight from a statement.
    ///
    /// The data is valid only during the call.
    ///
    /// - Parameters:
    ///   - index: the position of the column, from 0.
    ///   - body: a closure that reads the bytes. They are valid only during the call.
    public func withUnsafeData<T>(atIndex index: Int, _ body: (Data?) throws -> T) throws -> T {
        checkIndex(index)
        return try withUncheckedData(at: index, body)
    }

    /// Calls `body` with the bytes of the first column with this name, or with nil for NULL and for a missing
    /// column.
    ///
    /// - Parameters:
    ///   - columnName: the name of the column.
    ///   - body: a closure that reads the bytes. They are valid only during the call.
    public func withUnsafeData<T>(named columnName: String, _ body: (Data?) throws -> T) throws -> T {
        guard let index = index(ofColumn: columnName) else { return try body(nil) }
        return try withUncheckedData(at: index, body)
    }

    /// Calls `body` with the bytes of a column, or with nil for NULL and for a missing column.
    ///
    /// - Parameter body: a closure that reads the bytes. They are valid only during the call.
    public func withUnsafeData<T>(at column: some ColumnExpression, _ body: (Data?) throws -> T) throws -> T {
        try withUnsafeData(named: column.name, body)
    }

    private func withUncheckedData<T>(at index: Int, _ body: (Data?) throws -> T) throws -> T {
        guard let column = storage.liveColumn(at: index) else {
            return try body(try decodeStoredIfPresent(Data.self, at: index))
        }
        guard let bytes = unsafe column.handle.blobNoCopy(at: column.index) else { return try body(nil) }
        guard let base = bytes.baseAddress else { return try body(Data()) }
        // SQLite's bytes are not written to: a mutation of the data copies them first.
        return try body(
            unsafe Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: base), count: bytes.count, deallocator: .none))
    }

    /// Returns the bytes at a position, without a copy if the row comes straight from a statement. They are
    /// valid until the next step of the statement.
    @available(*, deprecated, message: "Use withUnsafeData(atIndex:_:) instead.")
    public func dataNoCopy(atIndex index: Int) -> Data? {
        trapping { try withUnsafeData(atIndex: index) { $0 } }
    }

    /// Returns the bytes of the first column with this name: see ``dataNoCopy(atIndex:)``.
    @available(*, deprecated, message: "Use withUnsafeData(named:_:) instead.")
    public func dataNoCopy(named columnName: String) -> Data? {
        trapping { try withUnsafeData(named: columnName) { $0 } }
    }

    /// Returns the bytes of a column: see ``dataNoCopy(atIndex:)``.
    @available(*, deprecated, message: "Use withUnsafeData(at:_:) instead.")
    public func dataNoCopy(_ column: some ColumnExpression) -> Data? {
        trapping { try withUnsafeData(at: column) { $0 } }
    }
}
