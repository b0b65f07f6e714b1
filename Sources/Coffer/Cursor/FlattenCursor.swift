/// A cursor of the elements of all the cursors in another cursor, made by `joined()` and `flatMap(_:)`.
public final class FlattenCursor<Base: Cursor>: Cursor where Base.Element: Cursor {
    @usableFromInline
    let base: Base

    @usableFromInline
    var segment: Base.Element?

    @inlinable
    init(_ base: Base) {
        self.base = base
    }

    @inlinable
    public func next() throws -> Base.Element.Element? {
        while true {
            if let element = try segment?.next() { return element }
            segment = try base.next()
            if segment == nil { return nil }
        }
    }
}

@available(*, unavailable)
extension FlattenCursor: Sendable {}
