internal import Glibc

/// Where the memory of secrets comes from and goes to.
///
/// Tests put their own allocator in ``current`` for the duration of a task, to look at the memory after the end of a secret's life.
@safe
package struct SecretAllocator: Sendable {
    /// Returns writable memory of at least one byte.
    package var allocate: @Sendable (_ count: Int) -> UnsafeMutableRawPointer

    /// Takes back memory that was wiped.
    package var release: @Sendable (_ memory: UnsafeMutableRawPointer, _ count: Int) -> Void

    package init(
        allocate: @escaping @Sendable (_ count: Int) -> UnsafeMutableRawPointer,
        release: @escaping @Sendable (_ memory: UnsafeMutableRawPointer, _ count: Int) -> Void
    ) {
        unsafe self.allocate = allocate
        unsafe self.release = release
    }

    @TaskLocal package static var current = SecretAllocator.pages

    /// Own pages for each secret: locked into memory as far as `RLIMIT_MEMLOCK` allows, and left out of core dumps.
    ///
    /// Nothing else ever lives on these pages, so that unlocking one secret never unlocks another.
    package static let pages = unsafe SecretAllocator(
        allocate: { count in
            let failed = unsafe UnsafeMutableRawPointer(bitPattern: -1)
            let memory = unsafe mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            guard let memory = unsafe memory, unsafe memory != failed else {
                fatalError("Out of memory: cannot map \(count) bytes for a secret")
            }
            // Both are best effort: a low limit or an old kernel must not prevent work.
            _ = unsafe mlock(memory, count)
            _ = unsafe madvise(memory, count, MADV_DONTDUMP)
            return unsafe memory
        },
        release: { memory, count in
            _ = unsafe munmap(memory, count)
        })
}
