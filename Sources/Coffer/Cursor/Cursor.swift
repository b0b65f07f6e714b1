/// A supply of elements that are produced one after the other, where producing one may fail.
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
/// - A cursor is consumed by its iteration: it cannot be iterated twice, and methods such as ``dropFirst()``
///   or ``map(_:)`` return a cursor that advances this one. Do not go on with a cursor after you derived
///   another one from it.
/// - A cursor that reads from a database belongs to the database access that created it: use it on the same
///   queue, and do not let it escape. For this reason no cursor is `Sendable`.
/// - Do not modify the rows that a cursor reads while you iterate it.
/// - A cursor of ``Row`` returns the same row object again and again: copy a row that you keep, and prefer
///   `Row.fetchAll` and `Row.fetchSet` to build arrays and sets of rows.
public protocol Cursor<Element>: AnyObject {
    /// What the cursor produces.
    associatedtype Element

    /// The element that follows, or nil at the end.
    ///
    /// Once nil was returned, all later calls return nil.
    ///
    /// An error of the source, such as a database error, is thrown to whoever asks for the element. An error
    /// thrown by a closure that was given to a derived cursor, such as ``map(_:)``, loses the element that
    /// the closure was called with: a later call goes on with the element that follows it.
    ///
    ///     let items = try Item.fetchCursor(db)
    ///     while let item = try items.next() {
    ///         print(item.name)
    ///     }
    func next() throws -> Element?

    /// Calls `body` with each of the remaining elements.
    ///
    /// It is a requirement so that database cursors can iterate in a tighter loop than repeated calls of
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
