internal import CSQLCipher

/// The function that a tokenizer calls for each token. Its arguments are the context, flags, the bytes of the
/// token, their number, and the start and end of the token in the text. A result other than `SQLITE_OK` ends
/// the tokenization.
package typealias TokenCallback =
    @convention(c) (
        _ context: UnsafeMutableRawPointer?, _ flags: CInt, _ token: UnsafePointer<CChar>?, _ count: CInt,
        _ start: CInt, _ end: CInt
    ) -> CInt

/// A tokenizer written in Swift: one for each full-text table and connection.
package protocol TokenizerInstance: AnyObject {
    /// Calls `callback` with `context` for each token of the text.
    ///
    /// - Parameter purpose: the use of the tokens, as `FTS5_TOKENIZE_` constants.
    /// - Returns: a result code.
    func tokenize(
        _ context: UnsafeMutableRawPointer?, purpose: CInt, _ text: UnsafePointer<CChar>?, count: CInt,
        _ callback: @escaping TokenCallback
    ) -> CInt
}

/// A kind of tokenizer, which creates instances. For the lifetime of both, see ``HookContext``: SQLite owns
/// them.
private final class TokenizerHook {
    let makeInstance: ([String]) throws(EngineError) -> any TokenizerInstance

    init(_ makeInstance: @escaping ([String]) throws(EngineError) -> any TokenizerInstance) {
        self.makeInstance = makeInstance
    }
}

private final class TokenizerInstanceHook {
    let instance: any TokenizerInstance
    init(_ instance: any TokenizerInstance) { self.instance = instance }
}

extension FullTextModule {
    /// Adds a tokenizer. It hides another one with the same name from tables that are opened later.
    ///
    /// - Parameter makeInstance: a function that is called with the arguments of a table when the table is
    ///   first used on the connection.
    package func addTokenizer(
        _ name: String, _ makeInstance: @escaping ([String]) throws(EngineError) -> any TokenizerInstance
    ) throws(EngineError) {
        var methods = unsafe fts5_tokenizer(
            xCreate: createTrampoline, xDelete: deleteTrampoline, xTokenize: tokenizeTrampoline)
        let context = unsafe HookContext.retaining(TokenizerHook(makeInstance))
        let code = unsafe api.pointee.xCreateTokenizer(api, name, context, &methods, hookDestructor)
        guard code == SQLITE_OK else {
            // SQLite only calls the destructor of tokenizers that were added.
            unsafe HookContext.release(context)
            throw EngineError(code: code, message: nil)
        }
    }
}

// MARK: - Trampolines

private func createTrampoline(
    _ context: UnsafeMutableRawPointer?, _ arguments: UnsafeMutablePointer<UnsafePointer<CChar>?>?,
    _ count: CInt,
    _ result: UnsafeMutablePointer<OpaquePointer?>?
) -> CInt {
    guard let hook = unsafe HookContext.hook(context, as: TokenizerHook.self), let result = unsafe result
    else { return SQLITE_MISUSE }
    let texts = (0..<Int(count)).compactMap { index in
        unsafe arguments?[index].map { unsafe String(cString: $0) }
    }
    do throws(EngineError) {
        let instance = TokenizerInstanceHook(try hook.makeInstance(texts))
        unsafe result.pointee = OpaquePointer(HookContext.retaining(instance))
        return SQLITE_OK
    } catch {
        return error.failureCode
    }
}

private func deleteTrampoline(_ instance: OpaquePointer?) {
    unsafe HookContext.release(UnsafeMutableRawPointer(instance))
}

/// The receiver of the tokens of a text. It validates them before they reach SQLite, which trusts tokenizers.
@safe
private struct TokenSink {
    let context: UnsafeMutableRawPointer?
    let callback: TokenCallback
    let textCount: CInt

    /// The last result code. Any other than `SQLITE_OK` has ended the tokenization.
    var code = SQLITE_OK
}

private func tokenizeTrampoline(
    _ instance: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ purpose: CInt,
    _ text: UnsafePointer<CChar>?, _ count: CInt,
    _ callback: TokenCallback?
) -> CInt {
    guard
        let hook = unsafe HookContext.hook(UnsafeMutableRawPointer(instance), as: TokenizerInstanceHook.self),
        let callback = unsafe callback
    else { return SQLITE_MISUSE }
    var sink = unsafe TokenSink(context: context, callback: callback, textCount: count)
    let code = unsafe withUnsafeMutablePointer(to: &sink) { sink in
        unsafe hook.instance.tokenize(
            UnsafeMutableRawPointer(sink), purpose: purpose, text, count: count, tokenTrampoline)
    }
    // An error counts even if the tokenizer has continued after it.
    if sink.code != SQLITE_OK { return sink.code }
    return code == SQLITE_OK ? SQLITE_OK : EngineError(code: code, message: nil).failureCode
}

/// Forwards a token if it is valid: SQLite reads and copies memory according to these numbers.
private func tokenTrampoline(
    _ context: UnsafeMutableRawPointer?, _ flags: CInt, _ token: UnsafePointer<CChar>?, _ count: CInt,
    _ start: CInt, _ end: CInt
) -> CInt {
    guard let sink = unsafe context?.assumingMemoryBound(to: TokenSink.self) else { return SQLITE_MISUSE }
    guard unsafe sink.pointee.code == SQLITE_OK else { return unsafe sink.pointee.code }
    let isToken =
        unsafe count >= 0 && (token != nil || count == 0) && start >= 0 && start <= end
        && end <= sink.pointee.textCount
    let code =
        unsafe isToken
        ? sink.pointee.callback(sink.pointee.context, flags, token, count, start, end) : SQLITE_ERROR
    unsafe sink.pointee.code = code
    return code
}

extension EngineError {
    /// A failure code for SQLite, which would treat `SQLITE_ROW` and `SQLITE_DONE` as success.
    fileprivate var failureCode: CInt {
        switch primaryCode {
        case SQLITE_OK, SQLITE_ROW, SQLITE_DONE: SQLITE_ERROR
        default: code
        }
    }
}
