// The names and numbers of <https://www.sqlite.org/rescode.html>.

/// A type that has the result codes of SQLite as constants, so that `DatabaseError.SQLITE_BUSY` is the same
/// as `ResultCode.SQLITE_BUSY`.
public protocol _ResultCodes {}

extension ResultCode: _ResultCodes {}
extension DatabaseError: _ResultCodes {}

// MARK: - Primary codes

extension _ResultCodes {
    /// Success. An error never has this code.
    public static var SQLITE_OK: ResultCode { ResultCode(rawValue: 0) }
    /// The SQL does not compile, a name does not exist, or no other code describes the failure.
    public static var SQLITE_ERROR: ResultCode { ResultCode(rawValue: 1) }
    /// SQLite has a bug.
    public static var SQLITE_INTERNAL: ResultCode { ResultCode(rawValue: 2) }
    /// The file was created, but its permissions do not allow its use.
    public static var SQLITE_PERM: ResultCode { ResultCode(rawValue: 3) }
    /// A statement was aborted, for example because its transaction was rolled back.
    public static var SQLITE_ABORT: ResultCode { ResultCode(rawValue: 4) }
    /// Another connection holds a lock that the statement needs: retry later, or set a
    /// ``Configuration/busyMode``.
    public static var SQLITE_BUSY: ResultCode { ResultCode(rawValue: 5) }
    /// A statement of the same connection, or of a shared cache, holds a conflicting lock.
    public static var SQLITE_LOCKED: ResultCode { ResultCode(rawValue: 6) }
    /// Memory could not be allocated.
    public static var SQLITE_NOMEM: ResultCode { ResultCode(rawValue: 7) }
    /// The connection, the access or the file does not allow writing.
    public static var SQLITE_READONLY: ResultCode { ResultCode(rawValue: 8) }
    /// The statement was interrupted: see ``DatabaseReader/interrupt()``.
    public static var SQLITE_INTERRUPT: ResultCode { ResultCode(rawValue: 9) }
    /// The system could not read or write. The extended code names the call that failed.
    public static var SQLITE_IOERR: ResultCode { ResultCode(rawValue: 10) }
    /// The database is damaged.
    public static var SQLITE_CORRUPT: ResultCode { ResultCode(rawValue: 11) }
    /// A file control or an opcode is unknown.
    public static var SQLITE_NOTFOUND: ResultCode { ResultCode(rawValue: 12) }
    /// The disk is full, or the database has reached its maximum number of pages.
    public static var SQLITE_FULL: ResultCode { ResultCode(rawValue: 13) }
    /// The file, its journal, or its WAL file cannot be opened or created.
    public static var SQLITE_CANTOPEN: ResultCode { ResultCode(rawValue: 14) }
    /// The locks of the WAL file could not be acquired after many retries.
    public static var SQLITE_PROTOCOL: ResultCode { ResultCode(rawValue: 15) }
    /// No longer used by SQLite.
    public static var SQLITE_EMPTY: ResultCode { ResultCode(rawValue: 16) }
    /// The schema has changed since the statement was prepared.
    public static var SQLITE_SCHEMA: ResultCode { ResultCode(rawValue: 17) }
    /// A text, a blob or a statement is longer than the limit.
    public static var SQLITE_TOOBIG: ResultCode { ResultCode(rawValue: 18) }
    /// A constraint of the schema is violated. The extended code names its kind.
    public static var SQLITE_CONSTRAINT: ResultCode { ResultCode(rawValue: 19) }
    /// The column does not accept a value of this type, such as text for a row ID.
    public static var SQLITE_MISMATCH: ResultCode { ResultCode(rawValue: 20) }
    /// The API was used incorrectly: a closed database, a wrong number of arguments, or another mistake in
    /// the program.
    public static var SQLITE_MISUSE: ResultCode { ResultCode(rawValue: 21) }
    /// The system does not support files of this size.
    public static var SQLITE_NOLFS: ResultCode { ResultCode(rawValue: 22) }
    /// The statement is not allowed on this connection.
    public static var SQLITE_AUTH: ResultCode { ResultCode(rawValue: 23) }
    /// No longer used by SQLite.
    public static var SQLITE_FORMAT: ResultCode { ResultCode(rawValue: 24) }
    /// The number of a parameter or a column is out of range.
    public static var SQLITE_RANGE: ResultCode { ResultCode(rawValue: 25) }
    /// The file does not open with this key, or is not a database. ``DatabaseError/encryptionFailure`` has
    /// the details.
    public static var SQLITE_NOTADB: ResultCode { ResultCode(rawValue: 26) }
    /// A notice in the error log. It is not an error.
    public static var SQLITE_NOTICE: ResultCode { ResultCode(rawValue: 27) }
    /// A warning in the error log. It is not an error.
    public static var SQLITE_WARNING: ResultCode { ResultCode(rawValue: 28) }
    /// A statement has produced a row. An error never has this code.
    public static var SQLITE_ROW: ResultCode { ResultCode(rawValue: 100) }
    /// A statement has ended. An error never has this code.
    public static var SQLITE_DONE: ResultCode { ResultCode(rawValue: 101) }
}

