internal import SQLCipherBridge

extension EngineError {
    /// True if a statement needs a definition that only an application can provide: a collation, a function,
    /// a tokenizer, or the module of a virtual table. The engine has no separate error code for this.
    var isOfMissingDefinition: Bool {
        let beginnings = [
            "no such module", "no such tokenizer", "unknown tokenizer", "no such function",
            "unknown function",
            "no such collation sequence",
        ]
        return primaryCode == EngineCode.error
            && beginnings.contains { message?.hasPrefix($0) == true }
    }

    /// A collation or a function that a statement uses and its connection does not have.
    enum MissingDefinition: Hashable, CustomStringConvertible {
        case collation(String)
        case function(String)

        var description: String {
            switch self {
            case .collation(let name): "the collation \(name)"
            case .function(let name): "the function \(name)"
            }
        }
    }

    /// The missing definition, if the engine's message names it.
    var missingDefinition: MissingDefinition? {
        guard primaryCode == EngineCode.error, let message else { return nil }
        func name(after words: String) -> String? {
            message.hasPrefix(words) ? String(message.dropFirst(words.count)) : nil
        }
        if let name = name(after: "no such collation sequence: ") { return .collation(name) }
        if let name = name(after: "no such function: ") { return .function(name) }
        return nil
    }

    init(missing definition: MissingDefinition) {
        let words =
            switch definition {
            case .collation(let name): "no such collation sequence: \(name)"
            case .function(let name): "no such function: \(name)"
            }
        self.init(code: EngineCode.error, message: words)
    }
}
