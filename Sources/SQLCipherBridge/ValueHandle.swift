internal import CSQLCipher

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

    package var string: String {
        guard let text = unsafe sqlite3_value_text(pointer) else { return "" }
        let count = unsafe Int(sqlite3_value_bytes(pointer))
        return unsafe String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
    }

    /// Calls `body` with the bytes of a blob or text, which are valid during the call only.
    package func withBlob<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard let bytes = unsafe sqlite3_value_blob(pointer) else {
            return unsafe body(UnsafeRawBufferPointer(start: nil, count: 0))
        }
        return unsafe body(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(pointer))))
    }
}

/// SQLite's fundamental types, as `sqlite3_column_type` and `sqlite3_value_type` return them.
@usableFromInline
package enum EngineType {
    @usableFromInline package static let integer: CInt = 1
    @usableFromInline package static let float: CInt = 2
    @usableFromInline package static let text: CInt = 3
    @usableFromInline package static let blob: CInt = 4
    @usableFromInline package static let null: CInt = 5
}

/// The result codes that the Swift code itself tests for. The public `ResultCode` lists them all.
@usableFromInline
package enum EngineCode {
    @usableFromInline package static let ok: CInt = 0
    package static let error: CInt = 1
    package static let busy: CInt = 5
    package static let locked: CInt = 6
    package static let noMemory: CInt = 7
    package static let readOnly: CInt = 8
    package static let interrupt: CInt = 9
    package static let ioError: CInt = 10
    package static let corrupt: CInt = 11
    package static let full: CInt = 13
    package static let cantOpen: CInt = 14
    package static let constraint: CInt = 19
    package static let misuse: CInt = 21
    package static let notADatabase: CInt = 26
    @usableFromInline package static let row: CInt = 100
    @usableFromInline package static let done: CInt = 101
}
