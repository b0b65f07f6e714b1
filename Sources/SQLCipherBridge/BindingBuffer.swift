internal import CSQLCipher

/// Where a statement keeps short texts that are bound to it, so that SQLite needs no allocation for a copy of each.
///
/// What is bound stays in place until ``begin()``. Whoever calls that has to bind or clear all parameters before the statement runs or is
/// asked for its values, because SQLite goes on pointing to the old ones. The owner finalizes the statement before the buffer ends.
///
/// A class, because each call on a value in a property of another class would cost a check of exclusive access.
@safe
package final class BindingBuffer {
    /// What a statement may keep. A cache of hundreds of statements stays small, and longer texts are not copied twice for long.
    private static let maximumCapacity = 4096

    private var bytes: UnsafeMutableRawBufferPointer?
    private var used = 0

    /// How much room the texts since the last ``begin()`` would have needed.
    private var wanted = 0

    package init() {}

    deinit {
        unsafe bytes?.deallocate()
    }

    /// Makes room for other texts.
    package func begin() {
        let capacity = unsafe bytes?.count ?? 0
        if wanted > capacity, capacity < Self.maximumCapacity {
            unsafe bytes?.deallocate()
            let newCapacity = min(max(wanted * 2, 128), Self.maximumCapacity)
            unsafe bytes = .allocate(byteCount: newCapacity, alignment: 1)
        }
        used = 0
        wanted = 0
    }

    /// Binds a text, which may hold NUL characters.
    package func bind(_ text: String, to statement: StatementHandle, at index: CInt) -> CInt {
        var text = text
        let free = unsafe bytes.map { unsafe UnsafeMutableRawBufferPointer(rebasing: $0[used...]) }
        var count = 0
        var isKept = false
        let code: CInt = text.withUTF8 { source in
            count = source.count
            guard let free = unsafe free, let base = free.baseAddress, count > 0, count <= free.count else {
                return unsafe statement.bind(text: UnsafeRawBufferPointer(source), at: index)
            }
            unsafe free.copyMemory(from: UnsafeRawBufferPointer(source))
            isKept = true
            return unsafe coffer_bind_text_static(statement.pointer, index, base.assumingMemoryBound(to: CChar.self), UInt64(count))
        }
        wanted += count
        if isKept { used += count }
        return code
    }
}
