// Methods that keep the beginning or the end of a cursor. The methods that need the end read the whole
// cursor, so they can throw, and return arrays.

extension Cursor {
    /// Returns a cursor that skips elements while the predicate holds, and produces all the others.
    ///
    ///     let others = try Array(Item.fetchCursor(db).drop { $0.name == "ring" })
    @inlinable
    public func drop(while predicate: @escaping (Element) throws -> Bool) -> DropWhileCursor<Self> {
        DropWhileCursor(self, predicate)
    }

    /// Returns a cursor that skips the first element.
    ///
    ///     let others = try Array(Item.fetchCursor(db).dropFirst())
    @inlinable
    public func dropFirst() -> DropFirstCursor<Self> {
        DropFirstCursor(self, 1)
    }

    /// Returns a cursor that skips the first `n` elements.
    ///
    /// - Precondition: `n` is not negative.
    @inlinable
    public func dropFirst(_ n: Int) -> DropFirstCursor<Self> {
        DropFirstCursor(self, n)
    }

    /// Returns a cursor that ends after `maxLength` elements, and never requests more than that from this
    /// cursor.
    ///
    ///     let two = try Array(Item.fetchCursor(db).prefix(2))  // does not read a third row
    ///
    /// - Precondition: `maxLength` is not negative.
    @inlinable
    public func prefix(_ maxLength: Int) -> PrefixCursor<Self> {
        PrefixCursor(self, maxLength)
    }

    /// Returns a cursor that ends before the first element that does not satisfy the predicate.
    @inlinable
    public func prefix(while predicate: @escaping (Element) throws -> Bool) -> PrefixWhileCursor<Self> {
        PrefixWhileCursor(self, predicate)
    }

    /// Returns the remaining elements without the last one.
    ///
    ///     let others = try Item.fetchCursor(db).dropLast()
    ///
    /// - Throws: the error of the cursor.
    @inlinable
    public func dropLast() throws -> [Element] {
        try dropLast(1)
    }

    /// Returns the remaining elements without the last `n`.
    ///
    /// - Throws: the error of the cursor.
    /// - Precondition: `n` is not negative.
    @inlinable
    public func dropLast(_ n: Int) throws -> [Element] {
        guard n >= 0 else { fatalError("The number of elements to drop must not be negative: \(n)") }
        var elements = try Array(self)
        elements.removeLast(Swift.min(n, elements.count))
        return elements
    }

    /// Returns the last `maxLength` elements, or all of them if there are fewer.
    ///
    /// At most `maxLength` elements are in memory at a time.
    ///
    ///     let newest = try Item.fetchCursor(db).suffix(2)
    ///
    /// - Throws: the error of the cursor.
    /// - Precondition: `maxLength` is not negative.
    @inlinable
    public func suffix(_ maxLength: Int) throws -> [Element] {
        guard maxLength >= 0 else {
            fatalError("The number of elements to take must not be negative: \(maxLength)")
        }
        // The oldest element is at `oldest` once the buffer is full.
        var buffer: [Element] = []
        var oldest = 0
        while let element = try next() {
            if buffer.count < maxLength {
                buffer.append(element)
            } else if maxLength > 0 {
                buffer[oldest] = element
                oldest = (oldest + 1) % maxLength
            }
        }
        return Array(buffer[oldest...] + buffer[..<oldest])
    }
}
