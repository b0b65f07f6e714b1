internal import CSQLCipher
package import KeyMaterial

/// The arguments of a call of an SQL function. Valid only during the call.
@safe
package struct FunctionArguments {
    fileprivate let pointer: UnsafeMutablePointer<OpaquePointer?>?

    package let count: Int

    /// The argument at `index`, which must be in `0..<count`.
    package subscript(index: Int) -> ValueHandle {
        precondition(index >= 0 && index < count, "There is no such argument.")
        // SQLite passes `count` pointers, all of them non-nil.
        guard let value = unsafe pointer?[index] else { preconditionFailure("SQLite passed no value.") }
        return unsafe ValueHandle(value)
    }
}

/// The destination of the result of a call of an SQL function. Valid only during the call.
@safe
package struct FunctionContext {
    fileprivate let pointer: OpaquePointer

    package func setNull() { unsafe sqlite3_result_null(pointer) }
    package func set(_ value: Int64) { unsafe sqlite3_result_int64(pointer, value) }
    package func set(_ value: Double) { unsafe sqlite3_result_double(pointer, value) }

    package func set(_ value: String) {
        var value = value
        value.withUTF8 { unsafe set(text: UnsafeRawBufferPointer($0)) }
    }

    /// Sets a UTF-8 text, byte for byte.
    package func set(text bytes: [UInt8]) { unsafe bytes.withUnsafeBytes { unsafe set(text: $0) } }

    private func set(text bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress else {
            return unsafe coffer_result_text_transient(pointer, "", 0)
        }
        unsafe coffer_result_text_transient(
            pointer, base.assumingMemoryBound(to: CChar.self), UInt64(bytes.count))
    }

    /// Sets one of the arguments, unchanged.
    package func set(_ value: ValueHandle) { unsafe sqlite3_result_value(pointer, value.pointer) }

    /// Sets the bytes of a secret as a blob, which is wiped when SQLite frees it.
    package func set(wiping secret: borrowing SecretBytes) {
        let count = secret.count
        // SQLite passes only the address to the destructor, so the count is stored in front of the bytes.
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: wipingHeaderSize + count, alignment: wipingHeaderSize)
        unsafe memory.storeBytes(of: count, as: Int.self)
        secret.withUnsafeBytes { bytes in
            unsafe UnsafeMutableRawBufferPointer(start: memory + wipingHeaderSize, count: count).copyMemory(
                from: bytes)
        }
        unsafe sqlite3_result_blob64(
            pointer, memory + wipingHeaderSize, sqlite3_uint64(count), wipingDestructor)
    }

    /// Sets a blob. An empty buffer is an empty blob, not NULL.
    package func set(blob bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress, unsafe !bytes.isEmpty else {
            return unsafe sqlite3_result_zeroblob(pointer, 0)
        }
        unsafe coffer_result_blob_transient(pointer, base, UInt64(bytes.count))
    }

    /// Makes the statement that calls the function fail with an error.
    package func set(_ error: EngineError) {
        if let message = error.message {
            unsafe sqlite3_result_error(pointer, message, -1)
        }
        // Set the code after the message, which this call does not change.
        unsafe sqlite3_result_error_code(pointer, error.code)
    }
}

private let wipingHeaderSize = 16

private func wipingDestructor(_ bytes: UnsafeMutableRawPointer?) {
    guard let bytes = unsafe bytes else { return }
    let memory = unsafe bytes - wipingHeaderSize
    unsafe OPENSSL_cleanse(bytes, memory.load(as: Int.self))
    unsafe memory.deallocate()
}

/// A scalar SQL function. For its lifetime, see ``HookContext``: SQLite owns it.
final class FunctionHook {
    fileprivate let body: (FunctionContext, FunctionArguments) -> Void

    init(_ body: @escaping (FunctionContext, FunctionArguments) -> Void) {
        self.body = body
    }
}

extension ConnectionHandle {
    /// Registers a scalar function. It replaces one with the same name and number of arguments.
    ///
    /// - Parameters:
    ///   - argumentCount: -1 for any number.
    ///   - isDeterministic: true if the result depends only on the arguments, so that the function can be
    ///     used in indexes.
    ///   - body: a function that must set a result or an error.
    /// - Throws: `SQLITE_BUSY` if a statement is running and the function already exists; `SQLITE_MISUSE` for
    ///   an invalid name or number of arguments.
    package func createFunction(
        _ name: String, argumentCount: CInt, isDeterministic: Bool,
        _ body: @escaping (FunctionContext, FunctionArguments) -> Void
    ) throws(EngineError) {
        try register(name, argumentCount, isDeterministic ? SQLITE_DETERMINISTIC : 0, body)
    }

    /// Registers a function that can only be called directly, not by schemas, triggers or views.
    ///
    /// - Parameter argumentCount: -1 for any number.
    package func createDirectFunction(
        _ name: String, argumentCount: CInt, _ body: @escaping (FunctionContext, FunctionArguments) -> Void
    ) throws(EngineError) {
        try register(name, argumentCount, SQLITE_DIRECTONLY, body)
    }

