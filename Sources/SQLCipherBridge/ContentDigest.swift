internal import CSQLCipher
internal import Dispatch
internal import Synchronization

/// An incremental SHA-256 digest.
package final class ContentDigest {
    private let context: DigestContext
    private let side: SideDigest?
    /// Bytes that are collected for the next call of libcrypto, because a call costs more than hashing a
    /// small value.
    private var waiting: WaitingBytes

    /// - Parameter isBeside: true to compute the digest on another thread while the caller continues.
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

    /// Restarts the digest without any bytes.
    package func restart() throws(CryptographyFailure) {
        try side?.hashWaiting()
        waiting.removeAll()
        try context.restart()
    }

    /// Returns the digest of all bytes. No more bytes can be added before ``restart()``.
    package func finish() throws(CryptographyFailure) -> [UInt8] {
        try side?.hashWaiting()
        try context.add(waiting)
        return try context.finish()
    }
}

/// Hashes bytes on another thread while the caller collects more.
///
/// It does not depend on that thread: if a part is not hashed when the caller provides the next one, the
/// caller hashes it.
private final class SideDigest: Sendable {
    private struct State {
        let context: DigestContext
        /// The part to hash next.
        var full: WaitingBytes?
        /// The empty buffer that the caller gets in exchange.
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

    // Hashing is done under the lock, so the next holder finds all earlier parts in the digest.
    private let state: Mutex<State>
    private let queue = DispatchQueue(label: "Coffer.SideDigest")

    init(_ context: DigestContext, spare: WaitingBytes) {
        state = Mutex(State(context: context, spare: spare))
    }

    /// Takes a part to hash, and returns an empty buffer.
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

    /// Hashes the pending part. Afterwards, only the caller uses the digest until it provides another part.
    func hashWaiting() throws(CryptographyFailure) {
        let failure = state.withLock { state in
            state.hash()
            return state.failure
        }
        if let failure { throw failure }
    }
}

/// Database values to be hashed.
// @unchecked: the buffer moves between threads under the lock of a `SideDigest`.
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

    /// Passes the bytes to `body`, and empties the buffer.
    func take<Failure: Error>(_ body: (RawSpan) throws(Failure) -> Void) throws(Failure) {
        let all = unsafe UnsafeRawBufferPointer(rebasing: bytes[..<count])
        count = 0
        try unsafe body(RawSpan(_unsafeBytes: all))
    }
}

/// The digest state in libcrypto.
// @unchecked: a `SideDigest` lets one thread at a time use it. Without one, only the owner's thread uses it.
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

    /// Adds the bytes of a buffer, and empties it.
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
