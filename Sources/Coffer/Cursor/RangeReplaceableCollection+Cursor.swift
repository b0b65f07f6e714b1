extension RangeReplaceableCollection {
    /// Creates a collection, such as an array, of the remaining elements of a cursor.
    ///
    /// Do not use it with a cursor of ``Row``, which returns the same row object each time: use
    /// `Row.fetchAll`.
    ///
    ///     let items = try Array(Item.fetchCursor(db))
    ///
    /// - Throws: the error of the cursor.
    @inlinable
    public init(_ cursor: some Cursor<Element>) throws {
        self.init()
        try append(contentsOf: cursor)
    }

    /// Creates a collection of the remaining elements of a cursor, with a reserved capacity.
    ///
    /// - Parameter minimumCapacity: the number of elements to reserve space for.
    /// - Throws: the error of the cursor.
    @inlinable
    public init(_ cursor: some Cursor<Element>, minimumCapacity: Int) throws {
        self.init()
        reserveCapacity(minimumCapacity)
        try append(contentsOf: cursor)
    }

    /// Appends the remaining elements of a cursor.
    ///
    /// If the cursor throws an error, the elements before it remain in the collection.
    ///
    ///     var names = ["lantern"]
    ///     try names.append(contentsOf: String.fetchCursor(db, Item.select(\.name)))
    @inlinable
    public mutating func append(contentsOf newElements: some Cursor<Element>) throws {
        try newElements.forEach { append($0) }
    }
}
