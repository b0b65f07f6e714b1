internal import CSQLCipher

/// The FTS5 module of a connection. Valid while the connection is open.
@safe
package struct FullTextModule {
    let api: UnsafeMutablePointer<fts5_api>
}

extension ConnectionHandle {
    /// Returns the full-text module of the connection.
    ///
    /// See <https://www.sqlite.org/fts5.html#extending_fts5>.
    ///
    /// - Throws: `SQLITE_ERROR` if the engine has no FTS5.
    package func fullTextModule() throws(EngineError) -> FullTextModule {
        var statement: OpaquePointer?
        try check(unsafe sqlite3_prepare_v2(pointer, "SELECT fts5(?)", -1, &statement, nil))
        defer { unsafe sqlite3_finalize(statement) }
        var api: UnsafeMutablePointer<fts5_api>?
        // SQLite keeps the pointer to the type name until the statement is finalized.
        let kind: StaticString = "fts5_api_ptr"
        let code = unsafe withUnsafeMutablePointer(to: &api) { api in
            let name = unsafe UnsafeRawPointer(kind.utf8Start).assumingMemoryBound(to: CChar.self)
            let code = unsafe sqlite3_bind_pointer(statement, 1, api, name, nil)
            return unsafe code == SQLITE_OK ? sqlite3_step(statement) : code
        }
        guard code == SQLITE_ROW, let api = unsafe api else {
            throw EngineError(code: SQLITE_ERROR, message: "The engine has no FTS5.")
        }
        return unsafe FullTextModule(api: api)
    }
}

extension FullTextModule {
    /// Creates an instance of a built-in tokenizer, or of one that was added.
    ///
    /// - Throws: `SQLITE_ERROR` if there is no tokenizer of that name, or the code of a tokenizer that
    ///   rejects its arguments.
    package func makeTokenizer(_ name: String, arguments: [String]) throws(EngineError) -> EngineTokenizer {
        // FTS5 would cut the texts at a NUL character.
        guard ([name] + arguments).allSatisfy({ !$0.utf8.contains(0) }) else {
            throw EngineError(
                code: SQLITE_ERROR,
                message: "The name and the arguments of a tokenizer cannot have NUL characters.")
        }
        var context: UnsafeMutableRawPointer?
        var methods = fts5_tokenizer()
        let found = unsafe api.pointee.xFindTokenizer(api, name, &context, &methods)
        guard found == SQLITE_OK else {
            throw EngineError(code: found, message: "no such tokenizer: \(name)")
        }
        var instance: OpaquePointer?
        let code = unsafe withCStrings(arguments[...], after: []) { pointers in
            unsafe methods.xCreate(context, pointers.baseAddress, CInt(pointers.count), &instance)
        }
        guard code == SQLITE_OK, let instance = unsafe instance else {
            throw EngineError(
                code: code == SQLITE_OK ? SQLITE_ERROR : code, message: "error in tokenizer constructor")
        }
        return unsafe EngineTokenizer(methods: methods, instance: instance)
    }
}

/// Runs `body` with strings as C strings.
private func withCStrings<Result>(
    _ strings: ArraySlice<String>, after pointers: [UnsafePointer<CChar>?],
    _ body: (UnsafeMutableBufferPointer<UnsafePointer<CChar>?>) -> Result
) -> Result {
    guard let string = strings.first else {
        var pointers = unsafe pointers
        return unsafe pointers.withUnsafeMutableBufferPointer { unsafe body($0) }
    }
    return unsafe string.withCString { pointer in
        unsafe withCStrings(strings.dropFirst(), after: unsafe pointers + [pointer], body)
    }
}

/// A tokenizer implemented by C functions. It does not depend on its connection, and is used on one thread at
/// a time.
@safe
package final class EngineTokenizer {
    private let methods: fts5_tokenizer
    private let instance: OpaquePointer

    fileprivate init(methods: fts5_tokenizer, instance: OpaquePointer) {
        self.methods = methods
        unsafe self.instance = instance
    }

    deinit {
        unsafe methods.xDelete(instance)
    }

    /// Calls `callback` with `context` for each token of the text.
    package func tokenize(
        _ context: UnsafeMutableRawPointer?, purpose: CInt, _ text: UnsafePointer<CChar>?, count: CInt,
        _ callback: @escaping TokenCallback
    ) -> CInt {
        unsafe methods.xTokenize(instance, context, purpose, text, count, callback)
    }
}
