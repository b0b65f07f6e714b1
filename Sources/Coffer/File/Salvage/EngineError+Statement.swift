internal import SQLCipherBridge

extension EngineError {
    /// Whether another statement may still succeed.
    var isOfStatement: Bool {
        ![EngineCode.full, EngineCode.ioError, EngineCode.interrupt].contains(primaryCode)
    }
}
