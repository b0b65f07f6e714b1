internal import CSQLCipher

/// A text to be compared by a collation. Valid only during the call.
@safe
package struct CollationText {
    fileprivate let bytes: UnsafeRawBufferPointer

    /// A copy of the text, with invalid UTF-8 repaired.
    package var string: String { unsafe String(decoding: bytes, as: UTF8.self) }
}

/// A string comparison. For its lifetime, see ``HookContext``: SQLite owns it.
final class CollationHook {
    fileprivate let compare: (_ left: CollationText, _ right: CollationText) -> CInt

    init(_ compare: @escaping (_ left: CollationText, _ right: CollationText) -> CInt) {
        self.compare = compare
    }
}

extension ConnectionHandle {
    /// Registers a collation. It replaces one with the same name.
    ///
    /// - Parameter compare: a function that returns a negative number, zero, or a positive number if the left
    ///   text sorts before, with, or after the right one.
    /// - Throws: `SQLITE_BUSY` if a statement is running and the collation already exists.
    package func createCollation(
        _ name: String, _ compare: @escaping (_ left: CollationText, _ right: CollationText) -> CInt
    ) throws(EngineError) {
        let context = unsafe HookContext.retaining(CollationHook(compare))
        let code = unsafe sqlite3_create_collation_v2(
            pointer, name, SQLITE_UTF8, context, collationTrampoline, hookDestructor)
        if code != SQLITE_OK {
            // Unlike for functions, SQLite does not call the destructor of a collation on failure.
            unsafe HookContext.release(context)
        }
        try check(code)
    }

    package func removeCollation(_ name: String) throws(EngineError) {
        try check(unsafe sqlite3_create_collation_v2(pointer, name, SQLITE_UTF8, nil, nil, nil))
    }
}

private func collationTrampoline(
    _ context: UnsafeMutableRawPointer?, _ leftCount: CInt, _ left: UnsafeRawPointer?, _ rightCount: CInt,
    _ right: UnsafeRawPointer?
) -> CInt {
    guard let hook = unsafe HookContext.hook(context, as: CollationHook.self) else { return 0 }
    return unsafe hook.compare(
        CollationText(bytes: UnsafeRawBufferPointer(start: left, count: Int(leftCount))),
        CollationText(bytes: UnsafeRawBufferPointer(start: right, count: Int(rightCount))))
}
