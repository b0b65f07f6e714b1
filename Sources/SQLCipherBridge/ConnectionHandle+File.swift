internal import CSQLCipher
internal import Glibc
internal import SystemCalls

/// Access to the main database file through SQLite's own descriptor.
///
/// The file must not be opened and closed separately: POSIX drops all locks of a process on a file as soon as
/// the process closes any descriptor of it (see "How To Corrupt An SQLite Database File", 2.2).
extension ConnectionHandle {
    /// Returns the size of the main database file in bytes, or nil if there is no file because the database
    /// is in memory or temporary.
    ///
    /// - Parameter schema: the name of the database, if it is not the main one.
    package func fileSize(schema: String = "main") throws(EngineError) -> Int64? {
        guard let file = unsafe self.file(of: schema), let methods = unsafe file.pointee.pMethods else {
            return nil
        }
        var size: Int64 = 0
        try checkFile(unsafe methods.pointee.xFileSize(file, &size))
        return size
    }

    /// Returns up to `count` stored bytes of the main database file, without a lock. Returns fewer at the end
    /// of the file, and none without a file.
    package func readFile(at offset: Int64, count: Int) throws(EngineError) -> [UInt8] {
        guard let size = try fileSize(), offset < size, let file = unsafe mainFile,
            let methods = unsafe file.pointee.pMethods
        else { return [] }
        let available = Int(min(Int64(count), size - offset))
        var bytes = [UInt8](repeating: 0, count: available)
        try checkFile(unsafe methods.pointee.xRead(file, &bytes, CInt(available), offset))
        return bytes
    }

    /// Reads stored bytes of the main database file into `target`, without a lock, and returns their number.
    package func readFile(at offset: Int64, into target: inout MutableSpan<UInt8>) throws(EngineError) -> Int
    {
        guard let file = unsafe mainFile, let methods = unsafe file.pointee.pMethods else { return 0 }
        let code = unsafe target.withUnsafeMutableBytes {
            unsafe methods.pointee.xRead(file, $0.baseAddress, CInt($0.count), offset)
        }
        if code == SQLITE_OK { return target.count }
        // The file may end before the end of `target`, whose remainder was filled with zeros.
        guard let size = try fileSize(), size < offset + Int64(target.count) else {
            throw EngineError(code: code, message: ConnectionHandle.describe(code))
        }
        return Int(max(0, size - offset))
    }

    /// Overwrites stored bytes of the main database file, without reading it. Use it only to invalidate a
    /// file that no longer has a name. The connection must not be used afterwards.
    package func overwriteFile(at offset: Int64, with bytes: [UInt8]) throws(EngineError) {
        try unsafe callMainFile { file, methods in
            unsafe methods.xWrite(file, bytes, CInt(bytes.count), offset)
        }
    }

    /// Truncates the main database file. The connection must hold the exclusive lock.
    package func truncateFile(to size: Int64) throws(EngineError) {
        try unsafe callMainFile { file, methods in unsafe methods.xTruncate(file, size) }
    }

    /// Syncs the main database file to disk, as SQLite does at a checkpoint.
    package func synchronizeFile() throws(EngineError) {
        try unsafe callMainFile { file, methods in unsafe methods.xSync(file, SQLITE_SYNC_NORMAL) }
    }

    /// Takes SQLite's shared lock on the main database file without reading it. No other connection can write
    /// to a file in rollback mode until this connection is closed. The connection must not be used for
    /// anything else afterwards.
    package func lockFileForReading() throws(EngineError) {
        try unsafe callMainFile { file, methods in unsafe methods.xLock(file, SQLITE_LOCK_SHARED) }
    }

    /// Returns true if a connection holds the reserved lock on the main database file, because it is about to
    /// write.
    package func isFileReserved() throws(EngineError) -> Bool {
        var answer: CInt = 0
        try unsafe callMainFile { file, methods in unsafe methods.xCheckReservedLock(file, &answer) }
        return answer != 0
    }

    /// The lock that this connection holds on the main database file.
    package func fileLockLevel() throws(EngineError) -> FileLockLevel {
        var level: CInt = 0
        try checkFile(unsafe sqlite3_file_control(pointer, "main", SQLITE_FCNTL_LOCKSTATE, &level))
        return FileLockLevel(rawValue: level) ?? .none
    }

