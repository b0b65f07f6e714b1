internal import SQLCipherBridge

/// A tokenizer written in Swift.
///
/// This one treats each pair of hexadecimal digits in a fingerprint as a word:
///
/// ```swift
/// final class PairTokenizer: FTS5CustomTokenizer {
///     static let name = "pairs"
///
///     init(db: Database, arguments: [String]) {}
///
///     func tokenize(
///         context: UnsafeMutableRawPointer?, tokenization: FTS5Tokenization, pText: UnsafePointer<CChar>?,
///         nText: CInt, tokenCallback: @escaping FTS5TokenCallback
///     ) -> CInt {
///         guard let text = unsafe pText else { return 0 }
///         for start in stride(from: 0, to: nText - 1, by: 3) {
///             let code = unsafe tokenCallback(context, 0, text + Int(start), 2, start, start + 2)
///             if code != 0 { return code }
///         }
///         return 0
///     }
/// }
///
/// configuration.prepareDatabase { db in db.add(tokenizer: PairTokenizer.self) }
///
/// try db.create(virtualTable: "fingerprint", using: FTS5()) { t in
///     t.tokenizer = PairTokenizer.tokenizerDescriptor()
///     t.column("digits")
/// }
/// ```
///
/// A tokenizer must always find the same tokens in the same text, because SQLite tokenizes a text again to
/// remove it from the index.
///
/// It runs while a statement is executed, and must not execute SQL itself. The statement fails if the
/// tokenizer emits a token outside the text, returns `SQLITE_ROW` or `SQLITE_DONE`, or ignores an error of
/// the callback.
public protocol FTS5CustomTokenizer: FTS5Tokenizer {
    /// The name of the tokenizer in SQL.
    static var name: String { get }

    /// Creates the tokenizer of one table on one connection, when the table is first used there.
    ///
    /// - Parameters:
    ///   - db: the connection. It can create other tokenizers, but cannot execute SQL at this time.
    ///   - arguments: the arguments after the name in the descriptor of the table.
    /// - Throws: any error, which makes the statement fail: a ``DatabaseError`` with its extended code, any
    ///   other error with `SQLITE_ERROR`.
    init(db: Database, arguments: [String]) throws
}

extension FTS5CustomTokenizer {
    /// Returns the descriptor for the definition of a table.
    ///
    /// - Parameter arguments: the arguments that the tokenizer of the table is created with.
    public static func tokenizerDescriptor(arguments: [String] = []) -> FTS5TokenizerDescriptor {
        FTS5TokenizerDescriptor(components: [name] + arguments)
    }
}

// MARK: - Adding

extension Database {
    /// Adds a tokenizer written in Swift, or replaces the one with the same name.
    ///
    /// Each connection that uses a table needs the table's tokenizer: add it in
    /// ``Configuration/prepareDatabase(_:)``. Without it, statements that use the table throw. Before the key
    /// of an encrypted file, it is only noted, and added as soon as the connection has the key.
    ///
    /// - Parameter tokenizer: the type of the tokenizer. Tables that the connection has already used keep
    ///   their current tokenizer.
    public func add(tokenizer: (some FTS5CustomTokenizer).Type) {
        checkIsUsedInItsAccess()
        precondition(
            !isClosed || isAwaitingFile,
            "The tokenizer \(tokenizer.name) could not be added: the connection is closed.")
        additions.add(named: "tokenizer \(tokenizer.name)") { $0.add(tokenizer: tokenizer) }
        // Newer engines read the schema for the statement that looks up the module.
        guard protection != .awaitingKey, !isAwaitingFile else { return }
        do {
            try fullTextModule().addTokenizer(tokenizer.name) { [reference] arguments throws(EngineError) in
                guard let self = reference.database else {
                    throw EngineError(code: EngineCode.misuse, message: nil)
                }
                do {
                    return CustomTokenizer(try tokenizer.init(db: self, arguments: arguments))
                } catch {
                    throw EngineError(tokenizerError: error)
                }
            }
        } catch {
            fatalError("The tokenizer \(tokenizer.name) could not be added: \(error.words).")
        }
    }

    /// Returns the FTS5 API of the current SQLite connection.
    ///
    /// It is cached, because looking it up executes a statement, and tokenizers are created while other
    /// statements run.
    func fullTextModule() throws(EngineError) -> FullTextModule {
        if let fullText { return fullText }
        guard !isClosed else { throw EngineError.misuse("Connection is closed") }
        let module = try withoutTrace { () throws(EngineError) in try handle.fullTextModule() }
        fullText = module
        return module
    }
}

/// The bridge's view of a tokenizer written in Swift.
private final class CustomTokenizer: TokenizerInstance {
    private let tokenizer: any FTS5CustomTokenizer

    init(_ tokenizer: any FTS5CustomTokenizer) {
        self.tokenizer = tokenizer
    }

    func tokenize(
        _ context: UnsafeMutableRawPointer?, purpose: CInt, _ text: UnsafePointer<CChar>?, count: CInt,
        _ callback: @escaping TokenCallback
    ) -> CInt {
        unsafe tokenizer.tokenize(
            context: context, tokenization: FTS5Tokenization(rawValue: purpose), pText: text, nText: count,
            tokenCallback: callback)
    }
}

extension EngineError {
    /// Converts the error of a tokenizer to an error of the engine.
    init(tokenizerError error: any Error) {
        self.init(
            code: (error as? DatabaseError)?.extendedResultCode.rawValue ?? EngineCode.error, message: nil)
    }
}
