// The names and numbers of <https://www.sqlite.org/rescode.html>.

/// What has the result codes of SQLite for constants: code can say `DatabaseError.SQLITE_BUSY`, as it says
/// `ResultCode.SQLITE_BUSY`.
public protocol _ResultCodes {}

extension ResultCode: _ResultCodes {}
extension DatabaseError: _ResultCodes {}

// MARK: - Primary codes

extension _ResultCodes {
    /// Success. It is never the code of an error.
    public static var SQLITE_OK: ResultCode { ResultCode(rawValue: 0) }
    /// SQL that does not compile, a name that is not there, or a failure that no other code describes.
    public static var SQLITE_ERROR: ResultCode { ResultCode(rawValue: 1) }
    /// A mistake in SQLite itself.
    public static var SQLITE_INTERNAL: ResultCode { ResultCode(rawValue: 2) }
    /// The file was made, and cannot be used with the permissions that it has.
    public static var SQLITE_PERM: ResultCode { ResultCode(rawValue: 3) }
    /// A statement was ended before its end, for example because the transaction was rolled back.
    public static var SQLITE_ABORT: ResultCode { ResultCode(rawValue: 4) }
    /// Another connection holds the lock that is needed: wait, or set a ``Configuration/busyMode``.
    public static var SQLITE_BUSY: ResultCode { ResultCode(rawValue: 5) }
    /// Another statement of the same connection, or of a shared cache, is in the way.
    public static var SQLITE_LOCKED: ResultCode { ResultCode(rawValue: 6) }
    /// There is not enough memory.
    public static var SQLITE_NOMEM: ResultCode { ResultCode(rawValue: 7) }
    /// The connection, the access or the file does not allow writing.
    public static var SQLITE_READONLY: ResultCode { ResultCode(rawValue: 8) }
    /// The statement was interrupted: see ``DatabaseReader/interrupt()``.
    public static var SQLITE_INTERRUPT: ResultCode { ResultCode(rawValue: 9) }
    /// The system could not read or write. The extended code says which call failed.
    public static var SQLITE_IOERR: ResultCode { ResultCode(rawValue: 10) }
    /// The database is damaged.
    public static var SQLITE_CORRUPT: ResultCode { ResultCode(rawValue: 11) }
    /// A file control or an opcode that is unknown.
    public static var SQLITE_NOTFOUND: ResultCode { ResultCode(rawValue: 12) }
    /// The disk is full, or the database has as many pages as it may have.
    public static var SQLITE_FULL: ResultCode { ResultCode(rawValue: 13) }
    /// The file, or one beside it, cannot be opened or made.
    public static var SQLITE_CANTOPEN: ResultCode { ResultCode(rawValue: 14) }
    /// The locks of the write-ahead log could not be had, after many tries.
    public static var SQLITE_PROTOCOL: ResultCode { ResultCode(rawValue: 15) }
    /// Not used by SQLite any more.
    public static var SQLITE_EMPTY: ResultCode { ResultCode(rawValue: 16) }
    /// The schema has changed since the statement was prepared.
    public static var SQLITE_SCHEMA: ResultCode { ResultCode(rawValue: 17) }
    /// A text, a blob or a statement is longer than the limit.
    public static var SQLITE_TOOBIG: ResultCode { ResultCode(rawValue: 18) }
    /// A constraint of the schema is violated. The extended code says which.
    public static var SQLITE_CONSTRAINT: ResultCode { ResultCode(rawValue: 19) }
    /// A value of a type that the column does not take, such as a text for a row ID.
    public static var SQLITE_MISMATCH: ResultCode { ResultCode(rawValue: 20) }
    /// A use that the API does not allow: a closed database, a wrong number of arguments, and other mistakes
    ///   of the program.
    public static var SQLITE_MISUSE: ResultCode { ResultCode(rawValue: 21) }
    /// The system does not have files as large as this one.
    public static var SQLITE_NOLFS: ResultCode { ResultCode(rawValue: 22) }
    /// The statement is not allowed on this connection.
    public static var SQLITE_AUTH: ResultCode { ResultCode(rawValue: 23) }
    /// Not used by SQLite any more.
    public static var SQLITE_FORMAT: ResultCode { ResultCode(rawValue: 24) }
    /// A parameter or a column with a number that is not there.
    public static var SQLITE_RANGE: ResultCode { ResultCode(rawValue: 25) }
    /// The file does not open with this key, or is no database. ``DatabaseError/encryptionFailure`` says
    ///   which.
    public static var SQLITE_NOTADB: ResultCode { ResultCode(rawValue: 26) }
    /// A message in the log, and no error.
    public static var SQLITE_NOTICE: ResultCode { ResultCode(rawValue: 27) }
    /// A warning in the log, and no error.
    public static var SQLITE_WARNING: ResultCode { ResultCode(rawValue: 28) }
    /// A statement has a row. It is never the code of an error.
    public static var SQLITE_ROW: ResultCode { ResultCode(rawValue: 100) }
    /// A statement has ended. It is never the code of an error.
    public static var SQLITE_DONE: ResultCode { ResultCode(rawValue: 101) }
}

