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
        let size = BlockSize(count)
        let address = state.withLock { $0.take(size) } ?? allocateInNewPage(size)
        guard let memory = unsafe UnsafeMutableRawPointer(bitPattern: address) else {
            fatalError("The system has mapped the address 0")
        }
        return unsafe memory
    }

    /// Maps a page outside the lock, and takes a block of it. Threads that map, lock and unmap memory wait
    /// for each other in the system; those that find a free block must not wait for them.
    ///
    /// At the limit of locked memory, a page that another thread is about to unmap still counts.
    private func allocateInNewPage(_ size: BlockSize) -> UInt {
        let mapping = Mapping(byteCount: size.pageByteCount)
        let (address, isUsed) = state.withLock { state in
            // Another thread may have mapped a page in the meantime.
            if let address = state.take(size) { return (address, false) }
            return (state.take(size, in: mapping), true)
        }
        if !isUsed { mapping.unmap() }
        return address
    }

    /// - Parameters:
    ///   - memory: the result of ``allocate(_:)``, wiped.
    ///   - count: the count that it was allocated with.
    func release(_ memory: UnsafeMutableRawPointer, _ count: Int) {
        let address = UInt(bitPattern: memory)
        let unused = state.withLock { $0.giveBack(address, BlockSize(count)) }
        unused?.unmap()
    }
}

/// The size of the blocks that secrets of a count get: a power of two, or whole pages for large secrets.
private struct BlockSize: Hashable {
    static let pageSize = Int(getpagesize())

    let byteCount: Int

    init(_ count: Int) {
        var size = 64
        while size < count { size *= 2 }
        byteCount =
            size <= Self.pageSize / 4 ? size : (count + Self.pageSize - 1) / Self.pageSize * Self.pageSize
    }

    /// The size of the pages that consist of such blocks: of one page, or of several ones for one block.
    var pageByteCount: Int { max(byteCount, Self.pageSize) }
}

/// Memory of the system, in whole pages. The address is a plain number: the memory belongs to the code that
/// allocated it.
private struct Mapping {
    let address: UInt
    let byteCount: Int
    let isLocked: Bool

    init(byteCount: Int) {
        let failed = unsafe UnsafeMutableRawPointer(bitPattern: -1)
        let memory = unsafe mmap(
            nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let memory = unsafe memory, unsafe memory != failed else {
            fatalError("Out of memory: cannot map \(byteCount) bytes for a secret")
        }
        // Both are best effort: a low limit or an old kernel must not cause a failure.
        isLocked = unsafe mlock(memory, byteCount) == 0
        _ = unsafe madvise(memory, byteCount, MADV_DONTDUMP)
        address = UInt(bitPattern: memory)
        self.byteCount = byteCount
    }

    func unmap() { _ = unsafe munmap(UnsafeMutableRawPointer(bitPattern: address), byteCount) }
}

/// The bookkeeping of pages and their blocks. It makes no system call.
private struct State {
    private(set) var use = SecretArena.Use()

    /// The pages by address.
    private var pages: [UInt: Page] = [:]
    /// The addresses of the pages with free blocks.
    private var open: [BlockSize: [UInt]] = [:]

    private struct Page {
        let mapping: Mapping
        let blockSize: BlockSize
        /// The used blocks, one bit for each.
        var taken: UInt64 = 0

        var isFull: Bool { taken == (blockCount == 64 ? .max : 1 << UInt64(blockCount) - 1) }

        private var blockCount: Int { min(64, mapping.byteCount / blockSize.byteCount) }
    }

    /// Takes a block of a page that is mapped, and returns its address; nil if there is no free one.
    mutating func take(_ size: BlockSize) -> UInt? {
        guard let start = open[size]?.last else { return nil }
        return takeBlock(of: start)
    }

    /// Takes a block of a new page, and returns its address.
    mutating func take(_ size: BlockSize, in mapping: Mapping) -> UInt {
        pages[mapping.address] = Page(mapping: mapping, blockSize: size)
        open[size, default: []].append(mapping.address)
        count(mapping, 1)
        return takeBlock(of: mapping.address)
    }

    /// - Parameter start: the address of the last one of the pages with free blocks of its size.
    private mutating func takeBlock(of start: UInt) -> UInt {
        guard var page = pages[start] else { preconditionFailure("a page with free blocks is not mapped") }
        let index = (~page.taken).trailingZeroBitCount
        page.taken |= 1 << UInt64(index)
        pages[start] = page
        if page.isFull { open[page.blockSize]?.removeLast() }
        return start + UInt(index * page.blockSize.byteCount)
    }

    /// Returns the page of the block if it was the last one in use. The caller unmaps it.
    mutating func giveBack(_ address: UInt, _ size: BlockSize) -> Mapping? {
        let start = address - address % UInt(BlockSize.pageSize)
        guard var page = pages[start] else { preconditionFailure("the memory of a secret is not mapped") }
        if page.isFull { open[size, default: []].append(start) }
        page.taken &= ~(1 << UInt64((address - start) / UInt(size.byteCount)))
        pages[start] = page
        guard page.taken == 0 else { return nil }
        open[size]?.removeAll { $0 == start }
        pages[start] = nil
        count(page.mapping, -1)
        return page.mapping
    }

    private mutating func count(_ mapping: Mapping, _ sign: Int) {
        if mapping.isLocked {
            use.lockedByteCount += sign * mapping.byteCount
        } else {
            use.unlockedByteCount += sign * mapping.byteCount
        }
    }
}
