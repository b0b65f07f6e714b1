extension Dictionary {
    /// Creates a dictionary of arrays: the remaining elements of a cursor, in their order, grouped by a key.
    ///
    ///     let byOwner = try Dictionary(grouping: Item.fetchCursor(db), by: { $0.ownerId })
    ///
    /// - Parameters:
    ///   - cursor: where the elements come from.
    ///   - keyForValue: the key of an element.
    /// - Throws: the error of the cursor, and that of a closure that was given.
    @inlinable
    public init<C: Cursor>(
        grouping cursor: C,
        by keyForValue: (C.Element) throws -> Key
    ) throws where Value == [C.Element] {
        try self.init(minimumCapacity: 0, grouping: cursor, by: keyForValue)
    }

    /// Creates a dictionary of arrays, with room for `minimumCapacity` keys. See `init(grouping:by:)`.
    ///
    /// - Parameters:
    ///   - minimumCapacity: for how many keys there is room from the beginning.
    ///   - cursor: where the elements come from.
    ///   - keyForValue: the key of an element.
    /// - Throws: the error of the cursor, and that of a closure that was given.
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
    /// - Precondition: no key comes twice. Where rows may have the same key, use `init(grouping:by:)` or
    ///   `reduce(into:_:)`.
    @inlinable
    public init(uniqueKeysWithValues keysAndValues: some Cursor<(Key, Value)>) throws {
        try self.init(minimumCapacity: 0, uniqueKeysWithValues: keysAndValues)
    }

    /// Creates a dictionary of keys and values, with room for `minimumCapacity` of them. No key may come
    /// twice.
    ///
    /// - Parameters:
    ///   - minimumCapacity: for how many keys there is room from the beginning.
    ///   - keysAndValues: where the pairs come from.
    /// - Throws: the error of the cursor.
    @inlinable
    public init(minimumCapacity: Int, uniqueKeysWithValues keysAndValues: some Cursor<(Key, Value)>) throws {
        self.init(minimumCapacity: minimumCapacity)
        try keysAndValues.forEach { key, value in
            // The key is not printed: it may be a secret that belongs to the user.
            guard updateValue(value, forKey: key) == nil else {
                fatalError("The cursor produced a key twice")
            }
        }
    }
}
