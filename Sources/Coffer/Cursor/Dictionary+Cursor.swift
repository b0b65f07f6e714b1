extension Dictionary {
    /// Creates a dictionary that groups the remaining elements of a cursor by a key, in their order.
    ///
    ///     let byOwner = try Dictionary(grouping: Item.fetchCursor(db), by: { $0.ownerId })
    ///
    /// - Parameter keyForValue: returns the key of an element.
    /// - Throws: the error of the cursor or of the closure.
    @inlinable
    public init<C: Cursor>(
        grouping cursor: C,
        by keyForValue: (C.Element) throws -> Key
    ) throws where Value == [C.Element] {
        try self.init(minimumCapacity: 0, grouping: cursor, by: keyForValue)
    }

    /// Creates a dictionary that groups the remaining elements of a cursor by a key, with a reserved
    /// capacity. See `init(grouping:by:)`.
    ///
    /// - Parameters:
    ///   - minimumCapacity: the number of keys to reserve space for.
    ///   - keyForValue: returns the key of an element.
    /// - Throws: the error of the cursor or of the closure.
    @inlinable
    public init<C: Cursor>(
        minimumCapacity: Int,
        grouping cursor: C,
        by keyForValue: (C.Element) throws -> Key
    ) throws where Value == [C.Element] {
        self.init(minimumCapacity: minimumCapacity)
        try cursor.forEach { element in
            try self[keyForValue(element), default: []].append(element)
        }
    }

    /// Creates a dictionary of the keys and values that a cursor produces.
    ///
    ///     let names = try Dictionary(uniqueKeysWithValues: Item.fetchCursor(db).map { ($0.id, $0.name) })
    ///
    /// - Throws: the error of the cursor.
    /// - Precondition: the keys are unique. For rows that may have the same key, use `init(grouping:by:)` or
    ///   `reduce(into:_:)`.
    @inlinable
    public init(uniqueKeysWithValues keysAndValues: some Cursor<(Key, Value)>) throws {
        try self.init(minimumCapacity: 0, uniqueKeysWithValues: keysAndValues)
    }

    /// Creates a dictionary of keys and values, with a reserved capacity. The keys must be unique.
    ///
    /// - Parameter minimumCapacity: the number of keys to reserve space for.
    /// - Throws: the error of the cursor.
    @inlinable
    public init(minimumCapacity: Int, uniqueKeysWithValues keysAndValues: some Cursor<(Key, Value)>) throws {
        self.init(minimumCapacity: minimumCapacity)
        try keysAndValues.forEach { key, value in
            // The key is not printed, as it may be confidential.
            guard updateValue(value, forKey: key) == nil else {
                fatalError("The cursor produced a duplicate key")
            }
        }
    }
}
