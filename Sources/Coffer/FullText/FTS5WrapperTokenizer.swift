internal import SQLCipherBridge

/// The function that a wrapper tokenizer calls for each token that it emits. It throws if the engine stops
/// the tokenization.
public typealias FTS5WrapperTokenCallback = (_ token: String, _ flags: FTS5TokenFlags) throws -> Void

/// A tokenizer that modifies the tokens of another one: it leaves tokens out, folds them, or adds synonyms.
///
/// ```swift
/// /// Finds the words that the tokenizer `porter` finds, except those with fewer letters than a minimum:
/// /// `tokenize = 'longWords 4'`.
/// final class LongWords: FTS5WrapperTokenizer {
///     let wrappedTokenizer: any FTS5Tokenizer
///     static let name = "longWords"
///     private let shortest: Int
///
///     init(db: Database, arguments: [String]) throws {
///         shortest = arguments.first.flatMap { Int($0) } ?? 3
///         wrappedTokenizer = try db.makeTokenizer(.porter())
///     }
///
///     func accept(
///         token: String, flags: FTS5TokenFlags, for tokenization: FTS5Tokenization,
///         tokenCallback: FTS5WrapperTokenCallback
///     ) throws {
///         guard token.count >= shortest else { return }
///         try tokenCallback(token, flags)
///     }
/// }
/// ```
///
/// To support synonyms, emit the token, followed by each synonym with the flag ``FTS5TokenFlags/colocated``,
/// if the tokenization is ``FTS5Tokenization/document``. If it is ``FTS5Tokenization/query``, emit only the
/// token.
public protocol FTS5WrapperTokenizer: FTS5CustomTokenizer {
    /// The tokenizer that finds the words.
    var wrappedTokenizer: any FTS5Tokenizer { get }

    /// Receives a token of the wrapped tokenizer, and emits any number of tokens at the same position.
    ///
    /// - Parameters:
    ///   - token: the token. Tokens that are not valid UTF-8 are skipped.
    ///   - flags: the flags of the token.
    ///   - tokenization: the purpose of the tokens.
    ///   - tokenCallback: emits a token. An empty token is ignored.
    /// - Throws: any error, which ends the tokenization: a ``DatabaseError`` with its extended code, any
    ///   other error with `SQLITE_ERROR`.
    func accept(
        token: String, flags: FTS5TokenFlags, for tokenization: FTS5Tokenization,
        tokenCallback: FTS5WrapperTokenCallback
    ) throws
}

extension FTS5WrapperTokenizer {
    /// Passes each token of the wrapped tokenizer to ``accept(token:flags:for:tokenCallback:)``.
    public func tokenize(
        context: UnsafeMutableRawPointer?, tokenization: FTS5Tokenization, pText: UnsafePointer<CChar>?,
        nText: CInt,
        tokenCallback: @escaping FTS5TokenCallback
    ) -> CInt {
        var filter = unsafe TokenFilter(
            tokenizer: self, tokenization: tokenization, context: context, callback: tokenCallback)
        let code = unsafe withUnsafeMutablePointer(to: &filter) { filter in
            unsafe wrappedTokenizer.tokenize(
                context: filter, tokenization: tokenization, pText: pText, nText: nText,
                tokenCallback: filterToken)
        }
        return filter.code == EngineCode.ok ? code : filter.code
    }
}

/// The context that connects a wrapped tokenizer with its wrapper, for one text.
@safe
private struct TokenFilter {
    let tokenizer: any FTS5WrapperTokenizer
    let tokenization: FTS5Tokenization
    let context: UnsafeMutableRawPointer?
    let callback: FTS5TokenCallback

    /// The code of the error that ended the tokenization, or `SQLITE_OK`.
    var code = EngineCode.ok
}

private func filterToken(
    _ context: UnsafeMutableRawPointer?, _ flags: CInt, _ token: UnsafePointer<CChar>?, _ count: CInt,
    _ start: CInt, _ end: CInt
) -> CInt {
    guard let filter = unsafe context?.assumingMemoryBound(to: TokenFilter.self) else {
        return EngineCode.misuse
    }
    guard unsafe filter.pointee.code == EngineCode.ok else { return unsafe filter.pointee.code }
    guard let text = unsafe String(token: token, count: count) else { return EngineCode.ok }
    let (outerContext, callback) = unsafe (filter.pointee.context, filter.pointee.callback)
    do {
        try unsafe filter.pointee.tokenizer.accept(
            token: text, flags: FTS5TokenFlags(rawValue: flags), for: filter.pointee.tokenization
        ) { token, flags in
            guard !token.isEmpty else { return }
            var token = token
            let code = token.withUTF8 { bytes in
                unsafe bytes.withMemoryRebound(to: CChar.self) { bytes in
                    unsafe callback(
                        outerContext, flags.rawValue, bytes.baseAddress, CInt(clamping: bytes.count), start,
                        end)
                }
            }
            guard code == EngineCode.ok else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
        }
    } catch {
        let code = EngineError(tokenizerError: error).code
        unsafe filter.pointee.code = code == EngineCode.ok ? EngineCode.error : code
    }
    return unsafe filter.pointee.code
}
