internal import CPageProvider
internal import Glibc

/// The implementation of the cryptographic work for SQLCipher's connections: SQLCipher's own provider, or
/// Coffer's, which keeps its contexts for all pages.
package enum PageProvider: Sendable {
    /// The reason why all connections use SQLCipher's own provider.
    package enum Reason: Sendable, Hashable {
        /// The environment variable `COFFER_PAGE_PROVIDER` disables Coffer's provider.
        case notWanted
        /// The engine does not export the functions that Coffer's provider needs.
        case hidden
        /// The structures of this SQLCipher version were not verified.
        case unknownVersion
        /// The program has registered its own provider.
        case foreign
        /// The results of Coffer's provider differed from those by SQLCipher's own.
        case wrongAnswers
        case noMemory
    }

    /// Connections that request it use Coffer's provider.
    case kept

    /// All connections use SQLCipher's own provider.
    case engine(Reason)

    /// Returns true if the structures of SQLCipher's provider are known for a version, as returned by `PRAGMA
    /// cipher_version`.
    package static func knowsLayout(ofCipher version: String) -> Bool {
        unsafe page_provider_knows(version) != 0
    }

    /// Registers Coffer's provider. Call it once, while a connection of this process has a key. If it returns
    /// `kept`, that connection must stay open.
    ///
    /// - Parameter name: the value of the environment variable. It can only restrict the choice: any value
    ///   selects SQLCipher's own provider.
    static func install(cipherVersion: String, allowed name: String?) -> PageProvider {
        guard name == nil else { return .engine(.notWanted) }
        switch unsafe page_provider_install(cipherVersion) {
        case page_provider_installed: return .kept
        case page_provider_hidden: return .engine(.hidden)
        case page_provider_unknown: return .engine(.unknownVersion)
        case page_provider_foreign: return .engine(.foreign)
        case page_provider_wrong: return .engine(.wrongAnswers)
        default: return .engine(.noMemory)
        }
    }
}

extension PageProvider {
    /// The memory of the provider and its memos for keys, in bytes: the locked part, and the part that the
    /// system has refused to lock.
    package static var memoryUse: (locked: Int, unlocked: Int) {
        var (locked, unlocked) = (0, 0)
        unsafe page_memory_use(&locked, &unlocked)
        return (locked, unlocked)
    }
}

/// The implementation of the cryptographic work for one connection.
package enum PageWork: Sendable {
    /// SQLCipher's own provider, for verification that is independent of other implementations.
    case engine

    /// Coffer's provider, if it is installed, with the memo of a queue or pool.
    case kept(PageMemo?)

    /// Runs a function that sets the key of a connection.
    func whileKeying(_ body: () -> CInt) -> CInt {
        guard case .kept(let memo) = self else { return body() }
        return withExtendedLifetime(memo) {
            unsafe page_provider_begin(memo?.pointer)
            defer { page_provider_end() }
            return body()
        }
    }
}

/// The pages that the connections of a queue or pool have authenticated or sealed. Their bytes are recognized
/// without hashing them again.
///
/// For each state of a page, it stores 32 bytes that cannot be predicted without random keys, which are never
/// exposed; see the Security article.
package final class PageMemo: Sendable {
    /// The address of a `page_memo`, which any thread may use. Connections hold their own references.
    private let address: UInt

    fileprivate var pointer: OpaquePointer? { unsafe OpaquePointer(bitPattern: address) }

    /// - Parameters:
    ///   - size: the maximum size of its table in bytes, rounded down to a power of two. Each state of a page
    ///     takes 32 bytes.
    ///   - pageSize: the page size in bytes.
    /// - Returns: nil if memory or randomness is unavailable, or if the size is 0. Pages are then hashed each
    ///   time.
    package init?(size: Int, pageSize: Int) {
        guard size > 0, (512...65536).contains(pageSize), let memo = unsafe page_memo_make(size, pageSize)
        else { return nil }
        address = UInt(bitPattern: memo)
    }

    // Connections that still use the memo continue with an empty one.
    deinit {
        unsafe page_memo_close(pointer)
        unsafe page_memo_release(pointer)
    }

    /// Forgets all pages, and frees their memory.
    package func forgetAll() { unsafe page_memo_forget_all(pointer) }

    /// Forgets all pages, and records no others.
    package func close() { unsafe page_memo_close(pointer) }

    /// The number of times that a page was recognized.
    package var hits: UInt64 { unsafe page_memo_hits(pointer) }

    /// The number of known states of pages.
    package var count: Int { unsafe page_memo_count(pointer) }

    /// The size of a tag, in bytes.
    package static let tagSize = Int(page_memo_tag_size)

    /// Returns true if a tag was recorded for a page.
    package func knows(_ tag: [UInt8], number: UInt32) -> Bool {
        precondition(tag.count == PageMemo.tagSize)
        return unsafe page_memo_knows(pointer, number, tag) != 0
    }

    /// Records a tag for a page, as the provider does.
    package func note(_ tag: [UInt8], number: UInt32) {
        precondition(tag.count == PageMemo.tagSize)
        unsafe page_memo_note(pointer, number, tag)
    }
}
