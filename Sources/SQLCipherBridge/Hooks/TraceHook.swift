internal import CSQLCipher

/// A hook that is called when statements begin and end. For its lifetime, see ``HookContext``.
package final class TraceHook {
    package enum Event {
        /// A statement begins to run, or a trigger in it. For a trigger, `comment` is SQLite's comment about
        /// it, which starts with `--`.
        case statement(StatementHandle, comment: String?)

        /// A statement has ended. The duration is in nanoseconds.
        case profile(StatementHandle, nanoseconds: Int64)
    }

    package struct Kinds: OptionSet {
        package let rawValue: CUnsignedInt
        package init(rawValue: CUnsignedInt) { self.rawValue = rawValue }

        package static let statement = Kinds(rawValue: CUnsignedInt(SQLITE_TRACE_STMT))
        package static let profile = Kinds(rawValue: CUnsignedInt(SQLITE_TRACE_PROFILE))
    }

    /// True if events are not passed to `body`, because the library's own queries do not concern the
    /// application.
    package var isMuted = false

    fileprivate let body: (Event) -> Void

    /// Installs the hook. It replaces the previous one.
    ///
    /// - Parameter body: a function that may use the statement of the event only during the call, and must
    ///   not step it.
    package init(_ connection: ConnectionHandle, kinds: Kinds, _ body: @escaping (Event) -> Void) {
        self.body = body
        unsafe sqlite3_trace_v2(
            connection.pointer, kinds.rawValue, traceTrampoline, HookContext.borrowing(self))
    }

    package func remove(from connection: ConnectionHandle) {
        unsafe sqlite3_trace_v2(connection.pointer, 0, nil, nil)
    }
}

private func traceTrampoline(
    _ kind: CUnsignedInt, _ context: UnsafeMutableRawPointer?, _ subject: UnsafeMutableRawPointer?,
    _ detail: UnsafeMutableRawPointer?
) -> CInt {
    guard let hook = unsafe HookContext.hook(context, as: TraceHook.self), let subject = unsafe subject,
        !hook.isMuted
    else { return 0 }
    let statement = unsafe StatementHandle(OpaquePointer(subject))
    switch kind {
    case CUnsignedInt(SQLITE_TRACE_STMT):
        let text = unsafe detail?.assumingMemoryBound(to: CChar.self)
        let comment = unsafe text.flatMap { text in
            unsafe text[0] == CChar(bitPattern: UInt8(ascii: "-"))
                && text[1] == CChar(bitPattern: UInt8(ascii: "-"))
                ? String(cString: text) : nil
        }
        hook.body(.statement(statement, comment: comment))
    case CUnsignedInt(SQLITE_TRACE_PROFILE):
        guard let nanoseconds = unsafe detail?.load(as: sqlite3_int64.self) else { return 0 }
        hook.body(.profile(statement, nanoseconds: nanoseconds))
    default:
        break
    }
    return 0
}
