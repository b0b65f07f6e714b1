// The names and numbers of <https://www.sqlite.org/rescode.html>.

/// What has the result codes of SQLite for constants: code can say `DatabaseError.SQLITE_BUSY`, as it says `ResultCode.SQLITE_BUSY`.
public protocol _ResultCodes {}

extension ResultCode: _ResultCodes {}
extension DatabaseError: _ResultCodes {}

// MARK: - Primary codes

extension _ResultCodes {
    public static var SQLITE_OK: ResultCode { ResultCode(rawValue: 0) }
    public static var SQLITE_ERROR: ResultCode { ResultCode(rawValue: 1) }
    public static var SQLITE_INTERNAL: ResultCode { ResultCode(rawValue: 2) }
    public static var SQLITE_PERM: ResultCode { ResultCode(rawValue: 3) }
    public static var SQLITE_ABORT: ResultCode { ResultCode(rawValue: 4) }
    public static var SQLITE_BUSY: ResultCode { ResultCode(rawValue: 5) }
    public static var SQLITE_LOCKED: ResultCode { ResultCode(rawValue: 6) }
    public static var SQLITE_NOMEM: ResultCode { ResultCode(rawValue: 7) }
    public static var SQLITE_READONLY: ResultCode { ResultCode(rawValue: 8) }
    public static var SQLITE_INTERRUPT: ResultCode { ResultCode(rawValue: 9) }
    public static var SQLITE_IOERR: ResultCode { ResultCode(rawValue: 10) }
    public static var SQLITE_CORRUPT: ResultCode { ResultCode(rawValue: 11) }
    public static var SQLITE_NOTFOUND: ResultCode { ResultCode(rawValue: 12) }
    public static var SQLITE_FULL: ResultCode { ResultCode(rawValue: 13) }
    public static var SQLITE_CANTOPEN: ResultCode { ResultCode(rawValue: 14) }
    public static var SQLITE_PROTOCOL: ResultCode { ResultCode(rawValue: 15) }
    public static var SQLITE_EMPTY: ResultCode { ResultCode(rawValue: 16) }
    public static var SQLITE_SCHEMA: ResultCode { ResultCode(rawValue: 17) }
    public static var SQLITE_TOOBIG: ResultCode { ResultCode(rawValue: 18) }
    public static var SQLITE_CONSTRAINT: ResultCode { ResultCode(rawValue: 19) }
    public static var SQLITE_MISMATCH: ResultCode { ResultCode(rawValue: 20) }
    public static var SQLITE_MISUSE: ResultCode { ResultCode(rawValue: 21) }
    public static var SQLITE_NOLFS: ResultCode { ResultCode(rawValue: 22) }
    public static var SQLITE_AUTH: ResultCode { ResultCode(rawValue: 23) }
    public static var SQLITE_FORMAT: ResultCode { ResultCode(rawValue: 24) }
    public static var SQLITE_RANGE: ResultCode { ResultCode(rawValue: 25) }
    public static var SQLITE_NOTADB: ResultCode { ResultCode(rawValue: 26) }
    public static var SQLITE_NOTICE: ResultCode { ResultCode(rawValue: 27) }
    public static var SQLITE_WARNING: ResultCode { ResultCode(rawValue: 28) }
    public static var SQLITE_ROW: ResultCode { ResultCode(rawValue: 100) }
    public static var SQLITE_DONE: ResultCode { ResultCode(rawValue: 101) }
}

// MARK: - Extended codes

