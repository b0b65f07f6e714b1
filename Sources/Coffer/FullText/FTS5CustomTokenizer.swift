internal import SQLCipherBridge

/// A tokenizer that is written in Swift.
///
/// This one takes each hexadecimal digit pair of a fingerprint for a word:
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
/// A tokenizer always has to find the same tokens in the same text: they are searched again when a text
/// leaves the index.
///
/// It runs in the middle of statements, and must not execute SQL. A token that is not in the text, a code
/// that is no failure, and an error that is passed over end the statement with an error.
public protocol FTS5CustomTokenizer: FTS5Tokenizer {
    /// The name of the tokenizer in SQL.
    static var name: String { get }

    /// Creates the tokenizer of one table on one connection, when the table is first used there.
    ///
    /// - Parameters:
    ///   - db: the connection, which can make other tokenizers and cannot execute SQL now.
    ///   - arguments: what follows the name in the descriptor of the table.
    /// - Throws: any error, which makes the statement fail: a ``DatabaseError`` with its extended code, any
    ///   other with `SQLITE_ERROR`.
    init(db: Database, arguments: [String]) throws
}

extension FTS5CustomTokenizer {
    /// The descriptor for the definition of a table.
    ///
    /// - Parameter arguments: what the tokenizer of the table is created with.
    public static func tokenizerDescriptor(arguments: [String] = []) -> FTS5TokenizerDescriptor {
        FTS5TokenizerDescriptor(components: [name] + arguments)
    }
}

// MARK: - Adding

extension Database {
    /// Adds a tokenizer that is written in Swift, in place of one with the same name.
    ///
    /// Each connection that uses a table needs the tokenizer of the table: add it in
    /// ``Configuration/prepareDatabase(_:)``. Without it, statements that use the table throw.
    ///
    /// - Parameter tokenizer: the type of the tokenizer. Tables that the connection has used before keep
    ///   theirs.
    public func add(tokenizer: (some FTS5CustomTokenizer).Type) {
        checkIsUsedInItsAccess()
        precondition(
            !isClosed, "The tokenizer \(tokenizer.name) could not be added: the connection is closed.")
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
            fatalError(
                "The tokenizer \(tokenizer.name) could not be added: "
                    + "\(error.message ?? ConnectionHandle.describe(error.code))."
            )
        }
        additions.add(named: "tokenizer \(tokenizer.name)") { $0.add(tokenizer: tokenizer) }
    }

    /// FTS5 of the current connection of the C library.
    ///
    /// It is asked once: tokenizers are made in the middle of statements, which are not to be disturbed by
    /// another one.
    func fullTextModule() throws(EngineError) -> FullTextModule {
        if let fullText { return fullText }
        guard !isClosed else { throw EngineError(code: EngineCode.misuse, message: "Connection is closed") }
        let module = try withoutTrace { () throws(EngineError) in try handle.fullTextModule() }
        fullText = module
        return module
    }
}

/// A tokenizer that is written in Swift, as the bridge sees it.
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
    /// The error of a tokenizer, as the engine understands it.
    init(tokenizerError error: any Error) {
        self.init(
            code: (error as? DatabaseError)?.extendedResultCode.rawValue ?? EngineCode.error, message: nil)
    }
}
