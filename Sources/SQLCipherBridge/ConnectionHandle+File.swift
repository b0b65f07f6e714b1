internal import CSQLCipher

/// Reading the main database file through SQLite's own descriptor.
///
/// Opening and closing the file beside SQLite is not an option: POSIX drops all locks that the process holds
/// on a file as soon as it closes any descriptor of it (see "How To Corrupt An SQLite Database File", 2.2).
extension ConnectionHandle {
    /// The size of the main database file in bytes, or nil when there is no file: in memory, or temporary.
    ///
    /// - Parameter schema: the name of another database of the connection, to ask for the size of its file.
    package func fileSize(schema: String = "main") throws(EngineError) -> Int64? {
        guard let file = unsafe self.file(of: schema), let methods = unsafe file.pointee.pMethods else {
            return nil
        }
        var size: Int64 = 0
        let code = unsafe methods.pointee.xFileSize(file, &size)
        guard code == SQLITE_OK else {
            throw EngineError(code: code, message: ConnectionHandle.describe(code))
        }
        return size
    }

    /// Up to `count` bytes of the main database file as they are stored, without a lock; fewer at its end,
    /// none without a file.
    package func readFile(at offset: Int64, count: Int) throws(EngineError) -> [UInt8] {
        guard let size = try fileSize(), offset < size, let file = unsafe mainFile,
            let methods = unsafe file.pointee.pMethods
        else { return [] }
        let available = Int(min(Int64(count), size - offset))
        var bytes = [UInt8](repeating: 0, count: available)
        let code = unsafe methods.pointee.xRead(file, &bytes, CInt(available), offset)
        guard code == SQLITE_OK else {
            throw EngineError(code: code, message: ConnectionHandle.describe(code))
        }
        return bytes
    }

    /// Fills the target with bytes of the main database file as they are stored, without a lock, and returns
    /// how many there were.
    package func readFile(at offset: Int64, into target: inout MutableSpan<UInt8>) throws(EngineError) -> Int
    {
        guard let file = unsafe mainFile, let methods = unsafe file.pointee.pMethods else { return 0 }
        let code = unsafe target.withUnsafeMutableBytes {
            unsafe methods.pointee.xRead(file, $0.baseAddress, CInt($0.count), offset)
        }
        if code == SQLITE_OK { return target.count }
        // The file may end before; what is not there was filled with zeros.
        guard let size = try fileSize(), size < offset + Int64(target.count) else {
            throw EngineError(code: code, message: ConnectionHandle.describe(code))
        }
        return Int(max(0, size - offset))
    }

    /// Writes over the main database file as it is stored, without a look at what is there: only to make a
    /// file unusable that has lost its name. The connection is of no use afterwards.
    package func overwriteFile(at offset: Int64, with bytes: [UInt8]) throws(EngineError) {
        guard let file = unsafe mainFile, let methods = unsafe file.pointee.pMethods else { return }
        let code = unsafe methods.pointee.xWrite(file, bytes, CInt(bytes.count), offset)
        guard code == SQLITE_OK else {
            throw EngineError(code: code, message: ConnectionHandle.describe(code))
        }
    }

    /// Cuts the main database file to a size. The connection must have the exclusive lock.
    package func truncateFile(to size: Int64) throws(EngineError) {
        guard let file = unsafe mainFile, let methods = unsafe file.pointee.pMethods else { return }
        let code = unsafe methods.pointee.xTruncate(file, size)
        guard code == SQLITE_OK else {
            throw EngineError(code: code, message: ConnectionHandle.describe(code))
        }
    }

    /// Has what was written to the main database file on the disk, as SQLite does it at a checkpoint.
    package func synchronizeFile() throws(EngineError) {
        guard let file = unsafe mainFile, let methods = unsafe file.pointee.pMethods else { return }
        let code = unsafe methods.pointee.xSync(file, SQLITE_SYNC_NORMAL)
        guard code == SQLITE_OK else {
            throw EngineError(code: code, message: ConnectionHandle.describe(code))
        }
    }

