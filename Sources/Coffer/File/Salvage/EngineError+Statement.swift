internal import SQLCipherBridge

extension EngineError {
    /// The message for the user.
    var words: String { message ?? ConnectionHandle.describe(code) }

    /// True if another statement may still succeed.
    var isOfStatement: Bool {
        ![EngineCode.full, EngineCode.ioError, EngineCode.interrupt].contains(primaryCode)
    }
}
