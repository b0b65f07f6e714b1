internal import CSQLCipher
internal import Synchronization

/// The error log of SQLite, which is shared by the whole process.
package enum ErrorLog {
    /// - Parameter text: the complete SQL text that SQLite was compiling for this package when it logged the
    ///   message; nil if it was not compiling, or if the text is not known.
    package typealias Handler = @Sendable (_ code: CInt, _ message: String, _ text: String?) -> Void

    private static let current = Mutex<Handler?>(nil)
    private static let hasHandler = Atomic<Bool>(false)

    /// The text that the current thread is compiling, terminated by a zero byte.
    @TaskLocal private static var compiledText: [CChar]?

    /// Redirects the log, which is only possible before SQLite is first used in the process.
    private static let installOnce: CInt = unsafe coffer_config_log(logTrampoline, nil)

    /// A function that is called with errors. Nil by default.
    ///
    /// Set the first handler before the first connection is opened: SQLite does not redirect its log
    /// afterwards. The handler is called on any thread, in the middle of a call to SQLite, and must not use
    /// SQLite itself.
    package static var handler: Handler? {
        get { current.withLock { $0 } }
        set {
            current.withLock { $0 = newValue }
            hasHandler.store(newValue != nil, ordering: .relaxed)
            if newValue != nil { _ = installOnce }
        }
    }

    /// Runs `body`, which compiles a part of `text`, and makes the complete text available to the handler:
    /// SQLite's own messages quote only a part of it.
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