// MARK: - Extended codes

extension _ResultCodes {
    /// The connection does not have a collation.
    public static var SQLITE_ERROR_MISSING_COLLSEQ: ResultCode { ResultCode(rawValue: 257) }
    /// The statement must be prepared again, which SQLite does by itself.
    public static var SQLITE_ERROR_RETRY: ResultCode { ResultCode(rawValue: 513) }
    /// The state of a snapshot is no longer in the WAL file.
    public static var SQLITE_ERROR_SNAPSHOT: ResultCode { ResultCode(rawValue: 769) }
    /// Reading failed.
    public static var SQLITE_IOERR_READ: ResultCode { ResultCode(rawValue: 266) }
    /// The file ends before the requested bytes.
    public static var SQLITE_IOERR_SHORT_READ: ResultCode { ResultCode(rawValue: 522) }
    /// Writing failed.
    public static var SQLITE_IOERR_WRITE: ResultCode { ResultCode(rawValue: 778) }
    /// Written data could not be synced to disk.
    public static var SQLITE_IOERR_FSYNC: ResultCode { ResultCode(rawValue: 1034) }
    /// A change of a directory could not be synced to disk.
    public static var SQLITE_IOERR_DIR_FSYNC: ResultCode { ResultCode(rawValue: 1290) }
    /// A file could not be truncated.
    public static var SQLITE_IOERR_TRUNCATE: ResultCode { ResultCode(rawValue: 1546) }
    /// The size or the identity of a file could not be determined.
    public static var SQLITE_IOERR_FSTAT: ResultCode { ResultCode(rawValue: 1802) }
    /// A lock could not be released.
    public static var SQLITE_IOERR_UNLOCK: ResultCode { ResultCode(rawValue: 2058) }
    /// A read lock failed for a reason other than a conflict.
    public static var SQLITE_IOERR_RDLOCK: ResultCode { ResultCode(rawValue: 2314) }
    /// A file could not be removed.
    public static var SQLITE_IOERR_DELETE: ResultCode { ResultCode(rawValue: 2570) }
    /// No longer used by SQLite.
    public static var SQLITE_IOERR_BLOCKED: ResultCode { ResultCode(rawValue: 2826) }
    /// Memory for reading or writing could not be allocated.
    public static var SQLITE_IOERR_NOMEM: ResultCode { ResultCode(rawValue: 3082) }
    /// The existence of a file could not be checked.
    public static var SQLITE_IOERR_ACCESS: ResultCode { ResultCode(rawValue: 3338) }
    /// The holder of the reserved lock could not be determined.
    public static var SQLITE_IOERR_CHECKRESERVEDLOCK: ResultCode { ResultCode(rawValue: 3594) }
    /// A lock failed for a reason other than a conflict.
    public static var SQLITE_IOERR_LOCK: ResultCode { ResultCode(rawValue: 3850) }
    /// A file could not be closed.
    public static var SQLITE_IOERR_CLOSE: ResultCode { ResultCode(rawValue: 4106) }
    /// No longer used by SQLite.
    public static var SQLITE_IOERR_DIR_CLOSE: ResultCode { ResultCode(rawValue: 4362) }
    /// The WAL index could not be opened.
    public static var SQLITE_IOERR_SHMOPEN: ResultCode { ResultCode(rawValue: 4618) }
    /// The WAL index could not be extended.
    public static var SQLITE_IOERR_SHMSIZE: ResultCode { ResultCode(rawValue: 4874) }
    /// No longer used by SQLite.
    public static var SQLITE_IOERR_SHMLOCK: ResultCode { ResultCode(rawValue: 5130) }
    /// The WAL index could not be mapped into memory.
    public static var SQLITE_IOERR_SHMMAP: ResultCode { ResultCode(rawValue: 5386) }
    /// A position in a file could not be sought.
    public static var SQLITE_IOERR_SEEK: ResultCode { ResultCode(rawValue: 5642) }
    /// A file to be removed does not exist.
    public static var SQLITE_IOERR_DELETE_NOENT: ResultCode { ResultCode(rawValue: 5898) }
    /// A file could not be mapped into memory.
    public static var SQLITE_IOERR_MMAP: ResultCode { ResultCode(rawValue: 6154) }
    /// There is no directory for temporary files.
    public static var SQLITE_IOERR_GETTEMPPATH: ResultCode { ResultCode(rawValue: 6410) }
    /// A path could not be converted. Only on other systems.
    public static var SQLITE_IOERR_CONVPATH: ResultCode { ResultCode(rawValue: 6666) }
    /// Reserved for extensions of SQLite.
    public static var SQLITE_IOERR_VNODE: ResultCode { ResultCode(rawValue: 6922) }
    /// Reserved for extensions of SQLite.
    public static var SQLITE_IOERR_AUTH: ResultCode { ResultCode(rawValue: 7178) }
    /// The file system could not begin an atomic write.
    public static var SQLITE_IOERR_BEGIN_ATOMIC: ResultCode { ResultCode(rawValue: 7434) }
    /// The file system could not end an atomic write.
    public static var SQLITE_IOERR_COMMIT_ATOMIC: ResultCode { ResultCode(rawValue: 7690) }
    /// The file system could not roll back an atomic write.
    public static var SQLITE_IOERR_ROLLBACK_ATOMIC: ResultCode { ResultCode(rawValue: 7946) }
    /// A page failed its checksum. With SQLCipher, a page is not authentic.
    public static var SQLITE_IOERR_DATA: ResultCode { ResultCode(rawValue: 8202) }
    /// The file system reports that the file is damaged.
    public static var SQLITE_IOERR_CORRUPTFS: ResultCode { ResultCode(rawValue: 8458) }
    /// A page of mapped memory could not be read.
    public static var SQLITE_IOERR_IN_PAGE: ResultCode { ResultCode(rawValue: 8714) }
    /// Another connection of the same shared cache holds the lock.
    public static var SQLITE_LOCKED_SHAREDCACHE: ResultCode { ResultCode(rawValue: 262) }
    /// A virtual table holds a lock.
    public static var SQLITE_LOCKED_VTAB: ResultCode { ResultCode(rawValue: 518) }
    /// Another process is recovering the WAL file after a crash.
    public static var SQLITE_BUSY_RECOVERY: ResultCode { ResultCode(rawValue: 261) }
    /// The transaction cannot write, because it has read a state that is no longer the last one.
    public static var SQLITE_BUSY_SNAPSHOT: ResultCode { ResultCode(rawValue: 517) }
    /// A system lock was not acquired before its timeout.
    public static var SQLITE_BUSY_TIMEOUT: ResultCode { ResultCode(rawValue: 773) }
    /// No longer used by SQLite.
    public static var SQLITE_CANTOPEN_NOTEMPDIR: ResultCode { ResultCode(rawValue: 270) }
    /// The path leads to a directory.
    public static var SQLITE_CANTOPEN_ISDIR: ResultCode { ResultCode(rawValue: 526) }
    /// The full path could not be determined.
    public static var SQLITE_CANTOPEN_FULLPATH: ResultCode { ResultCode(rawValue: 782) }
    /// A path could not be converted. Only on other systems.
    public static var SQLITE_CANTOPEN_CONVPATH: ResultCode { ResultCode(rawValue: 1038) }
    /// No longer used by SQLite.
    public static var SQLITE_CANTOPEN_DIRTYWAL: ResultCode { ResultCode(rawValue: 1294) }
    /// The path is a symbolic link, and symbolic links are not allowed.
    public static var SQLITE_CANTOPEN_SYMLINK: ResultCode { ResultCode(rawValue: 1550) }
    /// The content of a virtual table is damaged.
    public static var SQLITE_CORRUPT_VTAB: ResultCode { ResultCode(rawValue: 267) }
    /// The table of automatically incremented keys is damaged.
    public static var SQLITE_CORRUPT_SEQUENCE: ResultCode { ResultCode(rawValue: 523) }
    /// An index does not match its table.
    public static var SQLITE_CORRUPT_INDEX: ResultCode { ResultCode(rawValue: 779) }
    /// The WAL file must be recovered, and the connection cannot write.
    public static var SQLITE_READONLY_RECOVERY: ResultCode { ResultCode(rawValue: 264) }
    /// A read-only connection cannot lock the WAL index.
    public static var SQLITE_READONLY_CANTLOCK: ResultCode { ResultCode(rawValue: 520) }
    /// A journal must be rolled back, and the connection cannot write.
    public static var SQLITE_READONLY_ROLLBACK: ResultCode { ResultCode(rawValue: 776) }
    /// The file was moved, removed or replaced since it was opened.
    public static var SQLITE_READONLY_DBMOVED: ResultCode { ResultCode(rawValue: 1032) }
    /// A read-only connection cannot create the WAL index.
    public static var SQLITE_READONLY_CANTINIT: ResultCode { ResultCode(rawValue: 1288) }
    /// No journal can be created in the directory.
    public static var SQLITE_READONLY_DIRECTORY: ResultCode { ResultCode(rawValue: 1544) }
    /// Another statement has rolled the transaction back.
    public static var SQLITE_ABORT_ROLLBACK: ResultCode { ResultCode(rawValue: 516) }
    /// A `CHECK` constraint is violated.
    public static var SQLITE_CONSTRAINT_CHECK: ResultCode { ResultCode(rawValue: 275) }
    /// A transaction observer has rejected the commit.
    public static var SQLITE_CONSTRAINT_COMMITHOOK: ResultCode { ResultCode(rawValue: 531) }
    /// A foreign key has no parent row.
    public static var SQLITE_CONSTRAINT_FOREIGNKEY: ResultCode { ResultCode(rawValue: 787) }
    /// Reserved for functions of extensions.
    public static var SQLITE_CONSTRAINT_FUNCTION: ResultCode { ResultCode(rawValue: 1043) }
    /// A `NOT NULL` column has no value.
    public static var SQLITE_CONSTRAINT_NOTNULL: ResultCode { ResultCode(rawValue: 1299) }
    /// Another row has the same primary key.
    public static var SQLITE_CONSTRAINT_PRIMARYKEY: ResultCode { ResultCode(rawValue: 1555) }
    /// A trigger has raised an error.
    public static var SQLITE_CONSTRAINT_TRIGGER: ResultCode { ResultCode(rawValue: 1811) }
    /// Another row has the same values in a unique index.
    public static var SQLITE_CONSTRAINT_UNIQUE: ResultCode { ResultCode(rawValue: 2067) }
    /// Reserved for virtual tables.
    public static var SQLITE_CONSTRAINT_VTAB: ResultCode { ResultCode(rawValue: 2323) }
    /// Another row has the same row ID.
    public static var SQLITE_CONSTRAINT_ROWID: ResultCode { ResultCode(rawValue: 2579) }
    /// A trigger tried to change the row that fired it.
    public static var SQLITE_CONSTRAINT_PINNED: ResultCode { ResultCode(rawValue: 2835) }
    /// A value does not have the type of its column in a strict table.
    public static var SQLITE_CONSTRAINT_DATATYPE: ResultCode { ResultCode(rawValue: 3091) }
    /// In the error log: a WAL file was recovered.
    public static var SQLITE_NOTICE_RECOVER_WAL: ResultCode { ResultCode(rawValue: 283) }
    /// In the error log: a journal was rolled back.
    public static var SQLITE_NOTICE_RECOVER_ROLLBACK: ResultCode { ResultCode(rawValue: 539) }
    /// In the error log: a resumable bulk update continues.
    public static var SQLITE_NOTICE_RBU: ResultCode { ResultCode(rawValue: 795) }
    /// In the error log: a statement has built its own index, which suggests that the schema lacks one.
    public static var SQLITE_WARNING_AUTOINDEX: ResultCode { ResultCode(rawValue: 284) }
    /// Not used.
    public static var SQLITE_AUTH_USER: ResultCode { ResultCode(rawValue: 279) }
    /// An extension remains loaded. Not an error.
    public static var SQLITE_OK_LOAD_PERMANENTLY: ResultCode { ResultCode(rawValue: 256) }
    /// A path goes through a symbolic link. Not an error.
    public static var SQLITE_OK_SYMLINK: ResultCode { ResultCode(rawValue: 512) }
}
