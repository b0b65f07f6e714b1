internal import SQLCipherBridge

extension EngineError {
    /// What is said of it to people.
    var words: String { message ?? ConnectionHandle.describe(code) }

    /// Whether another statement may still succeed.
    var isOfStatement: Bool {
        ![EngineCode.full, EngineCode.ioError, EngineCode.interrupt].contains(primaryCode)
    }
}
