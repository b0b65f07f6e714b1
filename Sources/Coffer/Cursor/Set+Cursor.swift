extension Set {
    /// Creates a set of the remaining elements of a cursor.
    ///
    /// Do not use it with a cursor of ``Row``, which returns the same row again and again: see `Row.fetchSet`.
    @inlinable
    public init(_ cursor: some Cursor<Element>) throws {
        self.init()
        try formUnion(cursor)
    }

    /// Creates a set of the remaining elements of a cursor, with room for `minimumCapacity` of them.
    @inlinable
    public init(_ cursor: some Cursor<Element>, minimumCapacity: Int) throws {
        self.init(minimumCapacity: minimumCapacity)
        try formUnion(cursor)
    }

    /// Returns a set of the elements of this set and of the cursor.
    @inlinable
    public func union(_ cursor: some Cursor<Element>) throws -> Set<Element> {
        var result = self
        try result.formUnion(cursor)
        return result
    }

    /// Inserts the remaining elements of a cursor.
    ///
    /// If the cursor throws an error, the elements that came before it stay in the set.
    @inlinable
    public mutating func formUnion(_ cursor: some Cursor<Element>) throws {
        try cursor.forEach { insert($0) }
    }

    /// Returns a set of the elements that are in this set and in the cursor.
    @inlinable
    public func intersection(_ cursor: some Cursor<Element>) throws -> Set<Element> {
        var result: Set<Element> = []
        try cursor.forEach { element in
            // The set's own element is kept, as Swift's `intersection` does.
            if let index = firstIndex(of: element) { result.insert(self[index]) }
        }
        return result
    }

    /// Removes the elements that are not in the cursor.
    ///
    /// If the cursor throws an error, the set is not changed.
    @inlinable
    public mutating func formIntersection(_ cursor: some Cursor<Element>) throws {
        self = try intersection(cursor)
    }
}
