internal import CSQLCipher

/// Where the records of several rows are kept while one statement inserts them, so that SQLite needs no copy
/// of each text.
///
/// What is bound stays in place until ``begin()``. Whoever calls that binds all parameters of a statement
/// before it runs again, because SQLite goes on pointing to the old bytes.
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

    /// Makes room for other records.
    package func begin() { used = 0 }

    /// Copies a record.
    ///
    /// - Returns: its place; nil where there is no room for it.
    package func keep(_ record: Span<UInt8>) -> Int? {
        guard unsafe record.count <= bytes.count - used else { return nil }
        let place = used
        unsafe record.withUnsafeBytes { record in
            unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[place...]).copyMemory(from: record)
        }
        used += record.count
        return place
    }

    /// Binds kept bytes as a text of the encoding of the database.
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
