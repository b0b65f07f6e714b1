// Methods that stop at the first match, or read everything and keep one element.

extension Cursor {
    /// A Boolean value that indicates whether the cursor has no more elements.
    ///
    /// Reading it consumes an element if there is one: use it only on a cursor that you do not need
    /// afterwards.
    @inlinable
    public var isEmpty: Bool {
        get throws { try next() == nil }
    }

    /// Returns whether an element satisfies the predicate, and consumes the elements up to it.
    ///
    ///     let isHeavy = try Int.fetchCursor(db, Item.select(\.weight)).contains { $0 > 20_000 }
    ///
    /// - Throws: the error of the cursor or of the closure.
    @inlinable
    public func contains(where predicate: (Element) throws -> Bool) throws -> Bool {
        while let element = try next() {
            if try predicate(element) { return true }
        }
        return false
    }

    /// Returns the first element that satisfies the predicate, or nil, and consumes the elements up to it.
    ///
    ///     let heavy = try Item.fetchCursor(db).first { $0.weight > 20_000 }
    ///
    /// - Throws: the error of the cursor or of the closure.
    @inlinable
    public func first(where predicate: (Element) throws -> Bool) throws -> Element? {
        while let element = try next() {
            if try predicate(element) { return element }
        }
        return nil
    }

    /// Returns the largest element in the given order, or nil if there are no elements. If several elements
    /// are equal, returns the first of them.
    ///
    ///     let dearest = try Item.fetchCursor(db).max { $0.worth < $1.worth }
    ///
    /// - Parameter areInIncreasingOrder: a strict weak ordering that returns true if its first argument comes
    ///   before its second one.
    /// - Throws: the error of the cursor or of the closure.
    @inlinable
    public func max(by areInIncreasingOrder: (Element, Element) throws -> Bool) throws -> Element? {
        guard var result = try next() else { return nil }
        while let element = try next() {
            if try areInIncreasingOrder(result, element) { result = element }
        }
        return result
    }

    /// Returns the smallest element in the given order, or nil if there are no elements. If several elements
    /// are equal, returns the first of them.
    ///
    ///     let lightest = try Item.fetchCursor(db).min { $0.weight < $1.weight }
    ///
    /// - Parameter areInIncreasingOrder: a strict weak ordering that returns true if its first argument comes
    ///   before its second one.
    /// - Throws: the error of the cursor or of the closure.
    @inlinable
    public func min(by areInIncreasingOrder: (Element, Element) throws -> Bool) throws -> Element? {
        guard var result = try next() else { return nil }
        while let element = try next() {
            if try areInIncreasingOrder(element, result) { result = element }
        }
        return result
    }
}

extension Cursor where Element: Equatable {
    /// Returns whether the cursor contains the element, and consumes the elements up to it.
    ///
    /// - Throws: the error of the cursor.
    @inlinable
    public func contains(_ element: Element) throws -> Bool {
        while let candidate = try next() {
            if candidate == element { return true }
        }
        return false
    }
}

extension Cursor where Element: Comparable {
    /// Returns the largest element, or nil if there are no elements. See ``max(by:)``.
    ///
    /// - Throws: the error of the cursor.
    @inlinable
    public func max() throws -> Element? { try max(by: <) }

    /// Returns the smallest element, or nil if there are no elements. See ``min(by:)``.
    ///
    /// - Throws: the error of the cursor.
    @inlinable
    public func min() throws -> Element? { try min(by: <) }
}
