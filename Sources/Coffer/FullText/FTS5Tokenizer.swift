internal import SQLCipherBridge

/// The C function that a tokenizer calls for each token.
///
/// Pass the context that was given to
/// ``FTS5Tokenizer/tokenize(context:tokenization:pText:nText:tokenCallback:)``, the flags, the UTF-8 bytes of
/// the token and their number, and the start and end of the token in the text, as byte offsets. If the
/// function does not return `SQLITE_OK`, return its result.
public typealias FTS5TokenCallback =
    @convention(c) (
        _ context: UnsafeMutableRawPointer?, _ flags: CInt, _ pToken: UnsafePointer<CChar>?, _ nToken: CInt,
        _ iStart: CInt, _ iEnd: CInt
    ) -> CInt

/// The purpose of a tokenization.
public struct FTS5Tokenization: OptionSet, Sendable {
    public let rawValue: CInt

    public init(rawValue: CInt) { self.rawValue = rawValue }

    /// The text is a part of a pattern.
    public static let query = FTS5Tokenization(rawValue: 1)

    /// The text is a part of a pattern whose last word is the beginning of a word. It is always combined with
    /// ``query``.
    public static let prefix = FTS5Tokenization(rawValue: 2)

    /// The text is added to the index, or removed from it.
    public static let document = FTS5Tokenization(rawValue: 4)

    /// The text is processed by a function such as `highlight`.
    public static let aux = FTS5Tokenization(rawValue: 8)
}

/// The flags of a token.
public struct FTS5TokenFlags: OptionSet, Sendable {
    public let rawValue: CInt

    public init(rawValue: CInt) { self.rawValue = rawValue }

    /// The token has the same position as the one before it: it is a synonym.
    public static let colocated = FTS5TokenFlags(rawValue: 1)
}

/// A tokenizer of ``FTS5`` tables, which splits texts into words.
///
/// The engine's tokenizers come from ``Database/makeTokenizer(_:)``. To write your own, conform to
/// ``FTS5WrapperTokenizer``, or to ``FTS5CustomTokenizer``.
public protocol FTS5Tokenizer: AnyObject {
    /// Calls a function for each token of a text, in the order of the text.
    ///
    /// - Parameters:
    ///   - context: the first argument of each call of `tokenCallback`.
    ///   - tokenization: the purpose of the tokens.
    ///   - pText: the bytes of the text, usually UTF-8. They are not NUL-terminated.
    ///   - nText: the number of bytes.
    ///   - tokenCallback: the function. Do not call it after this method has returned.
    /// - Returns: `SQLITE_OK`; the result of `tokenCallback` if it is something else; or an error code.
    func tokenize(
        context: UnsafeMutableRawPointer?, tokenization: FTS5Tokenization, pText: UnsafePointer<CChar>?,
        nText: CInt,
        tokenCallback: @escaping FTS5TokenCallback
    ) -> CInt
}

// MARK: - Tokens as an array

extension FTS5Tokenizer {
    /// Returns the tokens of a text that is added to an index.
    ///
    ///     let tokenizer = try db.makeTokenizer(.porter())
    ///     try tokenizer.tokenize(document: "Sealed letters").map(\.token)  // ["seal", "letter"]
    ///
    /// - Returns: the tokens that are valid UTF-8, in the order of the text.
    /// - Throws: a ``DatabaseError`` with the result code of the tokenizer.
    public func tokenize(document string: String) throws -> [(token: String, flags: FTS5TokenFlags)] {
        try tokenize(string, for: .document)
    }

    /// Returns the tokens of a text that is searched for.
    ///
    /// - Returns: the tokens that are valid UTF-8, in the order of the text.
    /// - Throws: a ``DatabaseError`` with the result code of the tokenizer.
    public func tokenize(query string: String) throws -> [(token: String, flags: FTS5TokenFlags)] {
        try tokenize(string, for: .query)
    }

    private func tokenize(_ string: String, for tokenization: FTS5Tokenization) throws -> [(
        token: String, flags: FTS5TokenFlags
    )] {
        var (text, list) = (string, TokenList())
        let code = text.withUTF8 { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) { bytes in
                unsafe withUnsafeMutablePointer(to: &list) { list in
                    unsafe tokenize(
                        context: list, tokenization: tokenization, pText: bytes.baseAddress,
                        nText: CInt(clamping: bytes.count),
                        tokenCallback: collectToken)
                }
            }
        }
        guard code == EngineCode.ok else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
        return list.tokens
    }
}

private struct TokenList {
    var tokens: [(token: String, flags: FTS5TokenFlags)] = []
}

private func collectToken(
    _ context: UnsafeMutableRawPointer?, _ flags: CInt, _ token: UnsafePointer<CChar>?, _ count: CInt,
    _ start: CInt, _ end: CInt
) -> CInt {
    if let text = unsafe String(token: token, count: count) {
        unsafe context?.assumingMemoryBound(to: TokenList.self).pointee.tokens.append(
            (text, FTS5TokenFlags(rawValue: flags)))
    }
    return EngineCode.ok
}

extension String {
    /// Creates a string from the bytes of a token, or returns nil if they are not valid UTF-8.
    init?(token: UnsafePointer<CChar>?, count: CInt) {
        guard count >= 0 else { return nil }
        let bytes = unsafe UnsafeRawBufferPointer(start: token, count: token == nil ? 0 : Int(count))
        guard let text = unsafe String(validating: bytes.bindMemory(to: UInt8.self), as: UTF8.self) else {
            return nil
        }
        self = text
    }
}

// MARK: - Tokenizers of a connection

extension Database {
    /// Creates a tokenizer: one of SQLite's, or one that was added to the connection.
    ///
    /// It can be kept, but must be used on one thread at a time.
    ///
    /// - Throws: a ``DatabaseError`` if there is no such tokenizer, or it rejects its arguments.
    public func makeTokenizer(_ descriptor: FTS5TokenizerDescriptor) throws -> any FTS5Tokenizer {
        checkIsUsedInItsAccess()
        try checkProtection()
        do {
            let module = try fullTextModule()
            return EngineBackedTokenizer(
                try module.makeTokenizer(
                    descriptor.components[0], arguments: Array(descriptor.components.dropFirst())))
        } catch {
            throw DatabaseError(error)
        }
    }
}

/// A tokenizer created by the engine.
private final class EngineBackedTokenizer: FTS5Tokenizer {
    private let tokenizer: EngineTokenizer

    init(_ tokenizer: EngineTokenizer) {
        self.tokenizer = tokenizer
    }

    func tokenize(
        context: UnsafeMutableRawPointer?, tokenization: FTS5Tokenization, pText: UnsafePointer<CChar>?,
        nText: CInt,
        tokenCallback: @escaping FTS5TokenCallback
    ) -> CInt {
        unsafe tokenizer.tokenize(context, purpose: tokenization.rawValue, pText, count: nText, tokenCallback)
    }
}
