internal import CSQLCipher

/// A buffer for short texts that are bound to a statement, so that SQLite need not allocate a copy of each.
///
/// Bound texts stay in place until ``begin()``. After `begin()`, the caller must bind or clear all parameters
/// before the statement runs or its values are read, because SQLite still points to the old texts. The owner
/// must finalize the statement before it releases the buffer.
///
/// It is a class because each call on a value in a property of another class would cost an exclusivity check.
@safe
package final class BindingBuffer {
    /// The maximum size of a buffer. It keeps a cache of hundreds of statements small. Longer texts would not
    /// stay copied for long anyway.
    private static let maximumCapacity = 4096

    private var bytes: UnsafeMutableRawBufferPointer?
    private var used = 0

    /// The number of bytes that all texts since the last ``begin()`` needed.
    private var wanted = 0

    package init() {}

    deinit {
        unsafe bytes?.deallocate()
    }

    /// Discards the texts, and makes room for others.
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

    /// Binds a text, which may contain NUL characters.
    package func bind(_ text: String, to statement: StatementHandle, at index: CInt) -> CInt {
        // Avoid copying native strings.
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
