internal import CSQLCipher

/// Where a statement keeps short texts that are bound to it, so that SQLite needs no allocation for a copy of
/// each.
///
/// What is bound stays in place until ``begin()``. Whoever calls that has to bind or clear all parameters
/// before the statement runs or is asked for its values, because SQLite goes on pointing to the old ones. The
/// owner finalizes the statement before the buffer ends.
///
/// A class, because each call on a value in a property of another class would cost a check of exclusive
/// access.
@safe
package final class BindingBuffer {
    /// What a statement may keep. A cache of hundreds of statements stays small, and longer texts are not
    /// copied twice for long.
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
        // Without a copy of the string, which native strings do not need.
        if let code = unsafe text.utf8.withContiguousStorageIfAvailable({
            unsafe bind($0, to: statement, at: index)
        }) {
            return code
        }
        var text = text
        return text.withUTF8 { unsafe bind($0, to: statement, at: index) }
    }

    private func bind(_ source: UnsafeBufferPointer<UInt8>, to statement: StatementHandle, at index: CInt)
        -> CInt
    {
        wanted += source.count
        guard let room = unsafe bytes, let start = room.baseAddress, let text = source.baseAddress,
            source.count > 0,
            source.count <= room.count - used
        else {
            return unsafe statement.bind(text: UnsafeRawBufferPointer(source), at: index)
        }
        let place = unsafe start + used
        unsafe place.copyMemory(from: text, byteCount: source.count)
        used += source.count
        return unsafe coffer_bind_text_static(
            statement.pointer, index, place.assumingMemoryBound(to: CChar.self), UInt64(source.count))
    }
}
