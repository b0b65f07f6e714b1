extension Set {
    /// Creates a set of the remaining elements of a cursor.
    ///
    /// Do not use it with a cursor of ``Row``, which returns the same row object each time: use
    /// `Row.fetchSet`.
    ///
    ///     let names = try Set(String.fetchCursor(db, Item.select(\.name)))
    ///
    /// - Throws: the error of the cursor.
    @inlinable
    public init(_ cursor: some Cursor<Element>) throws {
        self.init()
        try formUnion(cursor)
    }

    /// Creates a set of the remaining elements of a cursor, with a reserved capacity.
    ///
    /// - Parameter minimumCapacity: the number of elements to reserve space for.
    /// - Throws: the error of the cursor.
    @inlinable
    public init(_ cursor: some Cursor<Element>, minimumCapacity: Int) throws {
        self.init(minimumCapacity: minimumCapacity)
        try formUnion(cursor)
    }

    /// Returns a set of the elements of this set and of the cursor.
    ///
    ///     let all = try wanted.union(String.fetchCursor(db, Item.select(\.name)))
    ///
    /// - Throws: the error of the cursor.
    @inlinable
    public func union(_ cursor: some Cursor<Element>) throws -> Set<Element> {
        var result = self
        try result.formUnion(cursor)
        return result
    }

    /// Inserts the remaining elements of a cursor.
    ///
    /// If the cursor throws an error, the elements before it remain in the set.
    ///
    ///     var all = wanted
    ///     try all.formUnion(String.fetchCursor(db, Item.select(\.name)))
    @inlinable
    public mutating func formUnion(_ cursor: some Cursor<Element>) throws {
        try cursor.forEach { insert($0) }
    }

    /// Returns a set of the elements that are in this set and in the cursor.
    ///
    ///     let there = try wanted.intersection(String.fetchCursor(db, Item.select(\.name)))
    ///
    /// - Throws: the error of the cursor.
    @inlinable
    public func intersection(_ cursor: some Cursor<Element>) throws -> Set<Element> {
        var result: Set<Element> = []
        try cursor.forEach { element in
            // The set's own element is kept, as in Swift's `intersection`.
            if let index = firstIndex(of: element) { result.insert(self[index]) }
        }
        return result
    }

    /// Removes the elements that are not in the cursor.
    ///
    /// If the cursor throws an error, the set is not changed.
    ///
    ///     var there = wanted
    ///     try there.formIntersection(String.fetchCursor(db, Item.select(\.name)))
    @inlinable
    public mutating func formIntersection(_ cursor: some Cursor<Element>) throws {
        self = try intersection(cursor)
    }
}
