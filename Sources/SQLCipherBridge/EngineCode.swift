/// The result codes that Coffer's own code tests for. The public `ResultCode` lists all codes.
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
    /// `SQLITE_IOERR_READ`.
    static let unreadable: CInt = 10 | 1 << 8
    /// `SQLITE_IOERR_SHMSIZE`: the index of the log could not be extended.
    static let noSpaceForIndex: CInt = 10 | 19 << 8
    package static let full: CInt = 13
    package static let cantOpen: CInt = 14
    package static let tooBig: CInt = 18
    package static let constraint: CInt = 19
    /// `SQLITE_CANTOPEN` with an extension of Coffer: a file next to the database file was rejected.
    package static let refusedSideFile: CInt = 14 | 0x7f << 8
    /// `SQLITE_CANTOPEN` with an extension of Coffer: a database in a directory without write permission was
    /// changed while it was being read.
    package static let changedElsewhere: CInt = 14 | 0x7e << 8
    /// `SQLITE_READONLY_DIRECTORY`.
    package static let readOnlyDirectory: CInt = 8 | 6 << 8
    /// `SQLITE_BUSY` with an extension of Coffer: other connections of this process lock the file for each
    /// transaction.
    static let lockedOtherwise: CInt = 5 | 0x7f << 8
    /// `SQLITE_READONLY_DBMOVED`.
    package static let databaseMoved: CInt = 8 | 4 << 8
    package static let misuse: CInt = 21
    package static let authorization: CInt = 23
    package static let notADatabase: CInt = 26
    @usableFromInline package static let row: CInt = 100
    @usableFromInline package static let done: CInt = 101
}

/// SQLite's fundamental types, as returned by `sqlite3_column_type` and `sqlite3_value_type`.
@usableFromInline
package enum EngineType {
    @usableFromInline package static let integer: CInt = 1
    @usableFromInline package static let float: CInt = 2
    @usableFromInline package static let text: CInt = 3
    @usableFromInline package static let blob: CInt = 4
    @usableFromInline package static let null: CInt = 5
}
