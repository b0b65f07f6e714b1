internal import CPageProvider
internal import CSQLCipher
internal import Glibc

/// What does the cryptographic work of the engine's connections: the engine itself, or a provider of ours
/// that keeps what it makes for each page.
package enum PageProvider: Sendable {
    /// Why connections are left to the engine's own provider.
    package enum Reason: Sendable, Hashable {
        /// The environment variable `COFFER_PAGE_PROVIDER` says `engine`.
        case notWanted
        /// The engine does not export the functions that it takes.
        case hidden
        /// The layout of this version of the engine was not verified.
        case unknownVersion
        /// The program has registered a provider of its own.
        case foreign
        /// Its answers were not those of the engine's own provider.
        case wrongAnswers
        case noMemory
    }

    /// Connections that ask for it use the provider of ours.
    case kept

    /// All connections use the engine's own provider.
    case engine(Reason)

    /// Whether the layout of the engine's provider is known for a version, as `PRAGMA cipher_version` gives
    /// it.
    package static func knowsLayout(ofCipher version: String) -> Bool {
        unsafe page_provider_knows(version) != 0
    }

    /// Registers the provider. Call it once, when a connection of this process has a key, which must stay
    /// open from then on if it returns `kept`.
    ///
    /// - Parameter name: what the environment variable says. It can only lower what is used: any name keeps
    ///   the engine's own provider.
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
    /// The memory that the provider and its memos have for keys, in bytes: what is locked, and what the
    /// system has refused to lock.
    package static var memoryUse: (locked: Int, unlocked: Int) {
        var (locked, unlocked) = (0, 0)
        unsafe page_memory_use(&locked, &unlocked)
        return (locked, unlocked)
    }
}

/// Who does the cryptographic work of one connection.
package enum PageWork: Sendable {
    /// The engine's own provider: what proves the work of others has no part in it.
    case engine

    /// The provider of ours where it is installed, and the memo of a queue or pool.
    case kept(PageMemo?)

    /// Runs what gives a connection its key.
    func whileKeying(_ body: () -> CInt) -> CInt {
        guard case .kept(let memo) = self else { return body() }
        return withExtendedLifetime(memo) {
            unsafe page_provider_begin(memo?.pointer)
            defer { page_provider_end() }
            return body()
        }
    }
}

/// The pages that the connections of one queue or pool have authenticated or sealed: their bytes are
/// recognised without hashing them again.
///
/// What it keeps of a state of a page are 32 bytes that nobody can predict who does not know random keys,
/// which are never shown; see the Security article.
package final class PageMemo: Sendable {
    /// The address of a `page_memo`, which any thread may use. Connections have references of their own.
    private let address: UInt

    fileprivate var pointer: OpaquePointer? { unsafe OpaquePointer(bitPattern: address) }

    /// - Parameters:
    ///   - size: how many bytes its table takes at most, rounded down to a power of two; 32 for each state of
    ///     a page.
    ///   - pageSize: how large pages are.
    /// - Returns: nil without memory or randomness, and for 0 bytes: pages are hashed each time then.
    package init?(size: Int, pageSize: Int) {
        guard size > 0, (512...65536).contains(pageSize), let memo = unsafe page_memo_make(size, pageSize)
        else { return nil }
        address = UInt(bitPattern: memo)
    }

    // Connections that still have it go on, with nothing known.
    deinit {
        unsafe page_memo_close(pointer)
        unsafe page_memo_release(pointer)
    }

    /// Forgets all pages, and gives the memory back.
    package func forgetAll() { unsafe page_memo_forget_all(pointer) }

    /// Forgets all pages, and notes none from now on.
    package func close() { unsafe page_memo_close(pointer) }

    /// How often a page was recognised.
    package var hits: UInt64 { unsafe page_memo_hits(pointer) }

    /// How many states of pages are known.
    package var count: Int { unsafe page_memo_count(pointer) }

    /// How many bytes a tag has.
    package static let tagSize = Int(page_memo_tag_size)

    /// Whether a tag was noted for a page.
    package func knows(_ tag: [UInt8], number: UInt32) -> Bool {
        precondition(tag.count == PageMemo.tagSize)
        return unsafe page_memo_knows(pointer, number, tag) != 0
    }

    /// Notes a tag for a page, as the provider does.
    package func note(_ tag: [UInt8], number: UInt32) {
        precondition(tag.count == PageMemo.tagSize)
        unsafe page_memo_note(pointer, number, tag)
    }
}
