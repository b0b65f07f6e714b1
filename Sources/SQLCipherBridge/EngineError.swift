internal import Glibc
internal import SystemCalls

/// A failed call to SQLite: the extended result code, and the message, which is read while it is still valid.
package struct EngineError: Error, Sendable, Equatable {
    package var code: CInt
    package var message: String?

    /// The result code without its extension: one of ``EngineCode``.
    package var primaryCode: CInt { code & 0xff }

    /// The message for the user.
    package var words: String { message ?? ConnectionHandle.describe(code) }

    package init(code: CInt, message: String?) {
        self.code = code
        self.message = message
    }
}

extension EngineError {
    /// The path of the database leads to another file than the open one.
    package static let fileMoved = EngineError(
        code: EngineCode.databaseMoved,
        message: "The database file was removed, renamed or replaced while it was open")
}

extension EngineError {
    /// The codes of failed system calls that create or extend a file. With another code, the `errno` may come
    /// from an earlier call.
    private static let writeErrors: Set<CInt> = [
        EngineCode.cantOpen, EngineCode.ioError, EngineCode.noSpaceForIndex,
        // WRITE, FSYNC, DIR_FSYNC, TRUNCATE, SHMOPEN and SHMMAP.
        10 | 3 << 8, 10 | 4 << 8, 10 | 5 << 8, 10 | 6 << 8, 10 | 18 << 8, 10 | 21 << 8,
    ]

    /// Returns `SQLITE_FULL` for an error of a file for which the system had no space; nil for other errors.
    ///
    /// SQLite itself returns `SQLITE_FULL` if the disk is full when a file is extended. It returns
    /// `SQLITE_CANTOPEN` if a file system has no room for another file, and `SQLITE_IOERR` if a limit of the
    /// user or the process is reached, or if the index of the log cannot be extended.
    ///
    /// - Parameter systemError: the `errno` of the call that failed.
    static func full(_ code: CInt, systemError: CInt) -> EngineError? {
        let reason = Errno(systemError)
        guard writeErrors.contains(code), reason.isOutOfSpace || code == EngineCode.noSpaceForIndex else {
            return nil
        }
        let words = ConnectionHandle.describe(EngineCode.full)
        let message = reason.isOutOfSpace ? "\(words): \(reason.words)" : words
        return EngineError(code: EngineCode.full, message: message)
    }
}

extension EngineError: SystemCallFailure {
    /// The error of a file that the system refused to read.
    init(unreadable reason: Errno) {
        let code = EngineCode.unreadable
        self.init(code: code, message: "\(ConnectionHandle.describe(code)): \(reason.words)")
    }

    package var systemError: CInt? { primaryCode == EngineCode.ioError ? EIO : nil }
}
