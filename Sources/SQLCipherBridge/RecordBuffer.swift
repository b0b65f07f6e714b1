/// A buffer for the records of several rows that one statement inserts, so that SQLite need not copy each
/// text.
///
/// Bound bytes stay in place until ``begin()``. After `begin()`, the caller must bind all parameters of the
/// statement before it runs again, because SQLite still points to the old bytes.
@safe
package final class RecordBuffer {
    private let bytes: UnsafeMutableRawBufferPointer
    private var used = 0

    package init(capacity: Int) {
        unsafe bytes = .allocate(byteCount: capacity, alignment: 1)
    }

    deinit {
        unsafe bytes.deallocate()
    }

    /// Discards the records.
    package func begin() { used = 0 }

    /// Copies a record into the buffer.
    ///
    /// - Returns: the offset of the record; nil if it does not fit.
    package func keep(_ record: Span<UInt8>) -> Int? {
        guard unsafe record.count <= bytes.count - used else { return nil }
        let place = used
        unsafe record.withUnsafeBytes { record in
            unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[place...]).copyMemory(from: record)
        }
        used += record.count
        return place
    }

    /// Binds bytes in the buffer as a text in the encoding of the database.
    package func bind(
        text place: Range<Int>, encoding: TextEncoding, to statement: StatementHandle, at index: CInt
    ) -> CInt {
        unsafe statement.bind(keptText: kept(place), encoding: encoding, at: index)
    }

    package func bind(blob place: Range<Int>, to statement: StatementHandle, at index: CInt) -> CInt {
        unsafe statement.bind(keptBlob: kept(place), at: index)
    }

    private func kept(_ place: Range<Int>) -> UnsafeRawBufferPointer {
        precondition(place.lowerBound >= 0 && place.upperBound <= used)
        return unsafe UnsafeRawBufferPointer(rebasing: bytes[place])
    }
}