extension _ResultCodes {
    public static var SQLITE_ERROR_MISSING_COLLSEQ: ResultCode { ResultCode(rawValue: 257) }
    public static var SQLITE_ERROR_RETRY: ResultCode { ResultCode(rawValue: 513) }
    public static var SQLITE_ERROR_SNAPSHOT: ResultCode { ResultCode(rawValue: 769) }
    public static var SQLITE_IOERR_READ: ResultCode { ResultCode(rawValue: 266) }
    public static var SQLITE_IOERR_SHORT_READ: ResultCode { ResultCode(rawValue: 522) }
    public static var SQLITE_IOERR_WRITE: ResultCode { ResultCode(rawValue: 778) }
    public static var SQLITE_IOERR_FSYNC: ResultCode { ResultCode(rawValue: 1034) }
    public static var SQLITE_IOERR_DIR_FSYNC: ResultCode { ResultCode(rawValue: 1290) }
    public static var SQLITE_IOERR_TRUNCATE: ResultCode { ResultCode(rawValue: 1546) }
    public static var SQLITE_IOERR_FSTAT: ResultCode { ResultCode(rawValue: 1802) }
    public static var SQLITE_IOERR_UNLOCK: ResultCode { ResultCode(rawValue: 2058) }
    public static var SQLITE_IOERR_RDLOCK: ResultCode { ResultCode(rawValue: 2314) }
    public static var SQLITE_IOERR_DELETE: ResultCode { ResultCode(rawValue: 2570) }
    public static var SQLITE_IOERR_BLOCKED: ResultCode { ResultCode(rawValue: 2826) }
    public static var SQLITE_IOERR_NOMEM: ResultCode { ResultCode(rawValue: 3082) }
    public static var SQLITE_IOERR_ACCESS: ResultCode { ResultCode(rawValue: 3338) }
    public static var SQLITE_IOERR_CHECKRESERVEDLOCK: ResultCode { ResultCode(rawValue: 3594) }
    public static var SQLITE_IOERR_LOCK: ResultCode { ResultCode(rawValue: 3850) }
    public static var SQLITE_IOERR_CLOSE: ResultCode { ResultCode(rawValue: 4106) }
    public static var SQLITE_IOERR_DIR_CLOSE: ResultCode { ResultCode(rawValue: 4362) }
    public static var SQLITE_IOERR_SHMOPEN: ResultCode { ResultCode(rawValue: 4618) }
    public static var SQLITE_IOERR_SHMSIZE: ResultCode { ResultCode(rawValue: 4874) }
    public static var SQLITE_IOERR_SHMLOCK: ResultCode { ResultCode(rawValue: 5130) }
    public static var SQLITE_IOERR_SHMMAP: ResultCode { ResultCode(rawValue: 5386) }
    public static var SQLITE_IOERR_SEEK: ResultCode { ResultCode(rawValue: 5642) }
    public static var SQLITE_IOERR_DELETE_NOENT: ResultCode { ResultCode(rawValue: 5898) }
    public static var SQLITE_IOERR_MMAP: ResultCode { ResultCode(rawValue: 6154) }
    public static var SQLITE_IOERR_GETTEMPPATH: ResultCode { ResultCode(rawValue: 6410) }
    public static var SQLITE_IOERR_CONVPATH: ResultCode { ResultCode(rawValue: 6666) }
    public static var SQLITE_IOERR_VNODE: ResultCode { ResultCode(rawValue: 6922) }
    public static var SQLITE_IOERR_AUTH: ResultCode { ResultCode(rawValue: 7178) }
    public static var SQLITE_IOERR_BEGIN_ATOMIC: ResultCode { ResultCode(rawValue: 7434) }
    public static var SQLITE_IOERR_COMMIT_ATOMIC: ResultCode { ResultCode(rawValue: 7690) }
    public static var SQLITE_IOERR_ROLLBACK_ATOMIC: ResultCode { ResultCode(rawValue: 7946) }
    public static var SQLITE_IOERR_DATA: ResultCode { ResultCode(rawValue: 8202) }
    public static var SQLITE_IOERR_CORRUPTFS: ResultCode { ResultCode(rawValue: 8458) }
    public static var SQLITE_IOERR_IN_PAGE: ResultCode { ResultCode(rawValue: 8714) }
    public static var SQLITE_LOCKED_SHAREDCACHE: ResultCode { ResultCode(rawValue: 262) }
    public static var SQLITE_LOCKED_VTAB: ResultCode { ResultCode(rawValue: 518) }
    public static var SQLITE_BUSY_RECOVERY: ResultCode { ResultCode(rawValue: 261) }
    public static var SQLITE_BUSY_SNAPSHOT: ResultCode { ResultCode(rawValue: 517) }
    public static var SQLITE_BUSY_TIMEOUT: ResultCode { ResultCode(rawValue: 773) }
    public static var SQLITE_CANTOPEN_NOTEMPDIR: ResultCode { ResultCode(rawValue: 270) }
    public static var SQLITE_CANTOPEN_ISDIR: ResultCode { ResultCode(rawValue: 526) }
    public static var SQLITE_CANTOPEN_FULLPATH: ResultCode { ResultCode(rawValue: 782) }
    public static var SQLITE_CANTOPEN_CONVPATH: ResultCode { ResultCode(rawValue: 1038) }
    public static var SQLITE_CANTOPEN_DIRTYWAL: ResultCode { ResultCode(rawValue: 1294) }
    public static var SQLITE_CANTOPEN_SYMLINK: ResultCode { ResultCode(rawValue: 1550) }
    public static var SQLITE_CORRUPT_VTAB: ResultCode { ResultCode(rawValue: 267) }
    public static var SQLITE_CORRUPT_SEQUENCE: ResultCode { ResultCode(rawValue: 523) }
    public static var SQLITE_CORRUPT_INDEX: ResultCode { ResultCode(rawValue: 779) }
    public static var SQLITE_READONLY_RECOVERY: ResultCode { ResultCode(rawValue: 264) }
    public static var SQLITE_READONLY_CANTLOCK: ResultCode { ResultCode(rawValue: 520) }
    public static var SQLITE_READONLY_ROLLBACK: ResultCode { ResultCode(rawValue: 776) }
    public static var SQLITE_READONLY_DBMOVED: ResultCode { ResultCode(rawValue: 1032) }
    public static var SQLITE_READONLY_CANTINIT: ResultCode { ResultCode(rawValue: 1288) }
    public static var SQLITE_READONLY_DIRECTORY: ResultCode { ResultCode(rawValue: 1544) }
    public static var SQLITE_ABORT_ROLLBACK: ResultCode { ResultCode(rawValue: 516) }
    public static var SQLITE_CONSTRAINT_CHECK: ResultCode { ResultCode(rawValue: 275) }
    public static var SQLITE_CONSTRAINT_COMMITHOOK: ResultCode { ResultCode(rawValue: 531) }
    public static var SQLITE_CONSTRAINT_FOREIGNKEY: ResultCode { ResultCode(rawValue: 787) }
    public static var SQLITE_CONSTRAINT_FUNCTION: ResultCode { ResultCode(rawValue: 1043) }
    public static var SQLITE_CONSTRAINT_NOTNULL: ResultCode { ResultCode(rawValue: 1299) }
    public static var SQLITE_CONSTRAINT_PRIMARYKEY: ResultCode { ResultCode(rawValue: 1555) }
    public static var SQLITE_CONSTRAINT_TRIGGER: ResultCode { ResultCode(rawValue: 1811) }
    public static var SQLITE_CONSTRAINT_UNIQUE: ResultCode { ResultCode(rawValue: 2067) }
    public static var SQLITE_CONSTRAINT_VTAB: ResultCode { ResultCode(rawValue: 2323) }
    public static var SQLITE_CONSTRAINT_ROWID: ResultCode { ResultCode(rawValue: 2579) }
    public static var SQLITE_CONSTRAINT_PINNED: ResultCode { ResultCode(rawValue: 2835) }
    public static var SQLITE_CONSTRAINT_DATATYPE: ResultCode { ResultCode(rawValue: 3091) }
    public static var SQLITE_NOTICE_RECOVER_WAL: ResultCode { ResultCode(rawValue: 283) }
    public static var SQLITE_NOTICE_RECOVER_ROLLBACK: ResultCode { ResultCode(rawValue: 539) }
    public static var SQLITE_NOTICE_RBU: ResultCode { ResultCode(rawValue: 795) }
    public static var SQLITE_WARNING_AUTOINDEX: ResultCode { ResultCode(rawValue: 284) }
    public static var SQLITE_AUTH_USER: ResultCode { ResultCode(rawValue: 279) }
    public static var SQLITE_OK_LOAD_PERMANENTLY: ResultCode { ResultCode(rawValue: 256) }
    public static var SQLITE_OK_SYMLINK: ResultCode { ResultCode(rawValue: 512) }
}
