internal import SQLCipherBridge

extension EngineError {
    /// True if another statement may still succeed.
    var isOfStatement: Bool {
        ![EngineCode.full, EngineCode.ioError, EngineCode.interrupt].contains(primaryCode)
    }
}
