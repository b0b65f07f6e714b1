// Methods that return a cursor of other elements. Nothing is computed until the returned cursor is iterated.

extension Cursor {
    /// Returns a cursor of the transformed elements.
    ///
    ///     let names = try Array(Item.fetchCursor(db).map { $0.name.uppercased() })
    @inlinable
    public func map<T>(_ transform: @escaping (Element) throws -> T) -> MapCursor<Self, T> {
        MapCursor(self, transform)
    }

    /// Returns a cursor of the elements that satisfy the predicate.
    ///
    ///     let cheap = try Array(Item.fetchCursor(db).filter { $0.worth < 10 })
    @inlinable
    public func filter(_ isIncluded: @escaping (Element) throws -> Bool) -> FilterCursor<Self> {
        FilterCursor(self, isIncluded)
    }

    /// Returns a cursor of the transformed elements, without those for which `transform` returns nil.
    ///
    ///     let details = try Array(Item.fetchCursor(db).compactMap { $0.details })
    @inlinable
    public func compactMap<ElementOfResult>(
        _ transform: @escaping (Element) throws -> ElementOfResult?
    ) -> MapCursor<FilterCursor<MapCursor<Self, ElementOfResult?>>, ElementOfResult> {
        // `!` cannot fail: the filter before it removes nil.
        map(transform).filter { $0 != nil }.map { $0! }
    }

    /// Returns a cursor of pairs of a number, starting at 0, and an element.
    ///
    ///     try Item.fetchCursor(db).enumerated().forEach { number, item in
    ///         print(number + 1, item.name)
    ///     }
    @inlinable
    public func enumerated() -> EnumeratedCursor<Self> {
        EnumeratedCursor(self)
    }

    /// Returns a cursor of the elements of all the sequences that `transform` returns.
    ///
    ///     let words = try Array(Item.fetchCursor(db).flatMap { $0.name.split(separator: " ") })
    @inlinable
    public func flatMap<SegmentOfResult: Sequence>(
        _ transform: @escaping (Element) throws -> SegmentOfResult
    ) -> FlattenCursor<MapCursor<Self, AnyCursor<SegmentOfResult.Element>>> {
        FlattenCursor(map { try AnyCursor(transform($0)) })
    }

    /// Returns a cursor of the elements of all the cursors that `transform` returns.
    @inlinable
    public func flatMap<SegmentOfResult: Cursor>(
        _ transform: @escaping (Element) throws -> SegmentOfResult
    ) -> FlattenCursor<MapCursor<Self, SegmentOfResult>> {
        FlattenCursor(map(transform))
    }
}

extension Cursor where Element: Cursor {
    /// Returns a cursor of the elements of all the cursors in this cursor.
    @inlinable
    public func joined() -> FlattenCursor<Self> {
        FlattenCursor(self)
    }
}

extension Cursor where Element: Sequence {
    /// Returns a cursor of the elements of all the sequences in this cursor.
    @inlinable
    public func joined() -> FlattenCursor<MapCursor<Self, AnyCursor<Element.Element>>> {
        FlattenCursor(map { AnyCursor($0) })
    }
}

extension Sequence {
    /// Returns a cursor of the elements of all the cursors that `transform` returns.
    @inlinable
    public func flatMap<SegmentOfResult: Cursor>(
        _ transform: @escaping (Iterator.Element) throws -> SegmentOfResult
    ) -> FlattenCursor<MapCursor<AnyCursor<Iterator.Element>, SegmentOfResult>> {
        AnyCursor(self).flatMap(transform)
    }
}
