internal import CSQLCipher
internal import Glibc
internal import SystemCalls

/// The last read of a database file, log or journal by the engine that the system refused, for each thread.
///
/// The engine reports such a read as damage. SQLite's `unixRead` returns `SQLITE_IOERR_CORRUPTFS` for `EIO`,
/// `ENXIO` and `ERANGE`, which a statement turns into `SQLITE_CORRUPT`. SQLCipher uses a random salt if it
/// cannot read the file's salt. `SQLITE_FCNTL_LAST_ERRNO` does not tell: it keeps the error of an older call,
/// and the file may be closed when the statement returns. Seen in SQLite 3.46 and SQLCipher 4.6.
package enum ReadFailure {
    /// Makes SQLite call this library's function to read files. Called once, before the first connection.
    static func watch() {
        guard let system = unsafe sqlite3_vfs_find("unix"), let find = unsafe system.pointee.xGetSystemCall,
            let set = unsafe system.pointee.xSetSystemCall
        else { return }
        // SQLite is compiled with one of them.
        for name in ["pread64", "pread"] {
            guard let call = unsafe find(system, name) else { continue }
            unsafe systemRead = unsafe unsafeBitCast(call, to: PositionedRead.self)
            let watched: PositionedRead = { descriptor, target, count, offset in
                let result = unsafe systemRead(descriptor, target, count, offset)
                if result < 0, errno != EINTR { ReadFailure.note(Errno.last) }
                return result
            }
            _ = unsafe set(system, name, unsafeBitCast(watched, to: sqlite3_syscall_ptr.self))
        }
    }

    /// Records a failure of this thread. It keeps `errno`.
    static func note(_ failure: Errno) {
        unsafe pthread_setspecific(key, UnsafeRawPointer(bitPattern: Int(failure.code)))
    }

    /// Throws an I/O error, once, if a read of this thread has failed.
    package static func check() throws(EngineError) {
        if let failure = take() { throw EngineError(unreadable: failure) }
    }

    /// Returns the failure of this thread, and forgets it; nil if there was none.
    static func take() -> Errno? {
        guard let noted = unsafe pthread_getspecific(key) else { return nil }
        pthread_setspecific(key, nil)
        return Errno(CInt(truncatingIfNeeded: Int(bitPattern: noted)))
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let code = unsafe pthread_key_create(&key, nil)
        precondition(code == 0, "a key for thread-local values could not be created")
        return key
    }()
}

private typealias PositionedRead =
    @convention(c) (CInt, UnsafeMutableRawPointer?, Int, off_t) -> Int

// Written once, before SQLite calls it, and only read afterwards.
private nonisolated(unsafe) var systemRead: PositionedRead = unsafe pread