    /// Takes SQLite's shared lock on the main database file, without a look into it: nobody writes to a file
    /// in rollback mode as long as the connection lives. The connection is of no use for anything else
    /// afterwards.
    package func lockFileForReading() throws(EngineError) {
        guard let file = unsafe mainFile, let methods = unsafe file.pointee.pMethods else { return }
        let code = unsafe methods.pointee.xLock(file, SQLITE_LOCK_SHARED)
        guard code == SQLITE_OK else {
            throw EngineError(code: code, message: ConnectionHandle.describe(code))
        }
    }

    /// Whether a connection is about to write to the main database file.
    package func isFileReserved() throws(EngineError) -> Bool {
        guard let file = unsafe mainFile, let methods = unsafe file.pointee.pMethods else { return false }
        var answer: CInt = 0
        let code = unsafe methods.pointee.xCheckReservedLock(file, &answer)
        guard code == SQLITE_OK else {
            throw EngineError(code: code, message: ConnectionHandle.describe(code))
        }
        return answer != 0
    }

    /// The lock that this connection holds on the main database file.
    package func fileLockLevel() throws(EngineError) -> FileLockLevel {
        var level: CInt = 0
        let code = unsafe sqlite3_file_control(pointer, "main", SQLITE_FCNTL_LOCKSTATE, &level)
        guard code == SQLITE_OK else {
            throw EngineError(code: code, message: ConnectionHandle.describe(code))
        }
        return FileLockLevel(rawValue: level) ?? .none
    }

    /// The version of the main database that the current transaction reads. Each commit gives it another
    /// one, those of this connection too: <https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html>.
    package var dataVersion: UInt32 {
        var version: UInt32 = 0
        // Left at zero by an engine that does not know the operation.
        _ = unsafe sqlite3_file_control(pointer, "main", SQLITE_FCNTL_DATA_VERSION, &version)
        return version
    }

    /// Whether the name of the main database file leads to another file by now, or to none: what is written
    /// would be in a file that nobody finds.
    package func isFileMoved() -> Bool {
        var answer: CInt = 0
        let code = unsafe sqlite3_file_control(pointer, "main", SQLITE_FCNTL_HAS_MOVED, &answer)
        return code == SQLITE_OK && answer != 0
    }

    /// Why the main database file cannot be in WAL mode for this connection; nil where it can.
    package var otherName: OtherName? { unsafe mainFile.flatMap { unsafe SideFiles.otherName(of: $0) } }

    /// Whether the write-ahead log that the connection has open was removed, renamed or replaced: other
    /// connections would not find what is written. Only for connections whose side files are watched.
    package func isLogMoved() -> Bool {
        var journal: UnsafeMutablePointer<sqlite3_file>?
        let code = unsafe withUnsafeMutablePointer(to: &journal) { file in
            unsafe sqlite3_file_control(pointer, "main", SQLITE_FCNTL_JOURNAL_POINTER, file)
        }
        guard code == SQLITE_OK, let database = unsafe mainFile, let journal = unsafe journal,
            let name = unsafe sqlite3_db_filename(pointer, "main"), unsafe name.pointee != 0,
            let path = unsafe sqlite3_filename_wal(name)
        else { return false }
        return unsafe SideFiles.hasLogMoved(database, journal, path)
    }

    /// Has what lies beside the main database file judged before the engine uses it, until the connection is
    /// closed.
    ///
    /// - Parameters:
    ///   - owner: connections with one owner trust each other with a log that they have open.
    ///   - report: learns what is refused because of the user that it belongs to.
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

    var mainFile: UnsafeMutablePointer<sqlite3_file>? { unsafe file(of: "main") }

    private func file(of schema: String) -> UnsafeMutablePointer<sqlite3_file>? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        let code = unsafe withUnsafeMutablePointer(to: &file) { file in
            unsafe sqlite3_file_control(pointer, schema, SQLITE_FCNTL_FILE_POINTER, file)
        }
        return unsafe code == SQLITE_OK ? file : nil
    }
}

/// SQLite's locks on a database file: <https://www.sqlite.org/lockingv3.html#locking>. In WAL mode a
/// connection has the shared one, whatever it does.
package enum FileLockLevel: CInt, Comparable, Sendable {
    case none, shared, reserved, pending, exclusive

    package static func < (lhs: FileLockLevel, rhs: FileLockLevel) -> Bool { lhs.rawValue < rhs.rawValue }
}
