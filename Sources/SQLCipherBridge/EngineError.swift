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

extension EngineError: SystemCallFailure {
    /// The error of a file that the system refused to read.
    init(unreadable reason: Errno) {
        let code = EngineCode.unreadable
        self.init(code: code, message: "\(ConnectionHandle.describe(code)): \(reason.words)")
    }

    package var systemError: CInt? { primaryCode == EngineCode.ioError ? EIO : nil }
}
