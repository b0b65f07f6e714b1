/// The rule of all hooks (I8): SQLite keeps a C function and one pointer. The C function is a trampoline of
/// this folder, one for each kind of hook, and the pointer is a Swift object that holds the closure. Who
/// keeps the object alive:
///
/// - Functions, aggregates, collations, and tokenizers with their instances: SQLite does. It owns one
///   reference, and calls a destructor when the registration is replaced, removed, or ends with its
///   connection.
/// - All other hooks: their owner does, until it has removed the hook or closed the connection. SQLite's
///   pointer owns nothing.
///
/// A trampoline runs on the thread that uses the connection, in the middle of a call of SQLite: its closure
/// must not use the connection.
enum HookContext {
    /// The pointer for a hook whose owner keeps it alive.
    static func borrowing(_ hook: some AnyObject) -> UnsafeMutableRawPointer {
        unsafe Unmanaged.passUnretained(hook).toOpaque()
    }

    /// The pointer for a hook that SQLite keeps alive, until ``release(_:as:)``.
    static func retaining(_ hook: some AnyObject) -> UnsafeMutableRawPointer {
        unsafe Unmanaged.passRetained(hook).toOpaque()
    }

    /// The object behind a pointer that SQLite gave back.
    @inline(__always)
    static func hook<Hook: AnyObject>(_ context: UnsafeMutableRawPointer?, as type: Hook.Type) -> Hook? {
        guard let context = unsafe context else { return nil }
        return unsafe Unmanaged<Hook>.fromOpaque(context).takeUnretainedValue()
    }

    static func release<Hook: AnyObject>(_ context: UnsafeMutableRawPointer?, as type: Hook.Type) {
        guard let context = unsafe context else { return }
        unsafe Unmanaged<Hook>.fromOpaque(context).release()
    }
}
