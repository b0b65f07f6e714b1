internal import CSQLCipher
internal import Dispatch
internal import Synchronization

/// A SHA-256 digest that grows.
package final class ContentDigest {
    private let context: DigestContext
    private let side: SideDigest?
    /// What was added since the last call of libcrypto, each of which costs more than a small value.
    private var waiting: WaitingBytes

    /// - Parameter isBeside: whether another thread computes it while the caller goes on.
    package init(isBeside: Bool = false) throws(CryptographyFailure) {
        context = try DigestContext()
        waiting = WaitingBytes(capacity: isBeside ? 1 << 16 : 4096)
        side = isBeside ? SideDigest(context, spare: WaitingBytes(capacity: 1 << 16)) : nil
    }

    package func update(_ bytes: Span<UInt8>) throws(CryptographyFailure) {
        let isSmall = bytes.count <= waiting.capacity / 2
        if !isSmall || bytes.count > waiting.capacity - waiting.count { try flush() }
        guard !isSmall else { return waiting.append(bytes) }
        try side?.hashWaiting()
        try unsafe context.add(bytes.bytes)
    }

    private func flush() throws(CryptographyFailure) {
        if let side {
            waiting = try side.exchange(waiting)
        } else {
            try context.add(waiting)
        }
    }

    /// Begins anew, with no bytes.
    package func restart() throws(CryptographyFailure) {
        try side?.hashWaiting()
        waiting.removeAll()
        try context.restart()
    }

    /// The digest of all bytes; nothing can be added before ``restart()``.
    package func finish() throws(CryptographyFailure) -> [UInt8] {
        try side?.hashWaiting()
        try context.add(waiting)
        return try context.finish()
    }
}

/// Lets another thread hash what is added while the caller collects more.
///
/// No thread is taken for granted: a part that nobody has begun when the next one comes is hashed by the
/// thread that brings it.
private final class SideDigest: Sendable {
    private struct State {
        let context: DigestContext
        /// What is to be hashed next.
        var full: WaitingBytes?
        /// What the caller gets for it.
        var spare: WaitingBytes?
        var failure: CryptographyFailure?

        mutating func hash() {
            guard let part = full else { return }
            do throws(CryptographyFailure) {
                try context.add(part)
            } catch {
                failure = error
            }
            (full, spare) = (nil, part)
        }
    }

    // Hashing is done under the lock: who has it next finds all that came before in the digest.
    private let state: Mutex<State>
    private let queue = DispatchQueue(label: "Coffer.SideDigest", target: .global())

    init(_ context: DigestContext, spare: WaitingBytes) {
        state = Mutex(State(context: context, spare: spare))
    }

    /// Takes what is to be hashed, and returns an empty one.
    func exchange(_ full: WaitingBytes) throws(CryptographyFailure) -> WaitingBytes {
        let (empty, failure) = state.withLock { state in
            state.hash()
            let empty = state.spare
            (state.full, state.spare) = (full, nil)
            return (empty ?? WaitingBytes(capacity: full.capacity), state.failure)
        }
        if let failure { throw failure }
        queue.async { self.state.withLock { $0.hash() } }
        return empty
    }

    /// Until it is given more, nobody uses the digest afterwards but the caller.
    func hashWaiting() throws(CryptographyFailure) {
        let failure = state.withLock { state in
            state.hash()
            return state.failure
        }
        if let failure { throw failure }
    }
}

/// Values of a database that wait to be hashed.
// @unchecked: it goes from one thread to the other under the lock of a `SideDigest`.
@safe
private final class WaitingBytes: @unchecked Sendable {
    private let bytes: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    var capacity: Int { unsafe bytes.count }

    init(capacity: Int) {
        unsafe bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
    }

    deinit {
        unsafe OPENSSL_cleanse(bytes.baseAddress, bytes.count)
        unsafe bytes.deallocate()
    }

    func append(_ added: Span<UInt8>) {
        unsafe added.withUnsafeBytes { added in
            guard let start = added.baseAddress else { return }
            precondition(added.count <= capacity - count)
            unsafe bytes.baseAddress?.advanced(by: count).copyMemory(from: start, byteCount: added.count)
            count += added.count
        }
    }

    func removeAll() { count = 0 }

    /// Hands over what it has, and is empty afterwards.
    func take<Failure: Error>(_ body: (RawSpan) throws(Failure) -> Void) throws(Failure) {
        let all = unsafe UnsafeRawBufferPointer(rebasing: bytes[..<count])
        count = 0
        try unsafe body(RawSpan(_unsafeBytes: all))
    }
}

/// The state of libcrypto.
// @unchecked: a `SideDigest` lets one thread at a time use it; without one, its owner is used by one thread.
@safe
private final class DigestContext: @unchecked Sendable {
    private let context: OpaquePointer?

    init() throws(CryptographyFailure) {
        unsafe context = EVP_MD_CTX_new()
        guard unsafe EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
            throw CryptographyFailure(function: "EVP_DigestInit_ex")
        }
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    func add(_ bytes: RawSpan) throws(CryptographyFailure) {
        let isAdded = unsafe bytes.withUnsafeBytes {
            unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) == 1
        }
        guard isAdded else { throw CryptographyFailure(function: "EVP_DigestUpdate") }
    }

    /// Adds what waits, which is empty afterwards.
    func add(_ waiting: WaitingBytes) throws(CryptographyFailure) {
        try waiting.take { (bytes) throws(CryptographyFailure) in try add(bytes) }
    }

    func restart() throws(CryptographyFailure) {
        guard unsafe EVP_DigestInit_ex(context, nil, nil) == 1 else {
            throw CryptographyFailure(function: "EVP_DigestInit_ex")
        }
    }

    func finish() throws(CryptographyFailure) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: 32)
        guard unsafe EVP_DigestFinal_ex(context, &result, nil) == 1 else {
            throw CryptographyFailure(function: "EVP_DigestFinal_ex")
        }
        return result
    }
}
