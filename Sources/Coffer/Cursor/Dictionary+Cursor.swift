extension Dictionary {
    /// Creates a dictionary of arrays: the remaining elements of a cursor, in their order, grouped by a key.
    @inlinable
    public init<C: Cursor>(
        grouping cursor: C,
        by keyForValue: (C.Element) throws -> Key
    ) throws where Value == [C.Element] {
        try self.init(minimumCapacity: 0, grouping: cursor, by: keyForValue)
    }

    /// Creates a dictionary of arrays, with room for `minimumCapacity` keys. See `init(grouping:by:)`.
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
    /// - Precondition: no key comes twice. Where rows may have the same key, use `init(grouping:by:)` or `reduce(into:_:)`.
    @inlinable
    public init(uniqueKeysWithValues keysAndValues: some Cursor<(Key, Value)>) throws {
        try self.init(minimumCapacity: 0, uniqueKeysWithValues: keysAndValues)
    }

    /// Creates a dictionary of keys and values, with room for `minimumCapacity` of them. No key may come twice.
    @inlinable
    public init(minimumCapacity: Int, uniqueKeysWithValues keysAndValues: some Cursor<(Key, Value)>) throws {
        self.init(minimumCapacity: minimumCapacity)
        try keysAndValues.forEach { key, value in
            // The key is not printed: it may be a secret that belongs to the user.
            guard updateValue(value, forKey: key) == nil else { fatalError("The cursor produced a key twice") }
        }
    }
}
