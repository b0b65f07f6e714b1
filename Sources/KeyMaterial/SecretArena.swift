internal import Glibc
internal import Synchronization

/// The pages that hold the secrets of this process and nothing else. They are locked into memory as far as
/// `RLIMIT_MEMLOCK` allows, and excluded from core dumps.
///
/// Small secrets share pages, because the limit is often 64 kB or 8 MB for the whole process, and the engine
/// and its provider need most of it. A page is unmapped together with its last secret.
package final class SecretArena: Sendable {
    package static let shared = SecretArena()

    /// The memory used by secrets, in bytes of whole pages.
    package struct Use: Sendable, Hashable {
        package var lockedByteCount = 0
        /// Memory that the system refused to lock, and may write to the swap space.
        package var unlockedByteCount = 0
    }

    private let state = Mutex(State())

    /// The memory that is currently in use.
    package var use: Use { state.withLock { $0.use } }

    func allocate(_ count: Int) -> UnsafeMutableRawPointer {
        let address = state.withLock { $0.take(count) }
        guard let memory = unsafe UnsafeMutableRawPointer(bitPattern: address) else {
            fatalError("The system has mapped the address 0")
        }
        return unsafe memory
    }

    /// - Parameters:
    ///   - memory: the result of ``allocate(_:)``, wiped.
    ///   - count: the count that it was allocated with.
    func release(_ memory: UnsafeMutableRawPointer, _ count: Int) {
        let address = UInt(bitPattern: memory)
        state.withLock { $0.giveBack(address, count) }
    }
}

/// The bookkeeping of pages. Addresses are plain numbers here: the memory belongs to the code that allocated
/// it.
private struct State {
    private(set) var use = SecretArena.Use()

    /// The pages by address.
    private var pages: [UInt: Page] = [:]
    /// The addresses of the pages with free blocks, by block size.
    private var open: [Int: [UInt]] = [:]

    private static let pageSize = Int(getpagesize())

    private struct Page {
        /// The size of one page, or of several pages for one large secret.
        let byteCount: Int
        let blockSize: Int
        let isLocked: Bool
        /// The used blocks, one bit for each.
        var taken: UInt64 = 0

        var isFull: Bool { taken == (blockCount == 64 ? .max : 1 << UInt64(blockCount) - 1) }

        private var blockCount: Int { min(64, byteCount / blockSize) }
    }

    /// Returns the block size for secrets of a count; nil for secrets that have pages of their own.
    private static func blockSize(for count: Int) -> Int? {
        var size = 64
        while size < count { size *= 2 }
        return size <= pageSize / 4 ? size : nil
    }

    mutating func take(_ count: Int) -> UInt {
        guard let size = State.blockSize(for: count) else {
            let bytes = (count + State.pageSize - 1) / State.pageSize * State.pageSize
            return map(bytes, blockSize: bytes)
        }
        let address: UInt
        if let known = open[size]?.last {
            address = known
        } else {
            address = map(State.pageSize, blockSize: size)
            open[size, default: []].append(address)
        }
        guard var page = pages[address] else { preconditionFailure("a page with free blocks is not mapped") }
        let index = (~page.taken).trailingZeroBitCount
        page.taken |= 1 << UInt64(index)
        pages[address] = page
        if page.isFull { open[size]?.removeLast() }
        return address + UInt(index * size)
    }

    mutating func giveBack(_ address: UInt, _ count: Int) {
        guard let size = State.blockSize(for: count) else { return unmap(address) }
        let start = address - address % UInt(State.pageSize)
        guard var page = pages[start] else { preconditionFailure("the memory of a secret is not mapped") }
        if page.isFull { open[size, default: []].append(start) }
        page.taken &= ~(1 << UInt64((address - start) / UInt(size)))
        pages[start] = page
        guard page.taken == 0 else { return }
        open[size]?.removeAll { $0 == start }
        unmap(start)
    }

    private mutating func map(_ byteCount: Int, blockSize: Int) -> UInt {
        let failed = unsafe UnsafeMutableRawPointer(bitPattern: -1)
        let memory = unsafe mmap(
            nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let memory = unsafe memory, unsafe memory != failed else {
            fatalError("Out of memory: cannot map \(byteCount) bytes for a secret")
        }
        // Both are best effort: a low limit or an old kernel must not cause a failure.
        let isLocked = unsafe mlock(memory, byteCount) == 0
        _ = unsafe madvise(memory, byteCount, MADV_DONTDUMP)
        let address = UInt(bitPattern: memory)
        pages[address] = Page(byteCount: byteCount, blockSize: blockSize, isLocked: isLocked)
        count(byteCount, isLocked)
        return address
    }

    private mutating func unmap(_ address: UInt) {
        guard let page = pages.removeValue(forKey: address) else {
            preconditionFailure("the memory of a secret is not mapped")
        }
        count(-page.byteCount, page.isLocked)
        _ = unsafe munmap(UnsafeMutableRawPointer(bitPattern: address), page.byteCount)
    }

    private mutating func count(_ byteCount: Int, _ isLocked: Bool) {
        if isLocked { use.lockedByteCount += byteCount } else { use.unlockedByteCount += byteCount }
    }
}