// MARK: - Extended codes

extension _ResultCodes {
    /// A collation that the connection does not have.
    public static var SQLITE_ERROR_MISSING_COLLSEQ: ResultCode { ResultCode(rawValue: 257) }
    /// The statement has to be prepared again, which is done without the caller.
    public static var SQLITE_ERROR_RETRY: ResultCode { ResultCode(rawValue: 513) }
    /// The state of a snapshot is not in the log any more.
    public static var SQLITE_ERROR_SNAPSHOT: ResultCode { ResultCode(rawValue: 769) }
    /// Reading failed.
    public static var SQLITE_IOERR_READ: ResultCode { ResultCode(rawValue: 266) }
    /// The file ends before the bytes that were asked for.
    public static var SQLITE_IOERR_SHORT_READ: ResultCode { ResultCode(rawValue: 522) }
    /// Writing failed.
    public static var SQLITE_IOERR_WRITE: ResultCode { ResultCode(rawValue: 778) }
    /// What was written could not be made permanent.
    public static var SQLITE_IOERR_FSYNC: ResultCode { ResultCode(rawValue: 1034) }
    /// The change of a directory could not be made permanent.
    public static var SQLITE_IOERR_DIR_FSYNC: ResultCode { ResultCode(rawValue: 1290) }
    /// A file could not be cut.
    public static var SQLITE_IOERR_TRUNCATE: ResultCode { ResultCode(rawValue: 1546) }
    /// The size or the identity of a file could not be found out.
    public static var SQLITE_IOERR_FSTAT: ResultCode { ResultCode(rawValue: 1802) }
    /// A lock could not be given back.
    public static var SQLITE_IOERR_UNLOCK: ResultCode { ResultCode(rawValue: 2058) }
    /// A lock for reading failed in a way other than being taken.
    public static var SQLITE_IOERR_RDLOCK: ResultCode { ResultCode(rawValue: 2314) }
    /// A file could not be removed.
    public static var SQLITE_IOERR_DELETE: ResultCode { ResultCode(rawValue: 2570) }
    /// Not used by SQLite any more.
    public static var SQLITE_IOERR_BLOCKED: ResultCode { ResultCode(rawValue: 2826) }
    /// There is not enough memory for reading or writing.
    public static var SQLITE_IOERR_NOMEM: ResultCode { ResultCode(rawValue: 3082) }
    /// It could not be found out whether a file is there.
    public static var SQLITE_IOERR_ACCESS: ResultCode { ResultCode(rawValue: 3338) }
    /// It could not be found out who holds the lock for writing.
    public static var SQLITE_IOERR_CHECKRESERVEDLOCK: ResultCode { ResultCode(rawValue: 3594) }
    /// A lock failed in a way other than being taken.
    public static var SQLITE_IOERR_LOCK: ResultCode { ResultCode(rawValue: 3850) }
    /// A file could not be closed.
    public static var SQLITE_IOERR_CLOSE: ResultCode { ResultCode(rawValue: 4106) }
    /// Not used by SQLite any more.
    public static var SQLITE_IOERR_DIR_CLOSE: ResultCode { ResultCode(rawValue: 4362) }
    /// The index of the write-ahead log could not be opened.
    public static var SQLITE_IOERR_SHMOPEN: ResultCode { ResultCode(rawValue: 4618) }
    /// The index of the write-ahead log could not be made larger.
    public static var SQLITE_IOERR_SHMSIZE: ResultCode { ResultCode(rawValue: 4874) }
    /// Not used by SQLite any more.
    public static var SQLITE_IOERR_SHMLOCK: ResultCode { ResultCode(rawValue: 5130) }
    /// The index of the write-ahead log could not be mapped into memory.
    public static var SQLITE_IOERR_SHMMAP: ResultCode { ResultCode(rawValue: 5386) }
    /// A position in a file could not be reached.
    public static var SQLITE_IOERR_SEEK: ResultCode { ResultCode(rawValue: 5642) }
    /// A file that was to be removed is not there.
    public static var SQLITE_IOERR_DELETE_NOENT: ResultCode { ResultCode(rawValue: 5898) }
    /// A file could not be mapped into memory.
    public static var SQLITE_IOERR_MMAP: ResultCode { ResultCode(rawValue: 6154) }
    /// There is no directory for temporary files.
    public static var SQLITE_IOERR_GETTEMPPATH: ResultCode { ResultCode(rawValue: 6410) }
    /// A path could not be converted. Of other systems.
    public static var SQLITE_IOERR_CONVPATH: ResultCode { ResultCode(rawValue: 6666) }
    /// Reserved for extensions of SQLite.
    public static var SQLITE_IOERR_VNODE: ResultCode { ResultCode(rawValue: 6922) }
    /// Reserved for extensions of SQLite.
    public static var SQLITE_IOERR_AUTH: ResultCode { ResultCode(rawValue: 7178) }
    /// The file system could not begin an atomic write.
    public static var SQLITE_IOERR_BEGIN_ATOMIC: ResultCode { ResultCode(rawValue: 7434) }
    /// The file system could not end an atomic write.
    public static var SQLITE_IOERR_COMMIT_ATOMIC: ResultCode { ResultCode(rawValue: 7690) }
    /// The file system could not take an atomic write back.
    public static var SQLITE_IOERR_ROLLBACK_ATOMIC: ResultCode { ResultCode(rawValue: 7946) }
    /// A page is not as it was written. With SQLCipher, it is not authentic.
    public static var SQLITE_IOERR_DATA: ResultCode { ResultCode(rawValue: 8202) }
    /// The file system says that the file is damaged.
    public static var SQLITE_IOERR_CORRUPTFS: ResultCode { ResultCode(rawValue: 8458) }
    /// A page of mapped memory could not be read.
    public static var SQLITE_IOERR_IN_PAGE: ResultCode { ResultCode(rawValue: 8714) }
    /// Another connection of the same shared cache holds the lock.
    public static var SQLITE_LOCKED_SHAREDCACHE: ResultCode { ResultCode(rawValue: 262) }
    /// A virtual table holds a lock.
    public static var SQLITE_LOCKED_VTAB: ResultCode { ResultCode(rawValue: 518) }
    /// Another process recovers the write-ahead log after a crash.
    public static var SQLITE_BUSY_RECOVERY: ResultCode { ResultCode(rawValue: 261) }
    /// The transaction has read a state that is not the last one any more, so that it cannot write.
    public static var SQLITE_BUSY_SNAPSHOT: ResultCode { ResultCode(rawValue: 517) }
    /// A lock of the system was not had in time.
    public static var SQLITE_BUSY_TIMEOUT: ResultCode { ResultCode(rawValue: 773) }
    /// Not used by SQLite any more.
    public static var SQLITE_CANTOPEN_NOTEMPDIR: ResultCode { ResultCode(rawValue: 270) }
    /// The path leads to a directory.
    public static var SQLITE_CANTOPEN_ISDIR: ResultCode { ResultCode(rawValue: 526) }
    /// The full path could not be found out.
    public static var SQLITE_CANTOPEN_FULLPATH: ResultCode { ResultCode(rawValue: 782) }
    /// A path could not be converted. Of other systems.
    public static var SQLITE_CANTOPEN_CONVPATH: ResultCode { ResultCode(rawValue: 1038) }
    /// Not used by SQLite any more.
    public static var SQLITE_CANTOPEN_DIRTYWAL: ResultCode { ResultCode(rawValue: 1294) }
    /// The path is a symbolic link, and these are not allowed.
    public static var SQLITE_CANTOPEN_SYMLINK: ResultCode { ResultCode(rawValue: 1550) }
    /// The content of a virtual table is damaged.
    public static var SQLITE_CORRUPT_VTAB: ResultCode { ResultCode(rawValue: 267) }
    /// The table of automatically incremented keys is damaged.
    public static var SQLITE_CORRUPT_SEQUENCE: ResultCode { ResultCode(rawValue: 523) }
    /// An index has other entries than its table.
    public static var SQLITE_CORRUPT_INDEX: ResultCode { ResultCode(rawValue: 779) }
    /// The write-ahead log has to be recovered, and the connection cannot write.
    public static var SQLITE_READONLY_RECOVERY: ResultCode { ResultCode(rawValue: 264) }
    /// The index of the write-ahead log cannot be locked by a connection that only reads.
    public static var SQLITE_READONLY_CANTLOCK: ResultCode { ResultCode(rawValue: 520) }
    /// A journal has to be played back, and the connection cannot write.
    public static var SQLITE_READONLY_ROLLBACK: ResultCode { ResultCode(rawValue: 776) }
    /// The file was moved, removed or replaced since it was opened.
    public static var SQLITE_READONLY_DBMOVED: ResultCode { ResultCode(rawValue: 1032) }
    /// The index of the write-ahead log cannot be made by a connection that only reads.
    public static var SQLITE_READONLY_CANTINIT: ResultCode { ResultCode(rawValue: 1288) }
    /// No journal can be made in the directory.
    public static var SQLITE_READONLY_DIRECTORY: ResultCode { ResultCode(rawValue: 1544) }
    /// Another statement has rolled the transaction back.
    public static var SQLITE_ABORT_ROLLBACK: ResultCode { ResultCode(rawValue: 516) }
    /// A `CHECK` constraint is violated.
    public static var SQLITE_CONSTRAINT_CHECK: ResultCode { ResultCode(rawValue: 275) }
    /// A transaction observer has refused the commit.
    public static var SQLITE_CONSTRAINT_COMMITHOOK: ResultCode { ResultCode(rawValue: 531) }
    /// A foreign key has no parent row.
    public static var SQLITE_CONSTRAINT_FOREIGNKEY: ResultCode { ResultCode(rawValue: 787) }
    /// Reserved for functions of extensions.
    public static var SQLITE_CONSTRAINT_FUNCTION: ResultCode { ResultCode(rawValue: 1043) }
    /// A column that must have a value has none.
    public static var SQLITE_CONSTRAINT_NOTNULL: ResultCode { ResultCode(rawValue: 1299) }
    /// Another row has this primary key.
    public static var SQLITE_CONSTRAINT_PRIMARYKEY: ResultCode { ResultCode(rawValue: 1555) }
    /// A trigger has raised an error.
    public static var SQLITE_CONSTRAINT_TRIGGER: ResultCode { ResultCode(rawValue: 1811) }
    /// Another row has these values in a unique index.
    public static var SQLITE_CONSTRAINT_UNIQUE: ResultCode { ResultCode(rawValue: 2067) }
    /// Reserved for virtual tables.
    public static var SQLITE_CONSTRAINT_VTAB: ResultCode { ResultCode(rawValue: 2323) }
    /// Another row has this row ID.
    public static var SQLITE_CONSTRAINT_ROWID: ResultCode { ResultCode(rawValue: 2579) }
    /// A trigger would have changed the row that fires it.
    public static var SQLITE_CONSTRAINT_PINNED: ResultCode { ResultCode(rawValue: 2835) }
    /// A value is not of the type of its column in a strict table.
    public static var SQLITE_CONSTRAINT_DATATYPE: ResultCode { ResultCode(rawValue: 3091) }
    /// In the log: a write-ahead log was recovered.
    public static var SQLITE_NOTICE_RECOVER_WAL: ResultCode { ResultCode(rawValue: 283) }
    /// In the log: a journal was played back.
    public static var SQLITE_NOTICE_RECOVER_ROLLBACK: ResultCode { ResultCode(rawValue: 539) }
    /// In the log: a resumable bulk update goes on.
    public static var SQLITE_NOTICE_RBU: ResultCode { ResultCode(rawValue: 795) }
    /// In the log: a statement has made an index for itself, so that one is missing in the schema.
    public static var SQLITE_WARNING_AUTOINDEX: ResultCode { ResultCode(rawValue: 284) }
    /// Not used.
    public static var SQLITE_AUTH_USER: ResultCode { ResultCode(rawValue: 279) }
    /// An extension stays loaded. Not an error.
    public static var SQLITE_OK_LOAD_PERMANENTLY: ResultCode { ResultCode(rawValue: 256) }
    /// A path goes through a symbolic link. Not an error.
    public static var SQLITE_OK_SYMLINK: ResultCode { ResultCode(rawValue: 512) }
}
