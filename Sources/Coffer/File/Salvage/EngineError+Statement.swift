internal import SQLCipherBridge

extension EngineError {
    /// What is said of it to people.
    var words: String { message ?? ConnectionHandle.describe(code) }

    /// Whether another statement may still succeed.
    var isOfStatement: Bool {
        ![EngineCode.full, EngineCode.ioError, EngineCode.interrupt].contains(primaryCode)
    }

    /// Whether a virtual table needs what only an application can bring. The engine has no code of its own
    /// for that.
    var isOfMissingModule: Bool {
        let beginnings = [
            "no such module", "no such tokenizer", "unknown tokenizer", "no such function",
            "no such collation sequence",
        ]
        return primaryCode == EngineCode.error
            && beginnings.contains { message?.hasPrefix($0) == true }
    }
}
