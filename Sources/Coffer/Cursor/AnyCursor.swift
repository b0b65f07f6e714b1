/// A type-erased cursor over another cursor, a sequence, or the results of a function.
///
/// ```swift
/// let cursor = AnyCursor([1, 2, 3])
/// let squares = AnyCursor(cursor.map { $0 * $0 })
/// ```
public final class AnyCursor<Element>: Cursor {
    @usableFromInline
    let produce: () throws -> Element?

    /// Creates a cursor that calls a function for each element.
    ///
    /// - Parameter next: returns the next element, or nil at the end. After it has returned nil once, it must
    ///   always return nil.
    @inlinable
    public init(_ next: @escaping () throws -> Element?) {
        produce = next
    }

    /// Creates a cursor that advances `base`.
    ///
    ///     let names = AnyCursor(try Item.fetchCursor(db).map { $0.name })
    @inlinable
    public init<C: Cursor>(_ base: C) where C.Element == Element {
        produce = base.next
    }

    /// Creates a cursor of the elements of an iterator.
    @inlinable
    public convenience init(iterator: some IteratorProtocol<Element>) {
        var iterator = iterator
        self.init { iterator.next() }
    }

    /// Creates a cursor of the elements of a sequence.
    @inlinable
    public convenience init(_ sequence: some Sequence<Element>) {
        self.init(iterator: sequence.makeIterator())
    }

    @inlinable
    public func next() throws -> Element? {
        try produce()
    }
}

@available(*, unavailable)
extension AnyCursor: Sendable {}