    private func register(
        _ name: String, _ argumentCount: CInt, _ flags: CInt,
        _ body: @escaping (FunctionContext, FunctionArguments) -> Void
    ) throws(EngineError) {
        // SQLite also calls the destructor on failure.
        let code = unsafe sqlite3_create_function_v2(
            pointer, name, argumentCount, SQLITE_UTF8 | flags, HookContext.retaining(FunctionHook(body)),
            functionTrampoline, nil, nil, hookDestructor)
        try check(code)
    }

    /// Removes a function or an aggregate.
    package func removeFunction(_ name: String, argumentCount: CInt) throws(EngineError) {
        try check(
            unsafe sqlite3_create_function_v2(
                pointer, name, argumentCount, SQLITE_UTF8, nil, nil, nil, nil, nil))
    }
}

/// Returns the hook that a function was registered with, and the context of the call.
@inline(__always)
private func hook<Hook: AnyObject>(of context: OpaquePointer?, as type: Hook.Type) -> (OpaquePointer, Hook)? {
    guard let context = unsafe context else { return nil }
    return unsafe HookContext.hook(sqlite3_user_data(context), as: type).map { unsafe (context, $0) }
}

private func functionTrampoline(
    _ context: OpaquePointer?, _ count: CInt, _ values: UnsafeMutablePointer<OpaquePointer?>?
) {
    guard let (context, hook) = unsafe hook(of: context, as: FunctionHook.self) else { return }
    unsafe hook.body(FunctionContext(pointer: context), FunctionArguments(pointer: values, count: Int(count)))
}

// MARK: - Aggregates

/// The state of one aggregation: the rows of one group in one statement.
package protocol AggregateState: AnyObject {
    /// Processes one row. Setting an error makes the statement fail.
    func step(_ context: FunctionContext, _ arguments: FunctionArguments)

    /// Sets the result.
    func finish(_ context: FunctionContext)
}

/// An aggregate SQL function. For its lifetime, see ``HookContext``: SQLite owns it.
final class AggregateHook {
    fileprivate let makeState: () -> any AggregateState

    init(_ makeState: @escaping () -> any AggregateState) {
        self.makeState = makeState
    }
}

/// The object that the memory from SQLite for an aggregation points to.
private final class Aggregation {
    let state: any AggregateState
    init(_ state: any AggregateState) { self.state = state }
}

extension ConnectionHandle {
    /// Registers an aggregate function, with the parameters and errors of
    /// ``createFunction(_:argumentCount:isDeterministic:_:)``.
    package func createAggregate(
        _ name: String, argumentCount: CInt, isDeterministic: Bool,
        _ makeState: @escaping () -> any AggregateState
    ) throws(EngineError) {
        let flags = SQLITE_UTF8 | (isDeterministic ? SQLITE_DETERMINISTIC : 0)
        let code = unsafe sqlite3_create_function_v2(
            pointer, name, argumentCount, flags, HookContext.retaining(AggregateHook(makeState)), nil,
            aggregateStepTrampoline,
            aggregateFinalTrampoline, hookDestructor)
        try check(code)
    }
}

private typealias AggregationSlot = Unmanaged<Aggregation>?

private func aggregateStepTrampoline(
    _ context: OpaquePointer?, _ count: CInt, _ values: UnsafeMutablePointer<OpaquePointer?>?
) {
    guard let (context, hook) = unsafe hook(of: context, as: AggregateHook.self) else { return }
    // SQLite zeroes this memory for the first row of a group, which reads as nil, and returns the same memory
    // for the other rows.
    let memory = unsafe sqlite3_aggregate_context(context, CInt(MemoryLayout<AggregationSlot>.size))
    guard let slot = unsafe memory?.assumingMemoryBound(to: AggregationSlot.self) else {
        return unsafe sqlite3_result_error_nomem(context)
    }
    let aggregation: Aggregation
    if let existing = unsafe slot.pointee {
        aggregation = unsafe existing.takeUnretainedValue()
    } else {
        aggregation = Aggregation(hook.makeState())
        unsafe slot.pointee = Unmanaged.passRetained(aggregation)
    }
    unsafe aggregation.state.step(
        FunctionContext(pointer: context), FunctionArguments(pointer: values, count: Int(count)))
}

/// Finishes a group. SQLite calls it once for each group, even after an error, and without any row for an
/// empty table.
private func aggregateFinalTrampoline(_ context: OpaquePointer?) {
    guard let (context, hook) = unsafe hook(of: context, as: AggregateHook.self) else { return }
    let slot = unsafe sqlite3_aggregate_context(context, 0)?.assumingMemoryBound(to: AggregationSlot.self)
    if let slot = unsafe slot, let existing = unsafe slot.pointee {
        unsafe slot.pointee = nil
        unsafe existing.takeRetainedValue().state.finish(FunctionContext(pointer: context))
    } else {
        unsafe hook.makeState().finish(FunctionContext(pointer: context))
    }
}
