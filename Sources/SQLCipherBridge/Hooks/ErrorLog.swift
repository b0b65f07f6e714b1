internal import CSQLCipher
internal import Synchronization

/// The error log of SQLite, which is one for the whole process.
package enum ErrorLog {
    /// - Parameter text: the SQL text, from its beginning, that SQLite was compiling for this package when it
    ///   wrote the message; nil if it was not, or if the text is not known.
    package typealias Handler = @Sendable (_ code: CInt, _ message: String, _ text: String?) -> Void

    private static let current = Mutex<Handler?>(nil)
    private static let hasHandler = Atomic<Bool>(false)

    /// The text that the present thread compiles, terminated by a zero byte.
    @TaskLocal private static var compiledText: [CChar]?

    /// The log can be redirected only before SQLite is used for the first time in the process.
    private static let installOnce: CInt = unsafe coffer_config_log(logTrampoline, nil)

    /// The function that is called with errors; nil by default.
    ///
    /// The first handler must be set before the first connection is opened: later, SQLite does not redirect
    /// its log any more. The handler is called on any thread, in the middle of a call of SQLite, and must not
    /// use SQLite itself.
    package static var handler: Handler? {
        get { current.withLock { $0 } }
        set {
            current.withLock { $0 = newValue }
            hasHandler.store(newValue != nil, ordering: .relaxed)
            if newValue != nil { _ = installOnce }
        }
    }

    /// Runs `body`, which compiles a part of a text, so that the handler learns the whole text: SQLite itself
    /// quotes the text from somewhere in the middle.
    static func compiling(_ text: [CChar], _ body: () -> CInt) -> CInt {
        guard hasHandler.load(ordering: .relaxed) else { return body() }
        return $compiledText.withValue(text, operation: body)
    }

    fileprivate static func report(_ code: CInt, _ message: String) {
        guard let handler else { return }
        let text = compiledText.map { text in
            String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        handler(code, message, text)
    }
}

private func logTrampoline(
    _ context: UnsafeMutableRawPointer?, _ code: CInt, _ message: UnsafePointer<CChar>?
) {
    guard let message = unsafe message else { return }
    unsafe ErrorLog.report(code, String(cString: message))
}
