/// The lifetime of hooks (invariant "One trampoline"). SQLite stores a C function and a pointer. The C
/// function is a trampoline in this folder, one for each kind of hook. The pointer refers to a Swift object
/// with the closure. The owner of that object is:
///
/// - SQLite, for functions, aggregates, collations, and tokenizers with their instances. SQLite owns one
///   reference, and calls a destructor when the registration is replaced or removed, or when its connection
///   is closed.
/// - The owner of the hook, for all other hooks, until it has removed the hook or closed the connection.
///   SQLite's pointer owns nothing.
///
/// A trampoline runs on the thread that uses the connection, in the middle of a call to SQLite: its closure
/// must not use the connection.
enum HookContext {
    /// Returns the pointer for a hook that its owner keeps alive.
    static func borrowing(_ hook: some AnyObject) -> UnsafeMutableRawPointer {
        unsafe Unmanaged.passUnretained(hook).toOpaque()
    }

    /// Returns the pointer for a hook that SQLite keeps alive until ``release(_:)``.
    static func retaining(_ hook: some AnyObject) -> UnsafeMutableRawPointer {
        unsafe Unmanaged.passRetained(hook).toOpaque()
    }

    /// Returns the object of a pointer that SQLite has passed back.
    @inline(__always)
    static func hook<Hook: AnyObject>(_ context: UnsafeMutableRawPointer?, as type: Hook.Type) -> Hook? {
        guard let context = unsafe context else { return nil }
        return unsafe Unmanaged<Hook>.fromOpaque(context).takeUnretainedValue()
    }

    static func release(_ context: UnsafeMutableRawPointer?) {
        guard let context = unsafe context else { return }
        unsafe Unmanaged<AnyObject>.fromOpaque(context).release()
    }
}

/// The destructor of hooks that SQLite owns, of every kind.
func hookDestructor(_ context: UnsafeMutableRawPointer?) { unsafe HookContext.release(context) }
