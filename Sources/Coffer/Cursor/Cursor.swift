/// A supply of elements that are produced one at a time, and may fail to be produced.
///
/// ```swift
/// let heaviest = try queue.read { db in
///     let weights = try Int.fetchCursor(db, Item.select(\.weight))
///     return try weights.max()
/// }
/// ```
///
/// A cursor resembles a lazy sequence: it computes elements on demand and holds few of them in memory. It is
/// not a Swift sequence, because Swift sequences cannot report an error in the middle of an iteration.
///
/// - A cursor is consumed by its iteration: it cannot be iterated twice. Methods such as ``dropFirst()`` or
///   ``map(_:)`` return a cursor that advances this one. Do not use a cursor after you have derived another
///   one from it.
/// - A cursor that reads from a database belongs to the database access that created it: use it on the same
///   queue, and do not let it escape. For this reason, no cursor is `Sendable`.
/// - Do not modify the rows that a cursor reads while you iterate it.
/// - A cursor of ``Row`` returns the same row object each time: copy a row that you keep, and use
///   `Row.fetchAll` and `Row.fetchSet` to build arrays and sets of rows.
public protocol Cursor<Element>: AnyObject {
    /// The type of the elements.
    associatedtype Element

    /// Returns the next element, or nil at the end.
    ///
    /// After it has returned nil once, all later calls return nil.
    ///
    /// It throws the errors of the source, such as database errors. If it throws an error of a closure that
    /// was given to a derived cursor, such as ``map(_:)``, the element that the closure was called with is
    /// lost: a later call continues with the element after it.
    ///
    ///     let items = try Item.fetchCursor(db)
    ///     while let item = try items.next() {
    ///         print(item.name)
    ///     }
    func next() throws -> Element?

    /// Calls `body` with each of the remaining elements.
    ///
    /// It is a protocol requirement so that database cursors can use a faster loop than repeated calls of
    /// ``next()``.
    ///
    ///     try Item.fetchCursor(db).forEach { item in print(item.name) }
    ///
    /// - Throws: the first error of the cursor or of `body`, which ends the iteration.
    func forEach(_ body: (Element) throws -> Void) throws
}

extension Cursor {
    @inlinable
    public func forEach(_ body: (Element) throws -> Void) throws {
        while let element = try next() {
            try body(element)
        }
    }
}