    /// The version of the main database that the current transaction reads. Every commit changes it,
    /// including commits of this connection: <https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html>.
    package var dataVersion: UInt32 {
        var version: UInt32 = 0
        // An engine that does not know the operation leaves zero. No name means the main database, and spares
        // the search for it.
        _ = unsafe sqlite3_file_control(pointer, nil, SQLITE_FCNTL_DATA_VERSION, &version)
        return version
    }

    /// Returns true if the path of a database file leads to another file, or to none: further writes would be
    /// lost.
    package func isFileMoved(schema: String = "main") -> Bool {
        var answer: CInt = 0
        let code = unsafe sqlite3_file_control(pointer, schema, SQLITE_FCNTL_HAS_MOVED, &answer)
        return code == SQLITE_OK && answer != 0
    }

    /// The reason why this connection cannot use WAL mode for the main database file, or nil if it can.
    package var otherName: OtherName? { unsafe mainFile.flatMap { unsafe SideFiles.otherName(of: $0) } }

    /// True if the connection has its journal or its log open.
    package var hasOpenJournal: Bool { unsafe file(SQLITE_FCNTL_JOURNAL_POINTER)?.pointee.pMethods != nil }

    /// Returns true if the open WAL file was removed, renamed or replaced: other connections would not find
    /// further writes. Only for connections whose side files are watched.
    package func isLogMoved() -> Bool {
        guard let database = unsafe mainFile, let journal = unsafe file(SQLITE_FCNTL_JOURNAL_POINTER),
            let name = unsafe sqlite3_db_filename(pointer, "main"), unsafe name.pointee != 0,
            let path = unsafe sqlite3_filename_wal(name)
        else { return false }
        return unsafe SideFiles.hasLogMoved(database, journal, path)
    }

    /// Checks the files next to the main database file before SQLite uses them, until the connection is
    /// closed.
    ///
    /// - Parameters:
    ///   - owner: the owner of the connection. Connections with the same owner trust each other's open WAL
    ///     file.
    ///   - report: a function that is called for files that are rejected because they belong to another user.
    package func watchSideFiles(
        owner: AnyObject, report: @escaping ForeignOwnerReport, _ judge: @escaping SideFileJudge
    ) {
        guard let file = unsafe mainFile else { return }
        unsafe SideFiles.watch(file, self, owner: owner, judge, report)
    }

    func unwatchSideFiles() -> () -> Void {
        guard let file = unsafe mainFile else { return {} }
        return unsafe SideFiles.unwatch(file)
    }

    var mainFile: UnsafeMutablePointer<sqlite3_file>? { unsafe file() }

    /// Calls a method of the main database file, or does nothing if there is no file.
    private func callMainFile(
        _ call: (UnsafeMutablePointer<sqlite3_file>, sqlite3_io_methods) -> CInt
    ) throws(EngineError) {
        guard let file = unsafe mainFile, let methods = unsafe file.pointee.pMethods else { return }
        try checkFile(unsafe call(file, methods.pointee))
    }

    /// Throws a failure of a file's method, which does not set the connection's own error message.
    private func checkFile(_ code: CInt) throws(EngineError) {
        guard code != SQLITE_OK else { return }
        throw EngineError(code: code, message: ConnectionHandle.describe(code))
    }

    /// - Parameter kind: `SQLITE_FCNTL_FILE_POINTER`, or `SQLITE_FCNTL_JOURNAL_POINTER` for the journal or
    ///   the log.
    private func file(_ kind: CInt = SQLITE_FCNTL_FILE_POINTER, of schema: String = "main")
        -> UnsafeMutablePointer<sqlite3_file>?
    {
        var file: UnsafeMutablePointer<sqlite3_file>?
        let code = unsafe withUnsafeMutablePointer(to: &file) { file in
            unsafe sqlite3_file_control(pointer, schema, kind, file)
        }
        return unsafe code == SQLITE_OK ? file : nil
    }
}

/// SQLite's locks on a database file: <https://www.sqlite.org/lockingv3.html#locking>. In WAL mode, a
/// connection always holds the shared lock.
package enum FileLockLevel: CInt, Comparable, Sendable {
    case none, shared, reserved, pending, exclusive

    package static func < (lhs: FileLockLevel, rhs: FileLockLevel) -> Bool { lhs.rawValue < rhs.rawValue }
}
